"""The work in the background: what it says when the memory is away."""

from __future__ import annotations

import pytest

from holdfast.engine.ports import TimeUp
from holdfast.errors import Unavailable
from holdfast.web.service.background_tasks import Chore, Worker, vectors


def test_a_space_that_can_not_be_worked_on_is_told_once_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    worked: list[str] = []
    away = [True, True, False, True]

    class Opened:
        def __init__(self, name: str) -> None:
            self.name = name

        def embed(self, *_: object, **__: object) -> int:
            worked.append(self.name)
            if self.name == "lost" and away.pop(0):
                raise Unavailable("the node is away")
            return 0

    chore = vectors(lambda: ["lost", "well"], Opened)  # type: ignore[arg-type]

    for _ in range(4):
        chore(lambda: False)

    assert worked == ["lost", "well"] * 4
    assert [each.message for each in caplog.records] == ["space lost: the node is away"] * 2


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
