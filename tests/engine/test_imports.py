"""An import asks its judge before the space is locked, also about drafts that repeat one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.memory import Draft, Source
from holdfast.engine import imports
from holdfast.engine.ports import Store, Transaction
from holdfast.language.comparison import Statement, Verdict
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.engine.scripted_judge import ScriptedJudge, wording

DRAFTS = (
    wording(0, 0, "b"),  # known
    wording(2, 1, "a"),  # contradicts what is known
    wording(4, 0, "a"),
    wording(4, 0, "b"),  # says what the draft before it says
    wording(4, 0, "c"),
    wording(4, 1, "a"),  # contradicts it
)
EXPECTED = ["Reinforced", "Contradicting", "Added", "Reinforced", "Reinforced", "Contradicting"]


class WatchedStore:
    """A store that knows how many write transactions are open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.writing = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(self, space: str, **how: Any) -> Iterator[Transaction]:
        with self._store.write(space, **how) as tx:
            self.writing += 1
            try:
                yield tx
            finally:
                self.writing -= 1


class WatchingJudge(ScriptedJudge):
    """Notes in how many write transactions it was asked."""

    def __init__(self, store: WatchedStore) -> None:
        self._store = store
        self.asked_in: list[int] = []

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        self.asked_in.append(self._store.writing)
        return super().judge(pairs)


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_judges_nothing_while_the_space_is_locked(
    database_url: str, clock: FixedClock, dry_run: bool
) -> None:
    store = WatchedStore(open_store(database_url))
    judge = WatchingJudge(store)
    with Memories.of(store, "default", clock=clock, embedder=None, judge=judge) as memories:
        memories.remember(wording(0, 0), category="fact")
        memories.remember(wording(2, 0), category="fact")
        before = memories.find().memories
        judge.asked_in.clear()

        drafts = [(line, Draft(content=text, category="fact")) for line, text in enumerate(DRAFTS, start=1)]
        told = memories.import_drafts(drafts, dry_run=dry_run)

        assert [type(one.outcome).__name__ for one in told] == EXPECTED
        assert judge.asked_in != []
        assert set(judge.asked_in) == {0}
        assert (memories.find().memories == before) == dry_run


class CountingEmbedder(BuiltinEmbedder):
    """Notes what it embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        self.asked += texts
        return super().documents(texts)


def drafts_of(texts: Iterable[str]) -> Iterator[tuple[int, Draft]]:
    source = Source(origin="import", session="notes")
    return enumerate(Draft(content=text, category="fact", source=source) for text in texts)


def imported(memories: Memories, texts: Iterable[str]) -> list[str]:
    return [type(one.outcome).__name__ for one in memories.import_drafts(drafts_of(texts))]


def test_an_import_that_was_killed_goes_on_where_it_ended(
    store: Store, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_BATCH", 4)
    texts = [wording(2 * number, 0) for number in range(10)]
    embedder = CountingEmbedder()

    with Memories.of(store, "default", clock=clock, embedder=embedder, judge=ScriptedJudge()) as memories:
        batches = memories.import_batches(drafts_of(texts))
        assert [len(batch) for batch in islice(batches, 2)] == [4, 4]
        del batches
        embedder.asked.clear()

        outcomes = imported(memories, texts)

        assert outcomes == ["Reinforced"] * 8 + ["Added"] * 2
        assert embedder.asked == texts[8:]
        assert sorted(memory.content for memory in memories.find().memories) == sorted(texts)
        assert {memory.confidence for memory in memories.find().memories} == {0.7}


def test_of_a_long_import_only_two_batches_are_in_memory(
    store: Store, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_BATCH", 4)
    read: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(20):
            read.append(number)
            yield wording(2 * number, 0)

    with Memories.of(store, "default", clock=clock, embedder=None, judge=ScriptedJudge()) as memories:
        reached = [(len(read), len(batch)) for batch in memories.import_batches(drafts_of(texts()))]

    assert reached == [(8, 4), (12, 4), (16, 4), (20, 4), (20, 4)]


def test_what_is_imported_is_embedded_once_and_found_at_once(store: Store, clock: FixedClock) -> None:
    texts = ["The harbour master speaks Danish", "Bread rises for nine hours", "The lift stops at floor 4"]
    embedder = CountingEmbedder()
    with Memories.of(store, "default", clock=clock, embedder=embedder) as memories:
        imported(memories, [*texts, "Tea is kept in the blue tin", "Window seats are booked on Mondays"])
        embedder.asked.clear()

        [hit] = memories.recall("Which language does the man at the port talk?").memories

        assert hit.memory.content == texts[0]
        assert embedder.asked == []


def test_what_another_writes_during_an_import_is_known_to_it(database_url: str, clock: FixedClock) -> None:
    store = open_store(database_url)

    class Interrupted(ScriptedJudge):
        during: Callable[[], object] | None = None

        def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
            during, self.during = self.during, None
            if during is not None:
                during()
            return super().judge(pairs)

    judge = Interrupted()
    with Memories.of(store, "default", clock=clock, embedder=None, judge=judge) as memories:
        memories.remember(wording(0, 0), category="fact")
        judge.during = lambda: memories.remember(wording(4, 0, "b"), category="fact")

        assert imported(memories, [wording(0, 0, "b"), wording(4, 0)]) == ["Reinforced", "Reinforced"]
