"""What the service does while nobody asks: capture, vectors and upkeep, space by space, a slice at a time.

Every chore can be interrupted anywhere and done again. Chores of other doors are handed in by who wires.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence

from holdfast.engine.memories import Memories
from holdfast.engine.ports import TimeUp
from holdfast.errors import HoldfastError
from holdfast.web.service.worker import Chore

UPKEEP_EVERY = 3_600.0  # seconds
EMBEDDED_AT_A_TIME = 256

_log = logging.getLogger(__name__)

Open = Callable[[str], Memories]
Names = Callable[[], Sequence[str]]
Quiet = Callable[[str | None, str], str | None]  # a project and a session: why nothing is captured there
#: Does a little for the space of that name until the time is up; true when there may be more to do.
Work = Callable[[str, TimeUp], bool]


def upkeep(names: Names, memories: Open, *, now: Callable[[], float] = time.monotonic) -> Chore:
    """Tends every space once in a while, but for the vectors."""
    tended: dict[str, float] = {}
    under_way: dict[str, Iterator[object]] = {}

    def work(name: str, time_up: TimeUp) -> bool:
        if name not in under_way and now() - tended.get(name, float("-inf")) < UPKEEP_EVERY:
            return False
        tended[name] = now()
        steps = under_way.pop(name, None) or memories(name).upkeep()
        for _ in steps:
            if time_up():
                under_way[name] = steps
                return True
        return False

    return _in_turn(names, work)


def vectors(names: Names, memories: Open) -> Chore:
    """Embeds what is new, a little of each space at a time so that none waits for another."""
    return _in_turn(
        names, lambda name, time_up: memories(name).embed(EMBEDDED_AT_A_TIME, time_up=time_up) > 0
    )


def capture(names: Names, memories: Open, quiet: Quiet) -> Chore:
    """Reads a session of each space that has something new; `quiet` says where nothing may be read."""
    return _in_turn(
        names,
        lambda name, time_up: memories(name).capture_due(quiet=quiet, time_up=time_up) is not None,
    )


def reading(names: Names, memories: Open, quiet: Quiet) -> Chore:
    """Reads with a model what our reader has read: a chunk of each space at a time."""
    return _in_turn(names, lambda name, _: memories(name).read_due(quiet=quiet) is not None)


def _in_turn(names: Names, work: Work) -> Chore:
    """Goes round the spaces; a slice goes on where the last one ended, so that none waits for long."""
    left: list[str] = []  # of this round, the next one last
    more = False

    def chore(time_up: TimeUp) -> bool:
        nonlocal more
        if not left:
            left.extend(sorted(names(), reverse=True))
            more = False
        while left:
            more = _quietly(left.pop(), time_up, work) or more
            if left and time_up():
                return True
        return more

    return chore


def _quietly(space: str, time_up: TimeUp, work: Work) -> bool:
    """The trouble of one space does not keep the others waiting; it is tried again the next time."""
    try:
        return work(space, time_up)
    except HoldfastError as trouble:
        _log.warning("space %s: %s", space, trouble)
        return False
