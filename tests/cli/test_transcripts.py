"""import of transcripts: once, twice, and for as long as they grow."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from tests.agents.importers.written import SAMPLES, SESSION, claude_line, codex_heading, codex_message, write
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

PROJECT = "-srv-user-proj"
COMMAND = (sys.executable, "-c", "from holdfast.cli import main; main()")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A home's worth of transcripts: three clients, a subagent, other files."""
    home = tmp_path / "clients"
    claude = home / ".claude" / "projects" / PROJECT
    helper = claude / "bbbbbbbb" / "subagents"
    helper.mkdir(parents=True)
    shutil.copy(SAMPLES / "claude_code_resumed_compacted.jsonl", claude / "aaaaaaaa.jsonl")
    shutil.copy(SAMPLES / "claude_code_with_subagent.jsonl", claude / "bbbbbbbb.jsonl")
    shutil.copy(SAMPLES / "claude_code_subagent.jsonl", helper / "agent-1.jsonl")
    rollouts = home / ".codex" / "sessions" / "2026" / "11" / "15"
    rollouts.mkdir(parents=True)
    shutil.copy(SAMPLES / "codex_rollout.jsonl", rollouts / "rollout-1.jsonl")
    chats = home / ".gemini" / "tmp" / "proj" / "chats"
    chats.mkdir(parents=True)
    shutil.copy(SAMPLES / "gemini_chat.jsonl", chats / "session-1.jsonl")
    (home / "letter.txt").write_text("Dear Ada", encoding="utf-8")
    return home


def said(shell: Shell) -> dict[str, list[str]]:
    """What is kept, by session."""
    found: dict[str, list[str]] = {}
    with Memories.of(open_store(shell.db), "default") as memories, memories.store.read("default") as tx:
        for row in sorted(tx.dump.rows("messages"), key=lambda row: int(row["number"])):
            found.setdefault(row["session_id"], []).append(row["content"])
    return found


@requirement("sem.tap.logs")
def test_a_folder_of_transcripts_becomes_sessions_and_twice_changes_nothing(
    shell: Shell, folder: Path
) -> None:
    first = shell.json("import", str(folder))
    exported = shell.says("export")

    again = shell.json("import", str(folder))

    assert first["files"] == {"claude-code": 2, "codex": 1, "gemini": 1}
    assert (first["sessions"], first["messages"], first["new"]) == (4, 12, 12)
    assert first["skipped"]["attachment"] == 53
    assert (first["broken"], first["refused"]) == (0, [])
    assert (again["messages"], again["new"]) == (12, 0)
    assert shell.says("export") == exported
    assert said(shell)["aaaaaaaa-1111-4222-8333-444444444444"][0].endswith("Alec is my boss by the way")


@requirement("trust.loop")
def test_nothing_that_was_injected_is_kept(sqlite_shell: Shell, folder: Path) -> None:
    sqlite_shell.says("import", str(folder))

    kept = "\n".join(text for texts in said(sqlite_shell).values() for text in texts)

    for injected in (
        "MEMCTX",
        "system-reminder",
        "hook_context",
        "environment_context",
        "Compacted",
        "hello-from-",
    ):
        assert injected in "".join(file.read_text(encoding="utf-8") for file in SAMPLES.glob("*.jsonl"))
        assert injected not in kept


@requirement("sem.session", "scope.project")
def test_a_session_keeps_where_and_when_it_was(sqlite_shell: Shell, folder: Path) -> None:
    sqlite_shell.says("import", str(folder))

    sessions = said(sqlite_shell)
    with (
        Memories.of(open_store(sqlite_shell.db), "default") as memories,
        memories.store.read("default") as tx,
    ):
        found = {each: tx.sessions.get(each) for each in sessions}
    clients = {(session.client, session.project) for session in found.values() if session}
    assert clients == {("claude-code", "proj"), ("codex", "proj"), ("gemini", "proj")}
    talk = found["aaaaaaaa-1111-4222-8333-444444444444"]
    assert talk is not None
    assert (talk.directory, str(talk.started_at)[:19]) == ("/srv/user/proj", "2026-11-15 07:07:52")
    assert str(talk.ended_at)[:19] == "2026-11-15 07:08:00"


def test_people_are_told_what_was_read_and_what_was_not(sqlite_shell: Shell, folder: Path) -> None:
    claude = folder / ".claude"
    with (claude / "projects" / PROJECT / "aaaaaaaa.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")

    told = sqlite_shell.says("import", str(claude)).splitlines()

    assert told[0] == "Read 2 sessions, 8 messages: 8 new (files: 2 claude-code)"
    [skipped] = re.findall(r"^  Skipped (\d+) non-chat entries \(-v for details\)$", told[1])
    assert told[2] == "  Skipped 1 invalid line"
    detailed = sqlite_shell.says("import", str(claude), "-v").splitlines()[1]
    start = f"  Skipped {skipped} non-chat entries: 53 attachment, 15 api-request-blob, "
    assert detailed.startswith(start)


def test_one_file_is_recognised_or_named(sqlite_shell: Shell, folder: Path, tmp_path: Path) -> None:
    odd = tmp_path / "log.txt"
    shutil.copy(SAMPLES / "codex_rollout.jsonl", odd)

    known = sqlite_shell.json("import", str(next(folder.glob(".gemini/**/*.jsonl"))))
    named = sqlite_shell.json("import", str(odd), "--from", "codex")

    assert known["files"] == {"gemini": 1}
    assert named["files"] == {"codex": 1}


def test_a_named_format_leaves_the_others_out(sqlite_shell: Shell, folder: Path) -> None:
    assert sqlite_shell.json("import", str(folder), "--from", "codex")["files"] == {"codex": 1}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-", "--from", "codex"), "not a transcript: give a file or folder of"),
        (("-", "--follow"), "not a transcript: give a file or folder of"),
        (("FOLDER", "--from", "text"), "format text needs a file, not a folder"),
        (("FILE", "--review"), "--review does not apply to transcripts"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(
    sqlite_shell: Shell, folder: Path, arguments: tuple[str, ...], reason: str
) -> None:
    file = str(next(folder.glob(".codex/**/*.jsonl")))
    words = [{"FOLDER": str(folder), "FILE": file}.get(word, word) for word in arguments]

    result = sqlite_shell("import", *words)

    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_folder_without_anything_known_is_refused(sqlite_shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "letter.txt").write_text("Dear Ada", encoding="utf-8")

    result = sqlite_shell("import", str(tmp_path / "x"))

    assert result.exit_code == 1
    assert "has no transcripts or notes in a known format" in result.stderr
    assert sqlite_shell.json("list")["total"] == 0


def test_a_file_that_is_nowhere_is_said_to_be(sqlite_shell: Shell) -> None:
    result = sqlite_shell("import", "/nowhere/at/all.jsonl", "--from", "codex")

    assert result.exit_code == 1
    assert "can't be read" in result.stderr


@requirement("trust.quiet")
def test_what_is_switched_off_is_not_read_in(sqlite_shell: Shell, folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOLDFAST_QUIET", "1")

    told = sqlite_shell.json("import", str(folder))

    assert (told["new"], told["skipped"]["capture is off"]) == (0, 12)
    assert said(sqlite_shell) == {}


@requirement("trust.secrets")
def test_a_secret_that_was_typed_is_not_kept(sqlite_shell: Shell, tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE5gH" * 5
    file = write(tmp_path / "s.jsonl", claude_line("user", f"use {secret} <private>my diary</private> here"))

    sqlite_shell.says("import", str(file))

    [text] = said(sqlite_shell)[SESSION]
    assert secret not in text
    assert "diary" not in text
    assert text.startswith("use ")


def test_sessions_that_can_not_be_kept_are_named_and_the_others_go_on(
    sqlite_shell: Shell, tmp_path: Path
) -> None:
    bad = claude_line("user", "lost", sessionId="sk-ant-api03-" + "Ab3dE5gH" * 8)
    file = write(tmp_path / "s.jsonl", bad, claude_line("user", "kept", 2))

    told = sqlite_shell.json("import", str(file))

    assert (told["sessions"], told["new"], len(told["refused"])) == (1, 1, 1)
    assert said(sqlite_shell) == {SESSION: ["kept"]}


def test_another_text_under_a_known_id_is_kept_and_said(sqlite_shell: Shell, tmp_path: Path) -> None:
    sqlite_shell.says("import", str(write(tmp_path / "s.jsonl", claude_line("user", "before"))))
    file = write(tmp_path / "s.jsonl", claude_line("user", "after"))

    told = sqlite_shell.json("import", str(file))
    again = sqlite_shell.says("import", str(file))

    assert said(sqlite_shell) == {SESSION: ["before", "after"]}
    assert [one["session"] for one in told["changed"]] == [SESSION]
    assert "another text" not in again


# -------------------------------------------------------------------------------------------------- following


class Following:
    """`holdfast import --follow` in a process of its own, whose news are waited for, never slept for."""

    def __init__(self, db: str, place: Path) -> None:
        command = [*COMMAND, "import", str(place), "--follow", "--json", "--db", db]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def news(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        return json.loads(line)

    def end(self, by: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(by)
        _, trouble = self.process.communicate(timeout=60)
        return self.process.returncode, trouble


@pytest.fixture
def following(sqlite_url: str, folder: Path) -> Iterator[Following]:
    started = Following(sqlite_url, folder)
    yield started
    if started.process.poll() is None:
        started.process.kill()
    started.process.communicate()


@requirement("sem.tap.logs")
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_transcripts_are_followed_until_a_signal_ends_it(
    following: Following, folder: Path, sqlite_url: str, clock: Any, by: signal.Signals
) -> None:
    first = following.news()
    rollout = next(folder.glob(".codex/**/*.jsonl"))
    with rollout.open("a", encoding="utf-8") as file:
        file.write(json.dumps(codex_message("user", "And one more thing", id="msg_" + "a" * 30)) + "\n")
    grown = following.news()
    write(folder / ".codex" / "new.jsonl", codex_heading(), codex_message("user", "A new session"))
    new = following.news()

    code, trouble = following.end(by)

    assert (first["new"], grown["new"], new["new"]) == (12, 1, 1)
    assert (code, trouble) == (0, "")
    kept = said(Shell(sqlite_url, clock))
    assert kept[SESSION] == ["A new session"]
    assert kept["01a1de07-1cbc-7941-8973-dda43cdbc0d8"][-1] == "And one more thing"


def test_a_bar_is_shown_on_a_terminal_and_nowhere_else(sqlite_url: str, folder: Path) -> None:
    command = [*COMMAND, "import", str(folder), "--db", sqlite_url]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 10_000):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        told = process.stdout.read() if process.stdout else b""
    os.close(ours)

    piped = subprocess.run(command, capture_output=True)

    assert b"Reading" in seen
    assert told.startswith(b"Read 4 sessions, 12 messages: 12 new")
    assert (piped.stderr, piped.returncode) == (b"", 0)


@pytest.mark.slow
@requirement("sem.tap.logs")
def test_an_import_that_is_killed_again_and_again_loses_and_doubles_nothing(
    sqlite_url: str, tmp_path: Path
) -> None:
    place = tmp_path / "many"
    for number in range(20):
        session = f"session-{number}"
        talk = (
            claude_line("user", f"{number} {each}", each, sessionId=session, uuid=f"{session}-{each}")
            for each in range(20)
        )
        write(place / f"{number}.jsonl", *talk)
    command = [*COMMAND, "import", str(place), "--db", sqlite_url]
    kills = 0
    for enough in (1, 100, 250):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and len(kept_in(sqlite_url)) < enough:
                pass
            kills += process.poll() is None
            process.kill()

    last = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)

    rows = kept_in(sqlite_url)
    assert kills >= 2
    assert json.loads(last.stdout)["new"] > 0
    assert len(rows) == len({row["id"] for row in rows}) == 400
    for number in range(20):
        told = sorted(
            (row["number"], row["content"]) for row in rows if row["session_id"] == f"session-{number}"
        )
        assert told == [(each + 1, f"{number} {each}") for each in range(20)]


def kept_in(url: str) -> list[dict[str, Any]]:
    """The messages that another process sees."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT id, session_id, number, content FROM messages")]
