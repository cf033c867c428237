"""/import: a file from a browser, in every kind of format; and spaces created from a browser."""

from __future__ import annotations

import json
from itertools import count

import pytest
from starlette.testclient import TestClient

from holdfast.domain.outcomes import settled
from holdfast.web.service.guard import MAX_LARGE
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import SAME_ORIGIN, Board, form_key_of, posted

CSV = "content,category,subject\nTakes 60s to start,timing,jellyfin\n,timing,nothing\n"
WHEN = "2026-02-01T10:00:00Z"
CHAT = json.dumps(
    [
        {
            "uuid": "c1", "name": "Tea", "created_at": WHEN, "updated_at": WHEN,
            "chat_messages": [
                {"uuid": "m1", "sender": "human", "text": "I prefer green tea", "created_at": WHEN}
            ],
        }
    ]
)  # fmt: skip


def imported(client: TestClient, name: str, content: str, space: str = "ops", **fields: str) -> Page:
    """The page once the import is done."""
    answer = client.post(
        f"/import?space={space}",
        data={"key": form_key_of(client), **fields},
        files={"file": (name, content.encode())},
        headers=SAME_ORIGIN,
    )
    assert answer.status_code == 303, answer.text
    for _ in count():
        page = Page(client.get(answer.headers["location"]).text)
        if not page.all("progress"):
            return page
    raise AssertionError


def test_a_table_becomes_memories_with_its_wrong_lines_named(board: Board) -> None:
    client = board.browser()

    page = imported(client, "notes.csv", CSV)
    again = imported(client, "notes.csv", CSV)

    told = page.by_id("progress").whole_text
    assert "Imported from csv." in told
    assert "Added 1" in told
    assert "1 entry was not imported: Line 3:" in told
    assert "Already known 1" in again.by_id("progress").whole_text
    [memory] = board.memories().find().memories
    assert (memory.content, memory.source.origin) == ("Takes 60s to start", "import")
    assert board.memories().session_titles(memory.source.session or "") == {
        memory.source.session: "Import of notes.csv"
    }


def test_with_a_review_what_is_new_waits(board: Board) -> None:
    imported(board.browser(), "notes.txt", "The printer is on the second floor\n", "default", review="1")

    assert [one.memory.content for one in board.memories("default").inbox()] == [
        "The printer is on the second floor"
    ]


def test_an_archive_and_conversations_are_recognised(board: Board) -> None:
    board.memories("helper").remember("Likes oat milk", category="preference")
    archive = "".join(board.memories("helper").export())
    board.make("copy", "assistant")
    client = board.browser()

    restored = imported(client, "helper.jsonl", archive, "copy").by_id("progress").whole_text
    chats = imported(client, "conversations.json", CHAT, "default").by_id("progress").whole_text

    assert "Imported from holdfast." in restored
    assert [memory.content for memory in board.memories("copy").find().memories] == ["Likes oat milk"]
    assert "Sessions 1" in chats
    assert "New messages 1" in chats


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.csv", " \n", "is empty: nothing was imported"),
        ("picture.png", "\udcff\udcfe", "is in no known format, and not UTF-8 text"),
        ("../../etc/passwd", "", "'passwd' is empty"),
    ],
)
def test_what_can_not_be_imported_is_said(board: Board, name: str, content: str, says: str) -> None:
    client = board.browser()
    answer = client.post(
        "/import?space=ops",
        data={"key": form_key_of(client)},
        files={"file": (name, content.encode("utf-8", "surrogateescape"))},
        headers=SAME_ORIGIN,
    )
    page = Page(client.get(answer.headers["location"]).text)
    while page.all("progress"):
        page = Page(client.get(answer.headers["location"]).text)

    assert says in page.by_id("progress").whole_text
    assert board.memories().find().total == 0


def test_a_file_that_is_too_large_or_missing_is_refused(board: Board) -> None:
    client = board.browser()

    missing = posted(client, "/import?space=ops", {}, script=False)
    large = client.post("/import", headers={**SAME_ORIGIN, "content-length": str(MAX_LARGE + 1)})

    assert missing.status_code == 422
    assert "No file chosen" in missing.text
    assert large.status_code == 413


@requirement("trust.spaces")
def test_only_an_administrator_imports_and_creates_spaces(board: Board) -> None:
    writer = board.browser(board.token("read", "write"))
    limited = board.browser(board.token("read", "write", "admin", spaces=("ops",)))

    assert writer.get("/import?space=ops").status_code == 403
    assert limited.get("/import?space=ops").status_code == 200
    assert limited.get("/spaces/new?space=ops").status_code == 403
    assert posted(limited, "/spaces/new?space=ops", {"name": "new", "profile": "ops"}).status_code == 403


def test_a_space_is_created_and_shown(board: Board) -> None:
    client = board.browser()

    wrong = posted(client, "/spaces/new", {"name": "My space", "profile": "ops"}, script=False)
    taken = posted(client, "/spaces/new", {"name": "ops", "profile": "ops"}, script=False)
    made = posted(client, "/spaces/new", {"name": "home", "profile": "assistant"}, script=False)

    assert wrong.status_code == taken.status_code == 422
    assert "use a-z, 0-9, _ and -" in wrong.text
    assert "already" in taken.text
    assert made.headers["location"] == "/?space=home"
    assert "Created the space home." in client.get("/?space=home").text
    assert board.memories("home").profile.name == "assistant"
    assert settled(board.memories("home").remember("Likes tea", category="preference")) is not None


@requirement("dash.project")
def test_an_import_is_of_the_project_that_is_given_but_for_what_names_its_own(board: Board) -> None:
    table = "content,category,project\nTakes 60s to start,timing,\nNeeds the NFS mount,dependency,web\n"

    imported(board.browser(), "notes.csv", table, project="media")

    found = {memory.content: memory.project for memory in board.memories().find().memories}
    assert found == {"Takes 60s to start": "media", "Needs the NFS mount": "web"}


@requirement("sem.import.heading")
def test_a_heading_is_no_memory_but_what_the_lines_below_are_about(board: Board) -> None:
    board.make("bare", "default")
    notes = "# Boat notes\n\n- The boat lies in Kiel\n- The mast was painted in May\n"

    page = imported(board.browser(), "notes.md", notes, space="bare")

    found = {memory.content: memory.subject for memory in board.memories("bare").find().memories}
    assert "Added 2" in page.by_id("progress").whole_text
    assert found == dict.fromkeys(("The boat lies in Kiel", "The mast was painted in May"), "Boat notes")
