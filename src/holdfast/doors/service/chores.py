"""What the service does while nobody asks: upkeep and vectors, space by space.

Every chore can be interrupted anywhere and done again. Chores of other doors are handed in by who wires.
"""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from holdfast.errors import HoldfastError
from holdfast.memories import Memories

UPKEEP_EVERY = 3_600.0  # seconds
EMBEDDED_AT_A_TIME = 256

_log = logging.getLogger(__name__)

Open = Callable[[str], Memories]
Names = Callable[[], Sequence[str]]
Quiet = Callable[[str | None, str], str | None]  # a project and a session: why nothing is captured there


def upkeep(names: Names, memories: Open, *, now: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    """Tends every space once in a while."""
    tended: dict[str, float] = {}

    def chore() -> bool:
        for name in names():
            if now() - tended.get(name, float("-inf")) >= UPKEEP_EVERY:
                tended[name] = now()
                _quietly(name, partial(_tend, memories, name))
        return False

    return chore


def vectors(names: Names, memories: Open) -> Callable[[], bool]:
    """Embeds what is new, a little of each space at a time so that none waits for another."""

    def chore() -> bool:
        done = 0
        for name in names():
            done += _quietly(name, partial(_embed, memories, name))
        return done > 0

    return chore


def capture(names: Names, memories: Open, quiet: Quiet) -> Callable[[], bool]:
    """Reads a session of each space that has something new; `quiet` says where nothing may be read."""

    def chore() -> bool:
        done = 0
        for name in names():
            done += _quietly(name, partial(_capture, memories, name, quiet))
        return done > 0

    return chore


def reading(names: Names, memories: Open, quiet: Quiet) -> Callable[[], bool]:
    """Reads with a model what the rules have read: a chunk of each space at a time."""

    def chore() -> bool:
        done = 0
        for name in names():
            done += _quietly(name, partial(_read, memories, name, quiet))
        return done > 0

    return chore


def _read(memories: Open, name: str, quiet: Quiet) -> int:
    return int(memories(name).read_due(quiet=quiet) is not None)


def _capture(memories: Open, name: str, quiet: Quiet) -> int:
    return int(memories(name).capture_due(quiet=quiet) is not None)


def _tend(memories: Open, name: str) -> int:
    return len(memories(name).tend().decayed)


def _embed(memories: Open, name: str) -> int:
    return memories(name).embed(EMBEDDED_AT_A_TIME)


def _quietly(space: str, work: Callable[[], int]) -> int:
    """The trouble of one space does not keep the others waiting; it is tried again the next time."""
    try:
        return work()
    except HoldfastError as trouble:
        _log.warning("space %s: %s", space, trouble)
        return 0
