"""What marks this user's one service on this machine: its lock, its token, and where it says that it is."""

import json
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from holdfast.app import paths, served_command
from holdfast.errors import Conflict, Unavailable

_log = logging.getLogger(__name__)


def token() -> str:
    """The token that every request to the service carries; made when it is first asked for.

    Raises: Unavailable.
    """
    file = paths.token_file()
    try:
        with open(file, encoding="ascii") as stored:
            found = stored.read().strip()
        if found:
            return found
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise Unavailable(f"the token in {file} can't be read: {error}") from None
    made = secrets.token_urlsafe(32)
    try:
        paths.write_private(file, f"{made}\n".encode())
    except OSError as error:
        raise Unavailable(f"the token can't be written to {file}: {error.strerror}") from None
    return made


def own_token() -> str:
    """The same for the service: where none is kept and none can be, it lasts for as long as the service.

    Raises: Unavailable, for a token that is there and can't be read.
    """
    try:
        return token()
    except Unavailable as trouble:
        if os.path.lexists(paths.token_file()):
            raise
        _log.warning("%s: hooks and commands can't use the service until it is restarted", trouble)
        return secrets.token_urlsafe(32)


@contextmanager
def the_only_one() -> Iterator[None]:
    """Holds the lock of this user's service.

    Raises: Conflict, when another process has it.
    """
    import fcntl

    with _lock_file() as lock:
        try:
            if lock is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("the service is already running: see `holdfast service status`") from None
        yield


@contextmanager
def announced(url: str, db: str) -> Iterator[None]:
    """Tells hooks and commands where the service is and what it serves, for as long as it is there."""
    file = paths.service_file()
    try:
        told = {"url": url, "pid": os.getpid(), "db": db, **served_command.character()}
        paths.write_private(file, json.dumps(told).encode())
    except OSError as error:
        _log.warning("hooks and commands won't find the service: %s: %s", file, error.strerror)
        yield
        return
    try:
        yield
    finally:
        withdraw()


def withdraw() -> None:
    """Takes back where the service is."""
    with suppress(OSError):
        os.unlink(paths.service_file())


@contextmanager
def _lock_file() -> Iterator[int | None]:
    """The file to lock; none on a disk that can't be written and holds none."""
    descriptor = None
    try:
        paths.make_folder(paths.home())
        descriptor = os.open(paths.service_lock(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        try:
            descriptor = os.open(paths.service_lock(), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            _log.warning("no lock file, so a second service could start: %s", error)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)
