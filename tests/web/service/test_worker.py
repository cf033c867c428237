"""The work in the background: which spaces it asks, and what it says when the memory is away."""

from __future__ import annotations

import pytest

from holdfast.app.space_registry import SpaceRegistry
from holdfast.engine.ports import TimeUp
from holdfast.errors import Unavailable
from holdfast.web.service.background_tasks import (
    CAPTURED_BY,
    MANY,
    OTHERS,
    Chore,
    SpaceRounds,
    Worker,
    vectors,
)


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


def test_of_many_spaces_a_round_asks_those_that_may_have_work_and_some_others() -> None:
    names = [f"space-{number:03}" for number in range(MANY + 5)]
    writes: dict[str, float] = {}
    at = 10.0
    rounds = SpaceRounds(lambda: names, lambda: writes, now=lambda: at)

    def asked(*busy: str) -> list[str]:
        found = rounds.spaces()
        for name in found:
            rounds.note(name, at, again=name in busy)
        return found

    first = asked("space-050")
    others = [asked("space-050"), asked()]
    writes["space-060"], at = 20.0, 20.5
    written = asked()
    at = 21.0
    settled = asked()
    at = 20.0 + CAPTURED_BY
    due = asked()

    tens = [names[start : start + OTHERS] for start in range(0, MANY, OTHERS)]
    assert first == names
    assert others == [[*tens[1], "space-050"], [*tens[2], "space-050"]]
    assert written == [*tens[3], "space-060"]
    assert settled == tens[4]
    assert due == [*tens[5], "space-060"]


def test_of_few_spaces_each_round_asks_all() -> None:
    rounds = SpaceRounds(lambda: ["b", "a"], dict)
    for name in rounds.spaces():
        rounds.note(name, rounds.now(), again=False)

    assert rounds.spaces() == ["a", "b"]


def test_a_service_knows_which_spaces_it_wrote_to(sqlite_url: str) -> None:
    registry = SpaceRegistry(sqlite_url)
    registry.memories().remember("Lives in Lisbon")

    assert list(registry.writes()) == ["default"]
    registry.close()
