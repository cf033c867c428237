"""What hooks noted down is taken in: whole, once, and again after whatever went wrong."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memories, Unavailable
from holdfast.agents import capture_off, transcripts
from holdfast.agents.hooks import captures, spool
from holdfast.agents.hooks.captures import take_in
from holdfast.app import paths, wiring
from holdfast.app.machine_checks import hook_findings
from holdfast.domain.memory import Message
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from tests.requirements_ledger import requirement


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    opened = wiring.open_store(database_url)
    yield opened
    opened.close()


@pytest.fixture
def memories(store: Store) -> Memories:
    return Memories.of(store, "default")


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "s-1.jsonl"


def line(kind: str, text: str, number: int, **more: Any) -> str:
    """One line of a transcript of Claude Code."""
    written = {
        "type": kind,
        "uuid": f"m-{number}",
        "sessionId": "s-1",
        "timestamp": f"2026-11-15T12:00:{number:02}.000Z",
        "cwd": "/srv/website",
        "message": {"role": kind, "content": text},
        **more,
    }
    return json.dumps(written) + "\n"


def note(transcript: Path, event: str = "Stop", **more: Any) -> None:
    """What a hook leaves in the spool."""
    body = {
        "session_id": "s-1",
        "transcript_path": str(transcript),
        "offset": transcript.stat().st_size if transcript.exists() else 0,
        "cwd": "/srv/website",
        "client": "claude-code",
        "project": "website",
        **more,
    }
    spool.put(spool.entry_of(event, body))


def said(memories: Memories, session_id: str = "s-1") -> list[Message]:
    with memories.store.read(memories.space) as tx:
        return tx.sessions.messages(session_id)


def texts(memories: Memories) -> list[str | None]:
    return [message.content for message in said(memories)]


@requirement("sem.tap.hooks")
def test_what_was_said_is_kept_and_the_note_is_gone(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "The cat is called Tom", 1) + line("assistant", "Noted.", 2))
    note(transcript)

    assert take_in(lambda _: memories) == 1

    assert [(each.role, each.content) for each in said(memories)] == [
        ("user", "The cat is called Tom"),
        ("assistant", "Noted."),
    ]
    assert spool.waiting() == []
    assert take_in(lambda _: memories) == 0


def test_what_was_meant_for_another_database_waits_for_its_service(
    memories: Memories, transcript: Path
) -> None:
    transcript.write_text(line("user", "The cat is called Tom", 1))
    note(transcript, db="/srv/team.db")

    assert take_in(lambda _: memories, "/srv/holdfast.db") == 0

    assert texts(memories) == []
    assert take_in(lambda _: memories, "/srv/team.db") == 1
    assert texts(memories) == ["The cat is called Tom"]


@requirement("sem.session")
def test_the_session_is_open_until_its_end_is_told(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "Hello", 1))
    note(transcript, "Stop")
    take_in(lambda _: memories)
    with memories.store.read("default") as tx:
        running = tx.sessions.get("s-1")
    note(transcript, "SessionEnd")
    take_in(lambda _: memories)
    with memories.store.read("default") as tx:
        ended = tx.sessions.get("s-1")

    assert running is not None
    assert ended is not None
    assert (running.client, running.directory, running.project) == ("claude-code", "/srv/website", "website")
    assert running.ended_at is None
    assert ended.ended_at is not None


def test_only_what_is_new_is_read(
    memories: Memories, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript.write_text(line("user", "One", 1))
    note(transcript)
    take_in(lambda _: memories)
    began: list[int] = []
    real = transcripts.take_from

    def watched(path: Path, offset: int, *more: Any) -> tuple[int, bool]:
        began.append(offset)
        return real(path, offset, *more)

    monkeypatch.setattr(captures, "take_from", watched)
    size = transcript.stat().st_size
    with transcript.open("a") as file:
        file.write(line("assistant", "Two", 2))
    note(transcript)
    take_in(lambda _: memories)

    assert began == [size]
    assert texts(memories) == ["One", "Two"]


def test_a_line_that_is_still_being_written_is_read_the_next_time(
    memories: Memories, transcript: Path
) -> None:
    whole = line("assistant", "Two", 2)
    transcript.write_text(line("user", "One", 1) + whole[:40])
    note(transcript)
    take_in(lambda _: memories)
    assert texts(memories) == ["One"]

    with transcript.open("a") as file:
        file.write(whole[40:])
    note(transcript)
    take_in(lambda _: memories)

    assert texts(memories) == ["One", "Two"]


def test_read_again_from_the_beginning_nothing_doubles(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "One", 1) + line("assistant", "Two", 2))
    for _ in range(3):
        note(transcript)
        take_in(lambda _: memories)
        shutil.rmtree(paths.positions())

    assert texts(memories) == ["One", "Two"]


@pytest.mark.parametrize("client", ["claude-code", "gemini"])
def test_a_large_transcript_is_taken_in_slices_and_gives_way_to_a_fresh_one(
    memories: Memories, transcript: Path, tmp_path: Path, client: str
) -> None:
    before = [f"Line {number} " + "x" * 2_000 for number in range(300)]
    by_lines = "".join(line("user", text, 0, uuid=f"m-{n}") for n, text in enumerate(before))
    transcript.write_text(gemini_chat(before) if client == "gemini" else by_lines)
    note(transcript, client=client)
    assert take_in(lambda _: memories, time_up=lambda: True) == 1
    first = len(texts(memories))
    fresh = tmp_path / "s-2.jsonl"
    fresh.write_text(line("user", "Fresh", 1, sessionId="s-2", uuid="f-1"))
    note(fresh, session_id="s-2")

    take_in(lambda _: memories, time_up=lambda: True)
    between = said(memories, "s-2")
    slices = sum(1 for _ in iter(lambda: take_in(lambda _: memories, time_up=lambda: True), 0))

    assert [message.content for message in between] == ["Fresh"]
    assert 0 < first < 150
    assert slices > 2
    assert texts(memories) == before
    assert spool.waiting() == []


def gemini_chat(texts: list[str]) -> str:
    heading = {"sessionId": "s-1", "projectHash": "p", "startTime": "2026-11-15T12:00:00.000Z"}
    turns = [{"id": f"g-{n}", "type": "user", "content": text} for n, text in enumerate(texts)]
    return "".join(json.dumps(one) + "\n" for one in (heading, *turns))


def test_another_text_under_a_known_id_is_kept_and_logged(
    memories: Memories, transcript: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for text in ("One", "Uno"):
        transcript.write_text(line("user", text, 1))
        note(transcript)
        take_in(lambda _: memories)

    assert texts(memories) == ["One", "Uno"]
    assert "message m-1 arrived again with another text" in caplog.text


def test_another_file_under_the_same_name_is_read_from_its_beginning(
    memories: Memories, transcript: Path
) -> None:
    transcript.write_text(line("user", "A long first sentence", 1))
    note(transcript)
    take_in(lambda _: memories)

    transcript.unlink()
    transcript.write_text(line("user", "Short", 2) + line("assistant", "A much longer answer than before", 3))
    note(transcript)
    take_in(lambda _: memories)

    assert texts(memories) == ["A long first sentence", "Short", "A much longer answer than before"]


def test_while_the_memory_cannot_be_reached_notes_wait(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "One", 1))
    note(transcript)

    def unreachable(_: str | None) -> Memories:
        raise Unavailable("the disk is full")

    with pytest.raises(Unavailable):
        take_in(unreachable)

    assert len(spool.waiting()) == 1
    assert take_in(lambda _: memories) == 1
    assert texts(memories) == ["One"]


@requirement("trust.quotas")
def test_while_the_space_is_full_notes_wait_and_others_are_read(
    memories: Memories, transcript: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transcript.write_text(line("user", "One", 1))
    note(transcript)
    administration = Administration(memories.store)
    administration.change_space(memories.space, max_messages=0)

    taken = [take_in(lambda _: memories) for _ in range(2)]

    assert (taken, len(spool.waiting()), texts(memories)) == ([0, 0], 1, [])
    assert caplog.text.count("transcripts wait until there is room") == 1
    administration.change_space(memories.space, max_messages=None)
    assert take_in(lambda _: memories) == 1
    assert texts(memories) == ["One"]


def test_a_note_that_comes_during_the_reading_is_not_lost(
    memories: Memories, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript.write_text(line("user", "One", 1))
    note(transcript)
    real = transcripts.take_from

    def meanwhile(path: Path, offset: int, *more: Any) -> tuple[int, bool]:
        read = real(path, offset, *more)
        with transcript.open("a") as file:
            file.write(line("assistant", "Two", 2))
        note(transcript)
        return read

    monkeypatch.setattr(captures, "take_from", meanwhile)
    take_in(lambda _: memories)
    monkeypatch.setattr(captures, "take_from", real)

    assert len(spool.waiting()) == 1
    take_in(lambda _: memories)
    assert texts(memories) == ["One", "Two"]


@requirement("trust.quiet")
def test_what_became_quiet_meanwhile_is_not_read(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "One", 1))
    note(transcript)
    capture_off.switch(off=True, project="website")

    assert take_in(lambda _: memories) == 0

    assert texts(memories) == []
    assert spool.waiting() == []


@requirement("trust.quiet")
def test_a_private_region_is_never_stored(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "My name is Ada <private>and I owe Bob money</private>", 1))
    note(transcript)

    take_in(lambda _: memories)

    assert texts(memories) == ["My name is Ada [private]"]


@requirement("trust.secrets")
def test_what_was_redacted_is_said_in_the_hooks_own_log(memories: Memories, transcript: Path) -> None:
    secret = "ghp_" + "aB3dE5gH" * 5
    transcript.write_text(line("user", f"the token is {secret}", 1) + line("assistant", "Noted", 2))
    Path(paths.home()).mkdir(parents=True, exist_ok=True)

    for _ in range(2):
        note(transcript)
        take_in(lambda _: memories)

    [logged] = Path(paths.hook_log()).read_text(encoding="utf-8").splitlines()
    assert logged.endswith("Stop session s-1: redacted from a message: github-token")
    assert secret not in logged
    assert hook_findings(datetime.now(UTC)) == []


@requirement("trust.loop")
def test_what_hooks_injected_is_not_taken_for_something_said(memories: Memories, transcript: Path) -> None:
    injected = {
        "type": "attachment",
        "uuid": "m-9",
        "sessionId": "s-1",
        "attachment": {
            "type": "hook_additional_context",
            "content": ["- [id:a1b2c3d4] Deploys run on Fridays"],
        },
    }
    reminder = "<system-reminder>- [id:a1b2c3d4] Deploys run on Fridays</system-reminder>"
    transcript.write_text(
        json.dumps(injected)
        + "\n"
        + line("user", reminder, 1)
        + line("user", "<hook_context>Fridays</hook_context>", 2)
    )
    note(transcript)

    take_in(lambda _: memories)

    assert texts(memories) == []
    assert memories.find().total == 0


@pytest.mark.parametrize("wrong", ["client", "transcript", "space", "entry"])
def test_a_note_that_leads_nowhere_is_dropped_and_the_others_are_read(
    memories: Memories, transcript: Path, wrong: str, store: Store
) -> None:
    transcript.write_text(line("user", "One", 1))
    if wrong == "client":
        note(transcript, session_id="s-0", client="emacs")
    elif wrong == "transcript":
        note(Path("/nowhere/at/all.jsonl"), session_id="s-0")
    elif wrong == "space":
        note(transcript, session_id="s-0", space="nowhere")
    else:
        paths.write_private(os.path.join(paths.spool(), "s-0.json"), b'{"session_id"')
    os.utime(spool.waiting()[0], (1_000, 1_000))
    note(transcript)

    def opened(space: str | None) -> Memories:
        return Memories.of(store, space or "default")

    take_in(opened)

    assert spool.waiting() == []
    assert texts(memories) == ["One"]


def test_positions_of_sessions_that_are_over_are_not_kept(memories: Memories, transcript: Path) -> None:
    transcript.write_text(line("user", "One", 1))
    note(transcript)
    take_in(lambda _: memories)
    assert len(os.listdir(paths.positions())) == 1

    note(transcript, "SessionEnd")
    take_in(lambda _: memories)

    assert os.listdir(paths.positions()) == []
