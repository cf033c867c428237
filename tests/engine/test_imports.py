"""An import asks its judge before the space is locked, also about drafts that repeat one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.memory import Draft
from holdfast.engine.ports import Store, Transaction
from holdfast.language.comparison import Statement, Verdict
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
    def write(self, space: str) -> Iterator[Transaction]:
        with self._store.write(space) as tx:
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
