"""Recall by meaning: what is found, when it is silent, and what happens when the embedder fails."""

import struct
from collections.abc import Callable, Sequence

import pytest

from holdfast import Filter, Memories
from holdfast.app.wiring import open_store
from holdfast.engine.ports import Embedder, Store
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

NETWORK = "The router's DNS settings were wrong; network configuration fixed by pinning 1.1.1.1"
OTHERS = (
    "Alec is the user's boss",
    "Prefers aisle seats on flights",
    "Backups of the photo share run nightly",
    "Vegetarian since 2015",
    "The quarterly report is due in March",
)


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture
def known(store: Store, clock: FixedClock, embedder: BuiltinEmbedder) -> Memories:
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)
    for text in (NETWORK, *OTHERS):
        add(memories, text)
    return memories


@requirement("sem.search", "sem.embedder.default", "sem.recall.no-model")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("WiFi problem", NETWORK),
        ("who is my manager", "Alec is the user's boss"),
        ("where do I like to sit on a plane", "Prefers aisle seats on flights"),
        ("what do I eat", "Vegetarian since 2015"),
    ],
)
def test_a_memory_is_found_that_shares_no_word_with_the_question(
    known: Memories, question: str, answer: str
) -> None:
    found = known.recall(question)

    assert found.matched == "meaning"
    assert found.memories[0].memory.content == answer


@requirement("sem.search.silence")
def test_nothing_relevant_is_nothing_returned_and_counted(known: Memories) -> None:
    found = known.recall("how do vaccines work")

    assert found.hits == ()
    assert found.below > 0


@requirement("sem.recall.score")
def test_the_score_is_the_product_of_its_reported_factors(known: Memories, clock: FixedClock) -> None:
    memory = known.find().memories[0]
    known.revise(memory.id, importance=5, confidence=0.8)
    clock.advance(days=90)

    [hit, *_] = known.recall(memory.content).memories

    assert hit.memory.id == memory.id
    assert set(hit.parts) == {"relevance", "recency", "importance", "confidence"}
    assert (hit.parts["recency"], hit.parts["confidence"]) == (0.5, 0.8)
    assert hit.score == pytest.approx(hit.parts["relevance"] * 0.5 * (5 / 3) * 0.8, abs=1e-3)
    assert hit.parts["relevance"] == pytest.approx(sum(hit.evidence.values()), abs=1e-3)


@requirement("sem.search")
def test_what_another_process_wrote_is_found_at_once(
    database_url: str, known: Memories, clock: FixedClock, embedder: BuiltinEmbedder
) -> None:
    known.recall("anything at all")
    other = open_store(database_url)
    theirs = Memories.of(other, "default", clock=clock)

    parrot = add(theirs, "The parrot is called Rio")
    found = known.recall("what is the name of my bird", threshold=0.0)
    theirs.revise(parrot.id, "The tortoise is called Rio")
    theirs.close()

    assert found.memories[0].memory.id == parrot.id
    again = known.recall("slow animal with a shell", threshold=0.0)
    assert again.memories[0].memory.content == "The tortoise is called Rio"


@requirement("sem.search")
def test_filters_and_states_hold_for_meaning_too(known: Memories) -> None:
    boss = known.find(Filter()).memories
    [alec] = [memory for memory in boss if "Alec" in memory.content]

    assert known.recall("who is my manager", where=Filter(tags=("x",))).hits == ()
    known.forget(alec.id)
    assert all(hit.memory.id != alec.id for hit in known.recall("who is my manager", threshold=0.0).memories)


class Faulty:
    """An embedder that fails in one way."""

    name = "faulty"

    def __init__(self, answer: Callable[[int], list[list[bytes]]]) -> None:
        self.answer = answer

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        return self.answer(len(texts))

    def query(self, text: str) -> bytes:
        return self.answer(1)[0][0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        return [parts[0] for parts in self.answer(len(texts))]


def numbers(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def raising(error: Exception) -> Callable[[int], list[list[bytes]]]:
    def answer(count: int) -> list[list[bytes]]:
        raise error

    return answer


GOOD = numbers(1, 0, 0, 0)
FAULTS: dict[str, Callable[[int], list[list[bytes]]]] = {
    "down": raising(ConnectionRefusedError("nobody listens")),
    "slow": raising(TimeoutError("took too long")),
    "busy": raising(RuntimeError("429 too many requests")),
    "a page instead of numbers": raising(ValueError("Expecting value: line 1 column 1")),
    "zeros": lambda count: [[numbers(0, 0, 0, 0)]] * count,
    "not a number": lambda count: [[numbers(float("nan"), 0, 0, 0)]] * count,
    "infinite": lambda count: [[numbers(float("inf"), 0, 0, 0)]] * count,
    "of another length": lambda count: [[numbers(3, 4, 0, 0)]] * count,
    "no parts": lambda count: [[]] * count,
    "cut off": lambda count: [[GOOD[:-1]]] * count,
    "of two sizes": lambda count: [[GOOD, numbers(1, 0)]] * count,
    "too few": lambda count: [[GOOD]] * (count - 1),
}


@pytest.fixture(params=FAULTS)
def faulty(request: pytest.FixtureRequest) -> Embedder:
    return Faulty(FAULTS[request.param])


@requirement("sem.embedder.down")
def test_with_a_faulty_embedder_storing_works_and_words_still_find(
    store: Store, clock: FixedClock, faulty: Embedder, embedder: BuiltinEmbedder
) -> None:
    memories = Memories.of(store, "default", clock=clock, embedder=faulty)
    memory = add(memories, NETWORK)

    found = memories.recall("network configuration")
    later = Memories.of(store, "default", clock=clock, embedder=embedder).recall("WiFi problem")

    assert found.memories[0].memory.id == memory.id
    assert later.matched == "meaning"
    assert later.memories[0].memory.id == memory.id
