"""Work that asks models a question at a time goes on where it was ended, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from holdfast import Memories
from holdfast.app.wiring import context_for
from holdfast.engine import models_in_steps
from holdfast.engine.models_in_steps import ModelsInSteps
from holdfast.engine.ports import Store, TimeIsUp
from holdfast.language.comparison import Statement, Verdict
from tests.engine.scripted_judge import ScriptedJudge, wording
from tests.marking_reader import MarkingReader
from tests.store.some_vectors import Hashing

PAIRS = [(Statement(text=wording(0, 0)), Statement(text=wording(0, number))) for number in range(1, 5)]
TEXTS = ["Otto leads sales.", "Miriam is our landlord."]


class CountingJudge(ScriptedJudge):
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        self.asked.append(len(pairs))
        return super().judge(pairs)


def _slices(work: Callable[[], object]) -> int:
    """How many slices it takes until some work is done."""
    for number in range(1, 20):
        try:
            work()
        except TimeIsUp:
            continue
        return number
    raise AssertionError("it does not end")


def test_pairs_are_judged_one_in_a_slice_and_none_twice(store: Store) -> None:
    judge = CountingJudge()
    ctx = context_for("default", store, judge=judge)

    slices = _slices(lambda: ModelsInSteps(ctx, "work", lambda: True).ctx.judge.compare(PAIRS))

    assert slices == len(PAIRS)
    assert judge.asked == [1] * len(PAIRS)


def test_texts_are_embedded_and_memories_read_one_in_a_slice(store: Store) -> None:
    ctx = context_for("default", store, builtin_model=MarkingReader(), embedder=Hashing("hashing"))
    found: list[object] = []

    def work() -> None:
        models = ModelsInSteps(ctx, "work", lambda: True).ctx
        assert models.embedder is not None
        found[:] = [models.embedder.documents(TEXTS), models.builtin_model.replaced(TEXTS, "news")]

    assert _slices(work) == 2 * len(TEXTS)
    assert found == [Hashing("hashing").documents(TEXTS), [0.0, 0.0]]


def test_nothing_stays_of_work_that_is_done_and_little_of_work_that_never_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_in_steps, "_UNDER_WAY", under_way := dict[tuple[str, str], object]())
    ctx = context_for("default", store, judge=ScriptedJudge())
    _slices(lambda: ModelsInSteps(ctx, "done", lambda: True).ctx.judge.compare(PAIRS))
    after_the_work = len(under_way)
    for number in range(300):
        with pytest.raises(TimeIsUp):
            ModelsInSteps(ctx, f"ended-{number}", lambda: True).ctx.judge.compare(PAIRS)

    assert after_the_work == 0
    assert len(under_way) == 100


def test_capture_leaves_nothing_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_in_steps, "_UNDER_WAY", under_way := dict[tuple[str, str], object]())
    memories = Memories.of(store, "default", builtin_model=MarkingReader(), embedder=None)
    for number in range(4):
        memories.say("s", "user", f"Our server number {number} is called host-{number}. " + "So it is. " * 60)
    memories.close_session("s")

    slices = sum(1 for _ in iter(lambda: memories.capture_due(time_up=lambda: True), None))

    assert slices > 4
    assert memories.find().total > 0
    assert not under_way
