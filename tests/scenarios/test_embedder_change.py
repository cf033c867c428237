"""Another embedder for a space that has vectors: searched all the while, killed and resumed, never mixed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from holdfast import Memories
from holdfast.domain.memory import Draft
from holdfast.engine import calibrate
from holdfast.engine.models_in_use import EmbeddingProgress
from holdfast.engine.ports import Store
from holdfast.models import remote
from holdfast.models.remote import RemoteEmbedder
from holdfast.models.specs import parse
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.loopback import Answer
from tests.models.stand_in import Asked, StandIn, changed, well
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, fill

FEW, HALF = 12, 7
MANY = 70  # more than a batch
ROOM = 65  # texts that the new server embeds before it hangs
QUESTION = "what is the colour of room 57"
ANSWER = "The colour of room 57 is green"


@pytest.fixture
def old() -> Iterator[StandIn]:
    with StandIn().running() as server:
        yield server


@pytest.fixture
def new() -> Iterator[StandIn]:
    """Its vectors have another size, so that comparing them with the old ones could not go unnoticed."""
    with StandIn(changed(lambda row: row[:48])).running() as server:
        yield server


def name_of(server: StandIn) -> str:
    return f"openai:some-model@{server.url}"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, a server that answers is waited for."""
    monkeypatch.setattr(remote, "QUERY_WITHIN", 60.0)
    monkeypatch.setattr(calibrate, "_BATCH", 1_000)  # one request for its questions, one for their answers


def opened(store: Store, clock: FixedClock, server: StandIn) -> Memories:
    return Memories.of(store, "default", clock=clock, embedder=RemoteEmbedder(parse(name_of(server))))


def filled(memories: Memories, size: int) -> Memories:
    """So many memories, all with vectors."""
    rooms = range(50, 50 + size)
    fill(
        memories,
        [Draft(content=f"The colour of room {room} is green", subject=f"room {room}") for room in rooms],
    )
    assert memories.tend().embedded == size
    return memories


@pytest.fixture
def full(store: Store, clock: FixedClock, old: StandIn) -> Memories:
    """A space of some memories, all with vectors of the old embedder."""
    return filled(opened(store, clock, old), FEW)


def texts_of(server: StandIn) -> list[str]:
    return [text for asked in server.asked for text in asked.texts]


def tend_and_die(database_url: str, server: StandIn) -> None:
    """`holdfast tend` with the server's embedder, killed without notice once the server hangs."""
    reached = threading.Event()
    play = server.play

    def hang(asked: Asked) -> Answer:
        embedded = sum(text.startswith("room ") for text in texts_of(server))
        if embedded <= ROOM:
            return play(asked)
        reached.set()
        return Answer(None)

    server.play = hang
    environment = {**os.environ, "HOLDFAST_EMBEDDER": name_of(server), "HOLDFAST_DB": database_url}
    process = subprocess.Popen([sys.executable, "-m", "holdfast", "tend"], env=environment)
    try:
        assert reached.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        server.play = play


def half_way(memories: Memories) -> None:
    """A change that has come as far as one that was killed."""
    assert 0 < memories.embed(HALF) < FEW


@requirement("sem.embedder.change")
def test_while_a_change_waits_the_old_vectors_are_searched(
    full: Memories, store: Store, clock: FixedClock, old: StandIn, new: StandIn
) -> None:
    memories = opened(store, clock, new)
    half_way(memories)
    asked_before = len(old.asked)

    found = memories.recall(QUESTION)

    assert (found.matched, found.memories[0].matched) == ("meaning", "meaning")
    assert found.memories[0].memory.content == ANSWER
    assert any("colour" in text for text in texts_of(old)[asked_before:])  # the question went to the old one


@requirement("sem.embedder.change")
def test_a_killed_change_goes_on_where_it_was_and_then_the_new_vectors_are_searched(
    database_url: str, store: Store, clock: FixedClock, old: StandIn, new: StandIn
) -> None:
    filled(opened(store, clock, old), MANY)
    tend_and_die(database_url, new)
    with store.read("default") as tx:
        [_, half] = tx.models.all()
    done_before = len(new.asked)
    seen: list[EmbeddingProgress] = []

    done = opened(store, clock, new).tend(seen.append)

    assert 0 < half.memories_to < half.last_change
    assert 0 < done.embedded < MANY
    again = [text for asked in new.asked[done_before:] for text in asked.texts if text.startswith("room ")]
    assert len(again) == done.embedded
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert seen[-1].complete
    with store.read("default") as tx:
        assert [(model.name, model.ready) for model in tx.models.all()] == [(name_of(new), True)]
    asked_before = len(old.asked)
    found = opened(store, clock, new).recall(QUESTION)
    assert (found.matched, found.memories[0].memory.content) == ("meaning", ANSWER)
    assert len(old.asked) == asked_before


@requirement("sem.embedder.change")
def test_what_is_written_during_a_change_is_found_then_and_afterwards(
    full: Memories, store: Store, clock: FixedClock, new: StandIn
) -> None:
    memories = opened(store, clock, new)
    half_way(memories)

    parrot = add(memories, "The parrot of the reception is called Rio", subject="parrot")
    meanwhile = memories.recall("the parrot called Rio")
    memories.tend()
    afterwards = memories.recall("the parrot called Rio")

    for found in (meanwhile, afterwards):
        assert (found.memories[0].memory.id, found.memories[0].matched) == (parrot.id, "meaning")


@requirement("sem.embedder.change")
def test_doctor_and_tend_say_how_far_it_is(
    database_url: str,
    full: Memories,
    store: Store,
    clock: FixedClock,
    old: StandIn,
    new: StandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    half_way(opened(store, clock, new))
    monkeypatch.setenv("HOLDFAST_EMBEDDER", name_of(new))
    shell = Shell(database_url, clock)

    before = shell("doctor").stdout
    [vectors] = json.loads(shell("doctor", "--json").stdout)["vectors"]
    told = shell.says("tend")
    after = shell("doctor").stdout

    assert f"note: re-embedding: {vectors['done']:,} of {vectors['total']:,} in space 'default'" in before
    assert f"until then, {name_of(old)} is used for search" in before
    assert 0 < vectors["done"] < vectors["total"]
    assert "Embedded " in told
    assert "re-embedding" not in after


@requirement("sem.embedder.change")
def test_without_the_old_server_words_are_searched_until_the_change_is_done(
    store: Store, clock: FixedClock, old: StandIn, new: StandIn
) -> None:
    filled(opened(store, clock, old), MANY)
    old.play = lambda _: Answer(b"gone", 404)
    memories = opened(store, clock, new)

    meanwhile = memories.recall(QUESTION)
    memories.tend()
    afterwards = memories.recall(QUESTION)

    assert (meanwhile.matched, afterwards.matched) == ("text", "meaning")
    assert meanwhile.memories[0].memory.content == afterwards.memories[0].memory.content == ANSWER
    old.play = well


@requirement("sem.embedder.change")
def test_going_back_before_it_was_done_costs_nothing(
    full: Memories, store: Store, clock: FixedClock, old: StandIn, new: StandIn
) -> None:
    half_way(opened(store, clock, new))
    asked_before = len(old.asked)

    again = opened(store, clock, old)
    done = again.tend()
    found = again.recall(QUESTION)

    assert done.embedded == 0
    assert found.memories[0].memory.content == ANSWER
    assert len(old.asked) == asked_before + 1


def test_on_a_terminal_the_progress_is_shown_and_in_a_pipe_it_is_not(
    sqlite_url: str, clock: FixedClock, new: StandIn
) -> None:
    Shell(sqlite_url, clock).remembers(ANSWER)
    environment = {
        **os.environ,
        "HOLDFAST_EMBEDDER": name_of(new),
        "HOLDFAST_DB": sqlite_url,
        "TERM": "xterm",
    }
    command = [sys.executable, "-m", "holdfast", "tend"]
    terminal, inside = os.openpty()

    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=inside)
    os.close(inside)
    shown = b""
    with suppress(OSError):  # the end of a terminal that nobody writes to any more
        while piece := os.read(terminal, 65_536):
            shown += piece
    told, _ = process.communicate(timeout=60)
    os.close(terminal)
    piped = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)

    assert told == b"Embedded 1 text\n"
    assert b"Embedding" in shown
    assert b"100%" in shown
    assert piped.stderr == b""
