"""Exclusive locks on files, between processes; the system drops a lock when its process ends or is killed.

With `flock`, or with `msvcrt.locking` on Windows. Both belong to the open file: a second one of the same
process waits like any other.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

_PAUSE = 0.05  # seconds between two attempts, where the system can't wait for us


def open_file(path: str | os.PathLike[str]) -> int:
    """A descriptor of the file to lock, which is created if need be. Raises: OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def try_lock(descriptor: int) -> bool:
    """Takes the lock; false if another open file has it. Raises: OSError."""
    taken: type[OSError] = BlockingIOError if fcntl is not None else PermissionError
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _of_first_byte(descriptor, "LK_NBLCK")
    except taken:
        return False
    return True


def close(descriptor: int) -> None:
    """Drops the lock and closes the file."""
    try:
        if fcntl is None:  # Windows drops the lock of a closed file later, at a time of its own
            with suppress(OSError):  # it was not locked
                _of_first_byte(descriptor, "LK_UNLCK")
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Waits for the lock of a file and holds it for the block. Raises: OSError."""
    descriptor = open_file(path)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            while not try_lock(descriptor):
                time.sleep(_PAUSE)
        yield
    finally:
        close(descriptor)


def _of_first_byte(descriptor: int, what: str) -> None:
    """Locks or unlocks on Windows: the byte at the position of the file, which need not be there."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    msvcrt.locking(descriptor, getattr(msvcrt, what), 1)  # type: ignore[attr-defined]
