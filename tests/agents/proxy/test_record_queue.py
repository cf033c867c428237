"""What was overheard is kept in order, one after the other, and never without bounds."""

from __future__ import annotations

import threading

from holdfast.agents.proxy.request_memory import Tap
from holdfast.errors import Unavailable


def test_things_are_done_in_their_order_and_trouble_with_one_does_not_end_the_rest() -> None:
    tap = Tap()
    done: list[int] = []

    def fail(error: Exception) -> None:
        raise error

    tap.later(1, 1, lambda: done.append(1))
    tap.later(2, 1, lambda: fail(Unavailable("away")))
    tap.later(3, 1, lambda: fail(RuntimeError("odd")))
    tap.later(4, 1, lambda: done.append(2))

    assert tap.settled(30)
    assert done == [1, 2]
    tap.close()


def test_what_does_not_fit_is_let_go_and_later_there_is_room_again() -> None:
    tap = Tap(most=10)
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(60)

    tap.later(1, 10, wait)
    assert begun.wait(60)
    fits, too_much = tap.later(2, 10, lambda: None), tap.later(3, 1, lambda: None)
    go_on.set()

    assert (fits, too_much) == (True, False)
    assert tap.settled(30)
    assert tap.later(4, 10, lambda: None)
    tap.close()


def test_closing_does_what_waits_and_takes_nothing_more() -> None:
    tap = Tap()
    done: list[int] = []
    for number in range(100):
        tap.later(number, 1, lambda number=number: done.append(number))  # type: ignore[misc]

    tap.close(30)

    assert done == list(range(100))
    assert tap.later(0, 1, lambda: None) is False


def test_what_still_waits_is_replaced_in_its_place_and_those_behind_it_wait_in_line() -> None:
    tap = Tap(most=10, behind=2)
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def wait() -> None:
        begun.set()
        go_on.wait(60)

    tap.later("first", 1, wait)
    assert begun.wait(60)
    tap.later("asked", 8, lambda: done.append("asked"))
    tap.later("other", 1, lambda: done.append("other"))
    tap.wait_in_line(0)  # two wait: patience is out at once
    tap.later("asked", 9, lambda: done.append("asked and answered"))
    go_on.set()
    tap.wait_in_line(30)

    assert tap.settled(30)
    assert done == ["asked and answered", "other"]
    tap.close()
