"""What marks this user's one service on this machine: its lock, its token, and where it says that it is."""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from holdfast import places
from holdfast.errors import Conflict, Unavailable


def token() -> str:
    """The token that every request to the service carries; made when it is first asked for.

    Raises: Unavailable.
    """
    file = places.token_file()
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
    places.write_private(file, f"{made}\n".encode())
    return made


@contextmanager
def the_only_one() -> Iterator[None]:
    """Holds the lock of this user's service.

    Raises: Conflict, when another process has it.
    """
    import fcntl

    places.make_folder(places.home())
    with open(places.service_lock(), "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(
                "a service runs already: `holdfast service status` tells where, or stop it first"
            ) from None
        yield


@contextmanager
def announced(url: str, db: str) -> Iterator[None]:
    """Tells hooks and commands where the service is and what it serves, for as long as it is there."""
    file = places.service_file()
    places.write_private(file, json.dumps({"url": url, "pid": os.getpid(), "db": db}).encode())
    try:
        yield
    finally:
        withdraw()


def withdraw() -> None:
    """Takes back where the service is."""
    with suppress(FileNotFoundError):
        os.unlink(places.service_file())
