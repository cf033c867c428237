"""A filter hides nothing but what it should: few admitted ones are found however far down they stand."""

import hashlib
import math
import struct
from collections.abc import Sequence

import pytest

from holdfast import Filter, Memories
from holdfast.domain.calibration import MEASURED_WITH
from holdfast.domain.memory import Draft
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.engine import memory_search, message_search, recall
from holdfast.engine.ports import Store
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import fill

QUESTION = "where is the lighthouse"
ALL = 60


class Numbered:
    """An embedder for which a text is the nearer to a question, the lower the number in it."""

    name = MEASURED_WITH  # whose cosines are taken as they are

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        return [[_vector(max(1 - _number(text) / 100, 0.0))] for text in texts]

    def query(self, text: str) -> bytes:
        return _vector(1.0)

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        return [self.query(text) for text in texts]


def _number(text: str) -> int:
    return next((int(word) for word in text.split() if word.isdigit()), 0)


def _vector(cosine: float) -> bytes:
    return struct.pack("<3f", cosine, math.sqrt(1 - cosine * cosine), 0.0)


@pytest.fixture(params=["few", "many"])
def memories(
    request: pytest.FixtureRequest, store: Store, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> Memories:
    """A space in which four candidates are taken at first; then all that are admitted, or ever more."""
    for module in (memory_search, message_search):
        monkeypatch.setattr(module, "CANDIDATES", 4)
        monkeypatch.setattr(module, "FEW", 1_000 if request.param == "few" else 2)
    monkeypatch.setattr(recall, "_ENOUGH", 3)
    return Memories.of(store, "default", clock=clock, embedder=Numbered())


def _word(number: int) -> str:
    """A word of its own for each text, so that none repeats another."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:10]


def _by_itself(hit: MemoryHit) -> dict[str, float]:
    """What speaks for a hit, without what a reader says: it reads the best few of what it is shown."""
    return {name: part for name, part in hit.evidence.items() if name not in ("helps", "limit")}


@requirement("sem.search")
def test_a_filtered_recall_finds_what_an_unfiltered_one_ranks(memories: Memories) -> None:
    tags = [("rare",) if number % 19 == 18 else () for number in range(ALL)]
    kept = fill(
        memories,
        [Draft(content=f"{number} lighthouse {_word(number)}", tags=tags[number]) for number in range(ALL)],
    )

    where = Filter(tags=("rare",))
    found = memories.recall(QUESTION, where=where, limit=2, threshold=0.0)

    whole = memories.recall(QUESTION, limit=ALL, threshold=0.0)
    expected = [hit for hit in whole.memories if "rare" in hit.memory.tags]
    assert [hit.memory.id for hit in found.memories] == [kept[18].id, kept[37].id]
    assert [hit.memory.id for hit in expected] == [kept[18].id, kept[37].id, kept[56].id]
    # How rare a word is, the whole space tells: a filter does not change a score.
    assert [_by_itself(hit) for hit in found.memories] == [_by_itself(hit) for hit in expected[:2]]
    assert memories.recall(QUESTION, where=Filter(tags=("none",)), threshold=0.0).hits == ()


@requirement("sem.search", "scope.project")
def test_so_does_one_among_messages(memories: Memories) -> None:
    for number in range(ALL):
        session = "atlas" if number % 19 == 18 else f"other-{number}"
        memories.open_session(session, project="atlas" if session == "atlas" else "borealis")
        memories.say(session, "user", f"{number} lighthouse {_word(number)}")

    def said(**given: object) -> list[str | None]:
        hits = memories.recall(QUESTION, threshold=0.0, limit=2, **given).hits  # type: ignore[arg-type]
        assert not any(isinstance(hit, MemoryHit) for hit in hits)
        return [hit.message.content for hit in hits if isinstance(hit, MessageHit)]

    expected = [f"{number} lighthouse {_word(number)}" for number in (18, 37)]
    assert said(project="atlas") == expected
    assert said(where=Filter(session="atlas")) == expected
    assert said(project="nowhere") == []
