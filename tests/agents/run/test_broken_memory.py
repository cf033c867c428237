"""Whatever is wrong with the memory, the agent runs, and one line says that it does so without."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents import run
from holdfast.agents.hooks import spool
from holdfast.agents.hooks.captures import end_later, take_in
from holdfast.app.paths import public_place
from holdfast.domain.memory import Session
from holdfast.errors import Unavailable
from holdfast.testing import FixedClock
from tests.agents.run.listening import Listener
from tests.agents.run.script import Script
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

ANSWER = "All is up.\n[MEMORY:timing:jellyfin] Takes 60s to start"


@pytest.fixture
def agent(tmp_path: Path) -> Script:
    return Script(tmp_path / "agent")


@pytest.fixture
def shell(sqlite_url: str, clock: FixedClock) -> Shell:
    return Shell(sqlite_url, clock).in_space("ops", "ops")


def file_of(shell: Shell) -> Path:
    return Path(shell.db.removeprefix("sqlite:///"))


def corrupt(shell: Shell) -> None:
    file = file_of(shell)
    file.with_name(f"{file.name}-wal").unlink(missing_ok=True)
    file.write_bytes(os.urandom(40_000))


def newer(shell: Shell) -> None:
    with closing(sqlite3.connect(file_of(shell))) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")


def foreign(shell: Shell) -> None:
    other = file_of(shell).with_name("other.db")
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    shell.db = str(other)


def folder(shell: Shell) -> None:
    shell.db = str(file_of(shell).parent)


def nowhere(shell: Shell) -> None:
    shell.db = "/dev/null/holdfast.db"


def without_space(shell: Shell) -> None:
    shell.space = "typo"


def no_server(shell: Shell) -> None:
    shell.db = "postgresql://nobody@127.0.0.1:1/nothing"


def no_url(shell: Shell) -> None:
    shell.db = "mysql://x/y"


def wrong_setting(shell: Shell) -> None:
    os.environ["HOLDFAST_MEMORY_BUDGET"] = "much"


@requirement("ops.run.resilient")
@pytest.mark.parametrize(
    "broken", [corrupt, newer, foreign, folder, nowhere, without_space, no_server, no_url, wrong_setting]
)
def test_the_agent_runs_without_memory_and_one_line_says_so(
    shell: Shell,
    agent: Script,
    broken: Callable[[Shell], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_MEMORY_BUDGET", "")  # so that it is put back
    broken(shell)

    result = shell("run", "--tier", "2", "--", agent.says(ANSWER, code=3), "-p", "Check")

    assert (result.exit_code, result.stdout) == (3, f"{ANSWER}\n")
    assert result.stderr.startswith("holdfast: the agent runs without memory: ")
    assert result.stderr.count("\n") == 1
    told = agent.was_told()
    assert told.startswith("# Your task: investigate")
    assert "Memory Recording" not in told


@requirement("ops.run.resilient")
def test_a_database_that_somebody_else_holds_does_not_hold_the_agent(
    shell: Shell, agent: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "TO_BEGIN", 0.2)
    monkeypatch.setattr(run, "TO_FINISH", 0.2)

    with locked(file_of(shell)):
        result = shell("run", "--tier", "2", "--", agent.says(ANSWER, code=3), "-p", "Check")

    assert (result.exit_code, result.stdout) == (3, f"{ANSWER}\n")
    assert result.stderr == "holdfast: the agent runs without memory: no answer within 0.2 s\n"


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Nobody can write to the database during the block; whoever waits for it gets through afterwards."""
    with database.with_name(f"{database.name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    for thread in threading.enumerate():
        if thread.name == "holdfast-memory":
            thread.join(60)


@requirement("ops.run.resilient")
def test_a_memory_that_breaks_on_the_way_is_told_once_and_tried_again(
    agent_in_ops: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    ops = agent_in_ops.memories
    remember, calls = Memories.remember, iter(range(100))

    def sometimes(self: Memories, content: str, **fields: object) -> object:
        if next(calls) < 2:
            raise Unavailable("the disk is full: free some space")
        return remember(self, content, **fields)  # type: ignore[arg-type]

    monkeypatch.setattr(Memories, "remember", sometimes)

    agent_in_ops.says(*(f"[MEMORY:timing:s{number}] Takes 60s" for number in range(4)))

    assert agent_in_ops.lines == ["not everything was stored: the disk is full: free some space"]
    assert {memory.subject for memory in ops.find().memories} == {"s2", "s3"}


@requirement("ops.run.resilient")
@pytest.mark.parametrize("by", ["the next session", "the service"])
def test_a_session_whose_end_a_busy_store_did_not_take_is_ended_later(
    agent_in_ops: Listener, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    ops = agent_in_ops.memories

    def busy(*_: object, **__: object) -> None:
        raise Unavailable("the database is locked by another process")

    with monkeypatch.context() as locked:
        locked.setattr(Memories, "close_session", busy)
        agent_in_ops.says("All is well.", session="run-1")
    before = session(ops, "run-1")
    if by == "the next session":
        agent_in_ops.says("All is well.", session="run-2")
    else:
        take_in(lambda _: ops, public_place(ops.store.where()))
    after = session(ops, "run-1")

    assert before.ended_at is None
    assert after.ended_at is not None
    assert after.exit_code == 0
    assert spool.waiting() == []


def session(memories: Memories, session_id: str) -> Session:
    with memories.store.read(memories.space) as tx:
        found = tx.sessions.get(session_id)
    assert found is not None
    return found


def test_the_end_of_a_session_in_another_database_waits_for_its_own(
    agent_in_ops: Listener, new_sqlite_database: Callable[[], str]
) -> None:
    end_later(agent_in_ops.memories, "run-1", 0, None)

    with Memories.open(new_sqlite_database()) as elsewhere:
        take_in(lambda _: elsewhere)

    assert len(spool.waiting()) == 1


@requirement("ops.run.resilient")
def test_what_nobody_foresaw_does_not_stop_a_run_either(
    agent_in_ops: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(Memories, "remember", broken)

    agent_in_ops.says("[MEMORY:timing:a] Takes 60s", "[MEMORY:timing:b] Takes 60s", session="run-1")

    assert agent_in_ops.lines == ["not everything was stored: ZeroDivisionError: a mistake of ours"]


@pytest.fixture
def agent_in_ops(shell: Shell, clock: FixedClock) -> Iterator[Listener]:
    memories = Memories.open(shell.db, "ops", clock=clock)
    yield Listener(memories)
    memories.close()
