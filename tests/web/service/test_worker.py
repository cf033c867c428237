"""The work in the background: what it says when the memory is away."""

from __future__ import annotations

import pytest

from holdfast.engine.ports import TimeUp
from holdfast.errors import Unavailable
from holdfast.web.service.background_tasks import Chore, Worker


def test_a_memory_that_is_away_is_told_once_and_its_return_too(caplog: pytest.LogCaptureFixture) -> None:
    away = iter((True, True, True, False, False))

    def chore(_: TimeUp) -> bool:
        if next(away):
            raise Unavailable("the database can't be opened")
        return False

    _went_round(chore, times=5)

    assert [(each.levelname, each.message.partition(":")[0]) for each in caplog.records] == [
        ("ERROR", "the database is unreachable"),
        ("WARNING", "the database is reachable again"),
    ]


def test_any_other_trouble_of_a_chore_is_told_each_time_with_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def chore(_: TimeUp) -> bool:
        raise RuntimeError("not foreseen")

    _went_round(chore, times=2)

    assert [(each.message, each.exc_info is not None) for each in caplog.records] == [
        ("a background task failed; it will be retried", True)
    ] * 2


def _went_round(chore: Chore, *, times: int) -> None:
    """Lets a worker go round that often, without a pause."""
    rounds = 0

    def last(_: TimeUp) -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == times:
            worker.stop(0)  # after this round
        return True

    worker = Worker([chore, last])
    worker._run()
