"""/files as plain HTML, on both databases: the directory, its state, its files, and agreeing again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board, posted


@pytest.fixture
def filed(board: Board) -> Board:
    board.make("desk", "files")
    board.memories("desk").write_file(
        "tea.md", "Green tea, never coffee.", name="Tea", description="What to serve", type="user"
    )
    return board


def shown(board: Board, path: str = "/files?space=desk") -> Page:
    answer = board.browser().get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


@requirement("files.same-memory", "files.index")
def test_the_files_their_index_and_how_to_bind_a_directory_are_shown(filed: Board) -> None:
    page = shown(filed)

    [row] = [one.whole_text for one in page.all("li", class_="feed-row")]
    assert "tea.md" in row
    assert "Tea · What to serve" in row
    [index] = page.all("pre")
    assert index.text == filed.memories("desk").file_index()
    assert "holdfast files init ~/memory --space desk" in [one.whole_text for one in page.all("code")]
    assert shown(filed, "/files?space=desk&q=coffee").all("li", class_="feed-row") == []


@requirement("files.same-memory")
def test_one_file_is_shown_as_it_stands_with_a_way_to_its_memory(filed: Board) -> None:
    page = shown(filed, "/files/file?space=desk&path=tea.md")
    file = filed.memories("desk").file("tea.md")

    assert page.all("pre")[0].text == file.text
    assert file.memory is not None
    assert page.all("a", href=f"/memories/{file.memory.id}?space=desk")
    assert filed.browser().get("/files/file?space=desk&path=none.md").status_code == 404
    assert filed.browser().get("/files/file?space=desk&path=../etc/passwd").status_code == 422


@requirement("files.by-hand")
def test_a_bound_directory_is_told_with_its_state_and_synced_by_a_button(
    filed: Board, tmp_path: Path
) -> None:
    filed.memories("desk").bind_directory(str(tmp_path / "memory"))
    browser = filed.browser()
    assert "in sync" in browser.get("/files?space=desk").text

    answer = posted(browser, "/files/sync?space=desk", {}, script=False)
    page = Page(browser.get(answer.headers["location"]).text)

    assert answer.status_code == 303
    assert str(tmp_path / "memory") in [one.text for one in page.all("dd")]
    assert "Already in sync." in page.by_id("said").whole_text


@requirement("files.by-hand")
def test_an_emptied_directory_asks_and_does_as_it_is_told(filed: Board, tmp_path: Path) -> None:
    filed.memories("desk").bind_directory(str(tmp_path / "memory"))
    for file in (tmp_path / "memory").iterdir():
        file.unlink()
    browser = filed.browser()

    page = Page(browser.get("/files?space=desk").text)
    assert page.all("button", class_="primary")[0].text == "Write the files again"
    assert "1 file will be deleted" in browser.get("/files/accept?space=desk").text
    posted(browser, "/files/sync?space=desk", {"meant": "write"}, script=False)

    assert (tmp_path / "memory" / "tea.md").exists()
    assert "in sync" in browser.get("/files?space=desk").text
    assert posted(browser, "/files/sync?space=desk", {"meant": "what"}, script=False).status_code == 422


def test_who_may_only_read_gets_no_button_and_no_sync(filed: Board, tmp_path: Path) -> None:
    filed.memories("desk").bind_directory(str(tmp_path / "memory"))
    reader = filed.browser(filed.token("read", spaces=("desk",)))

    assert "Sync now" not in reader.get("/files?space=desk").text
    assert posted(reader, "/files/sync?space=desk", {}, script=False).status_code == 403


def test_a_space_that_holds_too_many_memories_is_told_so(
    filed: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.web.dashboard.files.MOST_FILES", 0)

    page = shown(filed)

    assert "Too many memories for a folder" in [one.text for one in page.all("h2")]
    assert page.all("li", class_="feed-row") == []
    assert page.all("pre") == []
