"""An embedder behind a failing server: texts are kept, words find them, vectors follow, doctor says why.

The servers are real ones on this machine; each fails in one way.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator

import pytest

from holdfast import Memories
from holdfast.engine import calibrate
from holdfast.engine.ports import Store
from holdfast.errors import Unavailable
from holdfast.models import http_json, remote
from holdfast.models.remote import RemoteEmbedder
from holdfast.models.specs import parse
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.models.stand_in import FAULTS, Play, StandIn, changed, well
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

NETWORK = "The router's DNS settings were wrong; pinning 1.1.1.1 mended the network"


# Seconds: for a server that answers, however busy the machine is, and for one that never does.
PATIENT, HASTY = 60.0, 0.3
Opened = Callable[[float], Memories]


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> Play:
    return FAULTS[request.param][0]


@pytest.fixture
def patience(fault: Play) -> float:
    return HASTY if fault is FAULTS["never answers"][0] else PATIENT


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr(http_json, "_BACKOFF", 0.0)
    monkeypatch.setattr(calibrate, "_BATCH", 1_000)  # one request for its questions, one for their answers
    with StandIn().running() as server:
        yield server


@pytest.fixture
def open_memories(store: Store, clock: FixedClock, stand_in: StandIn) -> Opened:
    """Opens the space with an embedder that waits for so many seconds."""

    def opened(within: float) -> Memories:
        spec = parse(f"ollama:nomic-embed-text@{stand_in.url}")
        embedder = RemoteEmbedder(spec, query_within=within, documents_within=within, rest=0.0)
        return Memories.of(store, "default", clock=clock, embedder=embedder)

    return opened


@requirement("sem.embedder.down")
@pytest.mark.on_postgres("never answers", "zeros")
def test_with_a_failing_server_texts_are_kept_words_find_and_vectors_follow(
    open_memories: Opened, stand_in: StandIn, fault: Play, patience: float
) -> None:
    memories = open_memories(patience)
    stand_in.play = fault

    memory = add(memories, NETWORK)
    meanwhile = memories.recall("the network and its router")
    stand_in.play = well
    later = open_memories(PATIENT).recall("the network and its router")

    assert (meanwhile.matched, meanwhile.memories[0].matched) == ("text", "text")
    assert meanwhile.memories[0].memory.id == memory.id
    assert (later.matched, later.memories[0].matched) == ("meaning", "meaning")
    assert later.memories[0].memory.id == memory.id


@requirement("sem.embedder.down")
@pytest.mark.on_postgres("never answers", "zeros")
def test_a_server_that_fails_after_it_worked_leaves_the_vectors_it_gave(
    open_memories: Opened, stand_in: StandIn, fault: Play, patience: float
) -> None:
    first = add(open_memories(PATIENT), NETWORK)
    open_memories(PATIENT).recall("the network")
    memories = open_memories(patience)
    stand_in.play = fault

    second = add(memories, "The printer prints labels in the cellar")
    meanwhile = memories.recall("printer labels")
    stand_in.play = well
    later = open_memories(PATIENT)
    found = [later.recall(question).memories[0] for question in ("router DNS settings", "printer labels")]

    assert (meanwhile.matched, meanwhile.memories[0].memory.id) == ("text", second.id)
    assert [(hit.memory.id, hit.matched) for hit in found] == [(first.id, "meaning"), (second.id, "meaning")]


@requirement("sem.embedder.down")
def test_vectors_of_another_size_are_not_mixed_with_those_before(
    store: Store, open_memories: Opened, stand_in: StandIn
) -> None:
    """The server was given another model under the old name while nothing of ours was running."""
    first = add(open_memories(PATIENT), NETWORK)
    open_memories(PATIENT).recall("the network")
    stand_in.play = changed(lambda row: row[:32])
    memories = open_memories(PATIENT)

    add(memories, "The printer prints labels in the cellar")
    meanwhile = memories.recall("router DNS settings")
    stand_in.play = well
    later = open_memories(PATIENT).recall("router DNS settings")

    assert (meanwhile.matched, meanwhile.memories[0].memory.id) == ("text", first.id)
    assert (later.matched, later.memories[0].memory.id) == ("meaning", first.id)


@requirement("sem.embedder.down")
def test_a_server_that_is_not_there_is_no_obstacle(
    store: Store, clock: FixedClock, stand_in: StandIn
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    embedder = RemoteEmbedder(parse(f"openai:any@http://127.0.0.1:{port}/v1"), rest=0.0)
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)

    memory = add(memories, NETWORK)
    found = memories.recall("router DNS settings")

    assert (found.matched, found.memories[0].memory.id) == ("text", memory.id)
    assert "connection refused" in str(memories.tend().trouble)


@requirement("sem.embedder.down")
@pytest.mark.parametrize("fault", FAULTS, indirect=False)
def test_doctor_names_the_fault(
    sqlite_url: str,
    clock: FixedClock,
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    monkeypatch.setattr(remote, "DOCUMENTS_WITHIN", HASTY if fault == "never answers" else PATIENT)
    monkeypatch.setattr(remote, "QUERY_WITHIN", HASTY if fault == "never answers" else PATIENT)
    monkeypatch.setenv("HOLDFAST_EMBEDDER", f"ollama:nomic-embed-text@{stand_in.url}")
    os.chmod(sqlite_url.removeprefix("sqlite:///"), 0o600)
    stand_in.play, said = FAULTS[fault]

    result = Shell(sqlite_url, clock)("doctor")

    assert result.exit_code == 1
    assert f"ollama:nomic-embed-text@{stand_in.url}" in result.stdout
    problems = [line for line in result.stdout.splitlines() if line.startswith("problem: ")]
    assert len(problems) == 1
    assert problems[0].startswith("problem: the embedder does not work: ")
    assert said in problems[0]


def test_doctor_is_content_with_a_server_that_works(
    sqlite_url: str, clock: FixedClock, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "QUERY_WITHIN", PATIENT)
    monkeypatch.setenv("HOLDFAST_EMBEDDER", f"openai:some-model@{stand_in.url}/v1")
    monkeypatch.setenv("HOLDFAST_EMBEDDER_KEY", "sk-secret")
    os.chmod(sqlite_url.removeprefix("sqlite:///"), 0o600)
    shell = Shell(sqlite_url, clock)
    shell.remembers(NETWORK)

    said = shell.says("doctor")
    shell.says("tend")
    after = shell.json("doctor")

    assert said.endswith("No problems found\n")
    assert "note: embedding: 0 of 1 in space 'default'" in said
    assert "sk-secret" not in said
    assert [asked.headers["Authorization"] for asked in stand_in.asked][:1] == ["Bearer sk-secret"]
    assert after["embedder"] == f"openai:some-model@{stand_in.url}/v1"
    assert [one["complete"] for one in after["vectors"]] == [True]


def test_a_faulty_server_is_told_of_when_tending(open_memories: Opened, stand_in: StandIn) -> None:
    memories = open_memories(PATIENT)
    stand_in.play = FAULTS["zeros"][0]
    add(memories, NETWORK)

    done = memories.tend()

    assert done.embedded == 0
    assert "a vector of zeros" in str(done.trouble)
    with pytest.raises(Unavailable):
        RemoteEmbedder(parse(f"ollama:nomic-embed-text@{stand_in.url}")).query("x")
