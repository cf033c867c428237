"""Marks a thread whose changes are shown later: what the background writes, chores of their own show.

Files in bound directories and context files follow a change at once, in the thread that made it. That takes
as long as the space is large, so a slice of the background leaves it to the slices that are made for it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_THREAD = threading.local()


class Left:
    """Whether something was left to be shown."""

    any = False


@contextmanager
def showing_later() -> Iterator[Left]:
    """Within it this thread leaves to others what follows a change."""
    left = _THREAD.left = Left()
    try:
        yield left
    finally:
        _THREAD.left = None


def is_later() -> bool:
    """Whether this thread should leave everything to do with files to others."""
    return getattr(_THREAD, "left", None) is not None


def leave() -> bool:
    """Whether it was left to others to show a change that this thread made; else it has to be done now."""
    left: Left | None = getattr(_THREAD, "left", None)
    if left is not None:
        left.any = True
    return left is not None
