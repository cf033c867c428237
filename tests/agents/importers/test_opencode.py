"""opencode's database: whose words are sources, and how reading goes on where it ended."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast import Memories
from holdfast.agents.hooks import spool
from holdfast.agents.hooks.captures import Position, take_in
from holdfast.agents.importers import TRANSCRIPTS, transcript_format
from holdfast.agents.transcripts import Tally, Transcripts, take_from, usual_places
from holdfast.cli import cli
from tests.requirements_ledger import requirement

SESSION = "ses_e1dcd7961ffeGpWOG9T4zvdgma"
SAMPLE = Path(__file__).parent / "samples" / "opencode.sql"
SAID = [("user", "From now on we always deploy the website on Fridays"), ("assistant", "Noted: on Fridays.")]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as made:
        made.executescript(f"PRAGMA journal_mode = WAL;{SAMPLE.read_text()}")
    made.close()
    return path


def more(store: Path, number: int, role: str, text: str) -> None:
    """opencode goes on writing."""
    at = 1794796400000 + number * 1000
    data = json.dumps({"role": role, "time": {"created": at, "completed": at}})
    part = json.dumps({"type": "text", "text": text})
    with sqlite3.connect(store) as db:
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (f"msg_{number}", SESSION, at, at, data))
        db.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
            (f"prt_{number}", f"msg_{number}", SESSION, at, at, part),
        )
    db.close()


@requirement("sem.tap.logs")
def test_what_was_typed_and_answered_is_read_and_nothing_else(store: Path) -> None:
    assert transcript_format(store) == "opencode"

    reading = TRANSCRIPTS["opencode"].read_from(store, 0, None)

    [talk] = reading.conversations
    assert [(each.role, each.text) for each in talk.messages] == SAID
    assert (talk.session, talk.project, talk.name) == (SESSION, "website", "Deploys on Fridays")
    assert reading.skipped == {"subagent": 1, "unfinished": 1}


@requirement("sem.tap.logs")
def test_reading_goes_on_where_it_ended_while_opencode_writes(store: Path) -> None:
    found = Transcripts(store)
    [first] = found.unread()
    found.taken(first, found.read(first))
    assert found.unread() == []

    more(store, 1, "user", "And backups on Sundays")
    [grown] = found.unread()

    texts = [each.text for talk in found.read(grown).conversations for each in talk.messages]
    assert texts[-1] == "And backups on Sundays"


def filled(store: Path, moved_at: int | None) -> list[str]:
    """Many turns: a question, two answers, and the question once more, for its summary; in the order said."""
    said = []
    with sqlite3.connect(store) as db:
        db.execute("CREATE INDEX part_of ON part (message_id)")
        for number in range(600):
            at = 1794796500000 + number * 1000
            role = "assistant" if number % 3 else "user"
            text = f"{role} says {number} " + "word " * 150
            changed = moved_at or (at + 2_500 if role == "user" else at)
            data = json.dumps({"role": role, "time": {"created": at, "completed": at}})
            db.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (f"many_{number}", SESSION, at, changed, data)
            )
            part = json.dumps({"type": "text", "text": text})
            db.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                (f"parts_{number}", f"many_{number}", SESSION, at, changed, part),
            )
            said.append(text.strip())
    db.close()
    return said


@requirement("sem.tap.logs")
@pytest.mark.parametrize("moved_at", [None, 1794799999000], ids=["as-it-was-said", "moved-in-one-second"])
def test_a_database_is_read_in_pieces_and_yields_the_same(
    store: Path, sqlite_url: str, moved_at: int | None
) -> None:
    said = filled(store, moved_at)
    offsets, finished = [0], False

    with Memories.open(sqlite_url, space="default") as memories:
        while not finished:
            offset, finished = take_from(store, offsets[-1], memories, "opencode", Tally(), lambda: True)
            offsets.append(offset)
        kept = [message.content for message in memories.session(SESSION).messages]
        again = take_from(store, offset, memories, "opencode", Tally(), lambda: False)
        more(store, 4_000, "user", "And backups on Sundays")
        take_from(store, offset, memories, "opencode", Tally(), lambda: False)
        last = memories.session(SESSION).messages[-1].content

    assert len(set(offsets)) > 3
    assert kept == [text for _, text in SAID] + said
    assert again == (offset, True)
    assert last == "And backups on Sundays"


@requirement("sem.tap.hooks")
def test_a_place_in_a_database_is_kept_between_two_looks(store: Path) -> None:
    filled(store, None)
    first = TRANSCRIPTS["opencode"].read_from(store, 0, None)
    position = Position("default", str(store))

    position.save(first.next_offset)

    assert position.read() == first.next_offset


@requirement("sem.tap.hooks")
def test_what_a_hook_noted_down_is_kept_once_for_all_turns(store: Path, sqlite_url: str) -> None:
    with Memories.open(sqlite_url) as memories:
        for number in (0, 1, 2):
            if number:
                more(store, number, "user", f"And {number} more")
            noted = {
                "session_id": SESSION, "transcript_path": str(store), "offset": store.stat().st_size,
                "cwd": "/home/user/website", "client": "opencode", "project": "website",
            }  # fmt: skip
            spool.put(spool.entry_of("SessionEnd" if number == 1 else "Stop", noted))
            assert take_in(lambda _: memories) == 1
            # It holds all sessions, so none of their ends makes it unread.
            assert Position(memories.space, str(store)).read() > 0

        said = memories.session(SESSION).messages
        assert [(each.role, each.content) for each in said[:2]] == SAID
        assert [each.content for each in said[2:]] == ["And 1 more", "And 2 more"]
        assert len(memories.sessions()) == 1


def test_the_database_is_found_where_opencode_keeps_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "share")}

    assert usual_places(environment)["opencode"] == [store]
    assert usual_places({**environment, "OPENCODE_DB": str(store)})["opencode"] == [store]
    assert "opencode" not in usual_places({**environment, "OPENCODE_DB": "other.db"})


def test_another_database_or_a_damaged_one_is_no_transcript(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as made:
        made.execute("CREATE TABLE session (id text)")
    made.close()
    assert transcript_format(other) is None
    (tmp_path / "text.db").write_text("not a database")
    assert transcript_format(tmp_path / "text.db") is None

    with store.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 4000)
    with pytest.raises(OSError, match="not a readable opencode database"):
        TRANSCRIPTS["opencode"].read_from(store, 0, None)


def test_its_name_can_be_given_on_the_command_line(store: Path, sqlite_url: str) -> None:
    said = CliRunner().invoke(cli, ["--db", sqlite_url, "import", str(store), "--from", "opencode"])

    assert said.exit_code == 0, said.output
