"""Requests to the running service, over loopback and within a deadline.

Uses sockets, because the HTTP client of the standard library takes longer to load than the request takes.
"""

import os
from collections.abc import Mapping
from json import dumps, loads
from time import monotonic

from holdfast.app import paths

TYPE_CHECKING = False

if TYPE_CHECKING:
    import socket

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MAX_FILE = 4_096
_MAX_ANSWER = 256 * 1024
_NAMED = {"db": "database"}


class NoAnswer(Exception):
    """No usable answer of the service; the message is for the log."""


class NotRunning(NoAnswer):
    """The service is not running."""


class Slow(NoAnswer):
    """The service did not answer in time."""


class Unusable(NoAnswer):
    """An error or an invalid response of the service."""


class Lost(Exception):
    """The service began with a request, but its answer is missing; the message says why."""


def ask(event: str, body: dict[str, object], until: float) -> dict[str, object]:
    """The service's answer to an event, until `until` (`time.monotonic`).

    Raises: NotRunning, Slow, Unusable.
    """
    db = body.get("db")
    try:
        host, port = _address({} if db is None else {"db": db})
        left = until - monotonic()
        asked = dumps({**body, "deadline_ms": max(int(left * 1000), 0)}).encode()
        head = _head(f"/hooks/{event}", host, port, len(asked))
        with _socket(host) as connection:
            _connect(connection, host, port, until)
            connection.sendall(head + b"\r\n" + asked)
            found = _read(_received(connection, until))
        if not isinstance(found.get("context", ""), str):
            raise ValueError("the answer has an unexpected format")
        return found
    except (FileNotFoundError, ProcessLookupError, ConnectionRefusedError) as error:
        raise NotRunning(_describe(error)) from None
    except TimeoutError as error:
        raise Slow(_describe(error)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(_describe(error)) from None


def request(
    place: str,
    body: Mapping[str, object],
    wanted: Mapping[str, object],
    *,
    begins_within: float,
    ends_within: float,
    most: int,
) -> dict[str, object]:
    """The answer of a service whose service.json has the `wanted` values.

    The body is sent when the service is ready for it. Raises: NoAnswer, if it did not begin; Lost, if it did.
    """
    began = False
    try:
        host, port = _address(wanted)
        until = monotonic() + begins_within
        asked = dumps(body).encode()
        head = _head(place, host, port, len(asked), "Expect: 100-continue\r\n")
        with _socket(host) as connection:
            _connect(connection, host, port, until)
            connection.sendall(head + b"\r\n")
            ready, _, rest = _received(connection, until, most, until_ready=True).partition(b"\r\n\r\n")
            if not ready.startswith(b"HTTP/1.1 100"):
                raise ValueError(f"the service answered {ready[:40]!r}")
            began = True
            connection.sendall(asked)
            return _read(_received(connection, monotonic() + ends_within, most, rest))
    except (OSError, ValueError, RecursionError) as error:
        raise (Lost if began else Unusable)(_describe(error)) from None


def _head(place: str, host: str, port: int, length: int, more: str = "") -> bytes:
    return (
        f"POST {place} HTTP/1.{1 if more else 0}\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {_token()}\r\n{more}"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n"
    ).encode("ascii")


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _token() -> str:
    try:
        with open(paths.token_file(), encoding="ascii") as file:
            return file.read(_MAX_FILE).strip()
    except FileNotFoundError:  # not an error of the service
        raise ValueError("the token file is missing") from None


def _address(wanted: Mapping[str, object]) -> tuple[str, int]:
    """The address of the service, whose file must have the `wanted` values, such as the database."""
    with open(paths.service_file(), encoding="utf-8") as file:
        found = loads(file.read(_MAX_FILE))
    if not isinstance(found, dict):
        raise ValueError("service.json is not a JSON object")
    url, pid = found.get("url"), found.get("pid")
    scheme, _, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    host, _, port = rest.rstrip("/").rpartition(":")
    # Not to another process on a dead service's port: the token is secret.
    if scheme != "http" or host not in LOOPBACK or not port.isdigit():
        raise ValueError("service.json has no loopback address")
    for name, value in wanted.items():
        if found.get(name) != value:
            raise ProcessLookupError(f"the service uses a {_NAMED.get(name, name)} other than {value}")
    if type(pid) is int and pid > 0 and os.name == "posix":
        os.kill(pid, 0)
    return host, int(port)


def _connect(connection: "socket.socket", host: str, port: int, until: float) -> None:
    connection.settimeout(_time_left(until))
    connection.connect(({"localhost": "127.0.0.1", "[::1]": "::1"}.get(host, host), port))


def _socket(host: str) -> "socket.socket":
    import socket  # not before there is a service to ask

    return socket.socket(socket.AF_INET6 if host == "[::1]" else socket.AF_INET)


def _received(
    connection: "socket.socket",
    until: float,
    most: int = _MAX_ANSWER,
    answer: bytes = b"",
    *,
    until_ready: bool = False,
) -> bytes:
    """The whole answer, or its start until the service is ready for the body of a request."""
    while len(answer) <= most:
        # Some servers keep the connection open anyway.
        if _missing(answer) == 0 or (until_ready and b"\r\n\r\n" in answer):
            return answer
        connection.settimeout(_time_left(until))
        piece = connection.recv(65536)
        if not piece:
            return answer
        answer += piece
    raise ValueError("the answer is too long")


def _time_left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError("no answer in time")
    return left


def _missing(answer: bytes) -> int | None:
    """The missing bytes of the body; None if the length is unknown."""
    head, end, body = answer.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n") if end else ():
        name, _, value = line.partition(b":")
        if name == b"content-length" and value.strip().isdigit():
            return int(value) - len(body)
    return None


def _read(answer: bytes) -> dict[str, object]:
    head, end, body = answer.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    if not end or not words[0].startswith(b"HTTP/1.") or words[1:2] != [b"200"]:
        raise ValueError(f"the service answered {head[:40]!r}")
    if _missing(answer) not in (None, 0):
        raise ValueError("the answer is truncated")
    found = loads(body)
    if not isinstance(found, dict):
        raise ValueError("the answer has an unexpected format")
    return found
