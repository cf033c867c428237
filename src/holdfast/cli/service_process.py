"""Finds, starts and stops this user's service."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from holdfast.app import file_lock, paths, service_lock
from holdfast.cli.service_unit import log_file, serve_command
from holdfast.errors import Unavailable

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_ANSWERS_WITHIN: Final = 2.0  # seconds
_STARTS_WITHIN: Final = 30.0
_LOOKS_EVERY: Final = 0.05
_MOST_LOG: Final = 1_000_000  # bytes; a longer one begins anew
_PORT_TAKEN: Final = 3  # what `serve` ends with when something is not available

#: The same on Windows, where alone there are such flags.
_DETACHED: Final = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(
    subprocess, "CREATE_NEW_PROCESS_GROUP", 0
)
#: Services that go on when this process ends, which is meant: kept, so that Python does not warn about it.
_LEFT_BEHIND: Final[list[subprocess.Popen[bytes]]] = []


@dataclass(frozen=True, slots=True)
class Running:
    """A service that answers."""

    url: str
    pid: int


def running() -> Running | None:
    """The service that this user's hooks use, if it answers."""
    try:
        with open(paths.service_file(), "rb") as file:
            found = json.loads(file.read(10_000))
        service = Running(str(found["url"]), int(found["pid"]))
        if urlsplit(service.url).hostname not in _LOOPBACK or not _is_service(service.pid):
            return None
        # Bypasses the proxies of the environment.
        with build_opener(ProxyHandler({})).open(f"{service.url}/health", timeout=_ANSWERS_WITHIN) as answer:
            told = json.loads(answer.read(1_000))
    except (OSError, URLError, ValueError, KeyError, TypeError):
        return None
    return service if isinstance(told, dict) and told.get("ok") is True else None


def stop() -> Running | None:
    """Stops the running service and waits until it has ended; none when there is none.

    Raises: Unavailable.
    """
    found = running()
    if found is None:
        return None
    try:
        os.kill(found.pid, signal.SIGTERM)
    except OSError as error:
        raise Unavailable(f"process {found.pid} can't be stopped: {error.strerror}") from None
    for _ in _looks():
        if not _is_service(found.pid):
            if os.name == "nt":  # where it was ended before it could clean up
                service_lock.remove_address_file()
            return found
    raise Unavailable(f"process {found.pid} did not stop within {_STARTS_WITHIN:.0f} s")


def _is_service(pid: int) -> bool:
    """Whether that process is a service: after a crash, the file may name another process or none."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"serve" in file.read().split(b"\0")
    except OSError:
        if os.path.exists("/proc/self/cmdline"):  # there is no such process
            return False
    command = ("ps", "-p", str(pid), "-o", "command=")  # where there is no /proc
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWERS_WITHIN
        )
    except FileNotFoundError:  # nor ps, as on Windows
        return service_lock.is_held()
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "serve" in done.stdout.split()


def _looks() -> Iterator[None]:
    """A turn every now and then, for as long as a service may take to start or to stop."""
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until:
        yield
        time.sleep(_LOOKS_EVERY)


def waited_for() -> Running:
    """Waits for the service that a service manager starts.

    Raises: Unavailable.
    """
    for _ in _looks():
        if found := running():
            return found
    raise Unavailable(
        f"the service did not answer within {_STARTS_WITHIN:.0f} s: see `systemctl --user status holdfast` "
        f"or {log_file()}"
    )


def start(*, db: str | None = None, space: str | None = None) -> tuple[Running, bool]:
    """The running service, and whether it was started here: detached, one for all simultaneous calls.

    Raises: Unavailable, with the last line of the service's log.
    """
    with _one_at_a_time():
        if found := running():
            return found, False
        try:
            return _started(serve_command(), db, space), True
        except _Ended as ended:
            if ended.code != _PORT_TAKEN:
                raise
        return _started([*serve_command(), "--port", "0"], db, space), True


class _Ended(Unavailable):
    """A service that ended before it answered."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def _started(command: list[str], db: str | None, space: str | None) -> Running:
    environment = dict(os.environ)
    if db:
        environment["HOLDFAST_DB"] = db if "://" in db else os.path.abspath(os.path.expanduser(db))
    if space:
        environment["HOLDFAST_SPACE"] = space
    with _log() as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=paths.home(),
            env=environment,
            start_new_session=True,  # it stays when this terminal is closed
            creationflags=_DETACHED,
        )
    _LEFT_BEHIND.append(child)
    for _ in _looks():
        found = running()
        if found is not None and found.pid == child.pid:
            return found
        if child.poll() is not None:
            raise _Ended(f"the service exited at startup: {_last_words()}", child.returncode)
    child.terminate()
    child.wait()
    raise Unavailable(f"the service did not answer within {_STARTS_WITHIN:.0f} s: see {log_file()}")


@contextmanager
def _log() -> Iterator[int]:
    try:
        descriptor = os.open(log_file(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise Unavailable(f"{log_file()} can't be written: {error.strerror}") from None
    try:
        if os.fstat(descriptor).st_size > _MOST_LOG:
            os.ftruncate(descriptor, 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _last_words() -> str:
    try:
        with open(log_file(), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 2_000))
            said = file.read().decode("utf-8", "replace").strip().split("\n")
    except OSError:
        return "no log output"
    return said[-1] or "no log output"


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Holds the lock for starting the service."""
    with ExitStack() as stack:
        try:
            paths.make_folder(paths.home())
            stack.enter_context(file_lock.locked(os.path.join(paths.home(), "start.lock")))
        except OSError as error:
            raise Unavailable(f"{paths.home()} can't be written: {error.strerror}") from None
        yield
