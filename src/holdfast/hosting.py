"""Where doors and memories are put together to be served: MCP on standard input and output, and the service.

The doors do not know each other, and none of them knows where a space is kept.
"""

import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from holdfast import places, wiring
from holdfast.engine.ports import Store
from holdfast.errors import Conflict, Invalid, Unavailable
from holdfast.memories import Memories
from holdfast.settings import Settings

PORT = 7437
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class House:
    """The spaces of one database, each opened when it is first asked for; one model for all of them.

    Shared by all threads of a process.
    """

    def __init__(self, db: str | None = None, space: str | None = None) -> None:
        self._db = db
        self._settings = Settings.read()
        self._space = space or self._settings.space
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._opened: dict[str, Memories] = {}
        self._embedder = wiring.open_embedder(self._settings.embedder)

    def memories(self, space: str | None = None) -> Memories:
        """The memories of `space`, the usual one when none is named.

        Raises: NotFound, Unavailable, NewerSchema, Invalid; asked again later it may be there.
        """
        name = space or self._space
        with self._opening:
            found = self._opened.get(name)
            if found is None:
                if self._store is None:
                    self._store = wiring.open_store(self._db or self._settings.db)
                found = self._opened[name] = Memories.of(
                    self._store, name, embedder=self._embedder, budget=self._settings.budget
                )
            return found

    def spaces(self) -> list[str]:
        """The names of all spaces; the usual one exists from first use."""
        usual = self.memories()
        return [space.name for space in usual.store.spaces()]

    def close(self) -> None:
        """Lets go of the database."""
        with self._opening:
            self._opened.clear()
            if self._store is not None:
                self._store.close()
                self._store = None


def serve_mcp(db: str | None, space: str | None, *, project: str | None, session: str | None) -> None:
    """Speaks MCP on standard input and output until the client is done."""
    from holdfast.doors.mcp.stdio import serve

    house = House(db, space)
    focus = project or places.project_of(os.getcwd())
    try:
        serve(lambda: house.memories().speaking_as("assistant", session=session, project=focus))
    finally:
        house.close()


def serve(
    db: str | None,
    space: str | None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    said: Callable[[str], None] = lambda _: None,
) -> None:
    """Runs the service until a signal ends it; `said` is told where it listens.

    Raises: Conflict, when a service runs already; Invalid, Unavailable.
    """
    from holdfast.doors.mcp.server import server
    from holdfast.doors.service.app import MountedMcp, application
    from holdfast.doors.service.running import listen, until_a_signal
    from holdfast.doors.service.running import serve as run
    from holdfast.doors.service.worker import Worker

    if host not in LOOPBACK:
        raise Invalid(f"{host!r} is not local: use {' or '.join(LOOPBACK)}", field="host")
    with _the_only_one():
        try:
            listening = listen(host, port)
        except OSError as error:
            raise Unavailable(
                f"port {port} of {host} can't be used ({error.strerror}): choose another with --port"
            ) from None
        house = House(db, space)
        url = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        try:
            worker = Worker(_chores(house))
            app = application(
                token=token(),
                answer_hook=_hooks(house, worker.wake),
                mcp=MountedMcp(server(lambda: house.memories().speaking_as("assistant"))),
                worker=worker,
            )
            with until_a_signal(), _announced(url):
                said(url)
                run(app, listening)
        finally:
            listening.close()
            house.close()


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
def _the_only_one() -> Iterator[None]:
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
def _announced(url: str) -> Iterator[None]:
    """Tells hooks and commands where the service is, for as long as it is there."""
    file = places.service_file()
    places.write_private(file, json.dumps({"url": url, "pid": os.getpid()}).encode())
    try:
        yield
    finally:
        os.unlink(file)


def _hooks(house: House, wake: Callable[[], None]) -> Callable[[str, Mapping[str, Any]], Mapping[str, Any]]:
    """Answers hooks from the space that they name; what they noted down is taken in soon."""
    from holdfast.doors.hooks.answers import answer

    def answered(event: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        space = body.get("space")
        told = answer(event, body, house.memories(space if isinstance(space, str) and space else None))
        wake()
        return told

    return answered


def _chores(house: House) -> list[Callable[[], bool]]:
    """What the service does in the background, in this order."""
    from holdfast.doors.hooks.captures import take_in
    from holdfast.doors.service.chores import upkeep, vectors

    def transcripts() -> bool:
        return take_in(house.memories) > 0

    return [transcripts, vectors(house.spaces, house.memories), upkeep(house.spaces, house.memories)]
