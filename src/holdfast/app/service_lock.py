"""The running service's files: its lock, its local token, and its address."""

import json
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from holdfast.app import file_lock, paths, served_command
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
    except Unavailable as error:
        if os.path.lexists(paths.token_file()):
            raise
        _log.warning("%s: hooks and commands can't use the service until it is restarted", error)
        return secrets.token_urlsafe(32)


@contextmanager
def single_instance_lock() -> Iterator[None]:
    """Holds the lock of this user's service. Raises: Conflict, when another process has it."""
    with _lock_file() as lock:
        if lock is not None and not file_lock.try_lock(lock):
            raise Conflict("the service is already running", command="stop it with `holdfast service stop`")
        yield


def is_held() -> bool:
    """Whether a process has the lock of this user's service."""
    with _lock_file() as lock:
        return lock is not None and not file_lock.try_lock(lock)


@contextmanager
def address(url: str, db: str) -> Iterator[None]:
    """Writes the address file, for hooks and commands, and deletes it at the end."""
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
        remove_address_file()


def remove_address_file() -> None:
    """Deletes the address file."""
    with suppress(OSError):
        os.unlink(paths.service_file())


@contextmanager
def _lock_file() -> Iterator[int | None]:
    """The file to lock; None on a read-only disk without one."""
    descriptor = None
    try:
        paths.make_folder(paths.home())
        descriptor = file_lock.open_file(paths.service_lock())
    except OSError:
        try:
            descriptor = os.open(paths.service_lock(), os.O_RDONLY)
        except OSError as error:
            _log.warning("no lock file, so a second service could start: %s", error)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            file_lock.close(descriptor)
