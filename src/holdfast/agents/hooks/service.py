"""Requests to the running service, over loopback and within a deadline.

Uses sockets, because the HTTP client of the standard library takes longer to load than the request takes.
"""

import os
import socket
from collections.abc import Mapping
from json import dumps, loads
from time import monotonic

from holdfast.app import paths

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MOST_FILE = 4_096
_MOST_ANSWER = 256 * 1024
_NAMED = {"db": "database"}


class NoAnswer(Exception):
    """There is no usable answer of the service; the message says why, for the log."""


class NotRunning(NoAnswer):
    """There is no service to ask."""


class Slow(NoAnswer):
    """The service did not answer in time."""


class Unusable(NoAnswer):
    """The service could not be asked, or answered with an error or something unexpected."""


class Lost(Exception):
    """The service began with a request, and there is no answer; the message says why."""


def ask(event: str, body: dict[str, object], until: float) -> dict[str, object]:
    """The service's answer to an event, before the clock (`time.monotonic`) says `until`.

    Raises: NotRunning, Slow, Unusable.
    """
    db = body.get("db")
    try:
        host, port = _address({} if db is None else {"db": db})
        left = until - monotonic()
        asked = dumps({**body, "deadline_ms": max(int(left * 1000), 0)}).encode()
        head = _head(f"/hooks/{event}", host, port, len(asked))
        with socket.socket(_family(host)) as connection:
            _connect(connection, host, port, until)
            connection.sendall(head + b"\r\n" + asked)
            found = _read(_received(connection, until))
        if not isinstance(found.get("context", ""), str):
            raise ValueError("the answer has an unexpected format")
        return found
    except (FileNotFoundError, ProcessLookupError, ConnectionRefusedError) as trouble:
        raise NotRunning(_said(trouble)) from None
    except TimeoutError as trouble:
        raise Slow(_said(trouble)) from None
    except (OSError, ValueError, RecursionError) as trouble:
        raise Unusable(_said(trouble)) from None


def request(
    place: str,
    body: Mapping[str, object],
    wanted: Mapping[str, object],
    *,
    begins_within: float,
    ends_within: float,
    most: int,
) -> dict[str, object]:
    """The answer of a service that says `wanted` of itself. It gets the request when it is ready to begin.

    Raises: NoAnswer, when it has not begun; Lost, when it has.
    """
    began = False
    try:
        host, port = _address(wanted)
        until = monotonic() + begins_within
        asked = dumps(body).encode()
        head = _head(place, host, port, len(asked), "Expect: 100-continue\r\n")
        with socket.socket(_family(host)) as connection:
            _connect(connection, host, port, until)
            connection.sendall(head + b"\r\n")
            ready, _, rest = _received(connection, until, most, until_ready=True).partition(b"\r\n\r\n")
            if not ready.startswith(b"HTTP/1.1 100"):
                raise ValueError(f"the service answered {ready[:40]!r}")
            began = True
            connection.sendall(asked)
            return _read(_received(connection, monotonic() + ends_within, most, rest))
    except (OSError, ValueError, RecursionError) as trouble:
        raise (Lost if began else Unusable)(_said(trouble)) from None


def _head(place: str, host: str, port: int, length: int, more: str = "") -> bytes:
    return (
        f"POST {place} HTTP/1.{1 if more else 0}\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {_token()}\r\n{more}"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n"
    ).encode("ascii")


def _said(trouble: Exception) -> str:
    return f"{type(trouble).__name__}: {trouble}"


def _token() -> str:
    try:
        with open(paths.token_file(), encoding="ascii") as file:
            return file.read(_MOST_FILE).strip()
    except FileNotFoundError:  # which says nothing about the service
        raise ValueError("the token file is missing") from None


def _address(wanted: Mapping[str, object]) -> tuple[str, int]:
    """The address of the service, which must say `wanted` of itself, such as the database that it uses."""
    with open(paths.service_file(), encoding="utf-8") as file:
        found = loads(file.read(_MOST_FILE))
    if not isinstance(found, dict):
        raise ValueError("service.json is not a JSON object")
    url, pid = found.get("url"), found.get("pid")
    scheme, _, rest = url.partition("://") if isinstance(url, str) else ("", "", "")
    host, _, port = rest.rstrip("/").rpartition(":")
    # The token goes nowhere else, and to no stranger that took over a dead service's port.
    if scheme != "http" or host not in LOOPBACK or not port.isdigit():
        raise ValueError("service.json has no loopback address")
    for name, value in wanted.items():
        if found.get(name) != value:
            raise ProcessLookupError(f"the service uses a {_NAMED.get(name, name)} other than {value}")
    if type(pid) is int and pid > 0 and os.name == "posix":
        os.kill(pid, 0)
    return host, int(port)


def _connect(connection: socket.socket, host: str, port: int, until: float) -> None:
    connection.settimeout(_left(until))
    connection.connect(({"localhost": "127.0.0.1", "[::1]": "::1"}.get(host, host), port))


def _family(host: str) -> int:
    return socket.AF_INET6 if host == "[::1]" else socket.AF_INET


def _received(
    connection: socket.socket,
    until: float,
    most: int = _MOST_ANSWER,
    answer: bytes = b"",
    *,
    until_ready: bool = False,
) -> bytes:
    """What the service says to the end, or until it is ready for the body of a request."""
    while len(answer) <= most:
        # Some servers keep the connection open all the same.
        if _missing(answer) == 0 or (until_ready and b"\r\n\r\n" in answer):
            return answer
        connection.settimeout(_left(until))
        piece = connection.recv(65536)
        if not piece:
            return answer
        answer += piece
    raise ValueError("the answer is too long")


def _left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError("no answer in time")
    return left


def _missing(answer: bytes) -> int | None:
    """How many bytes of the body are missing; none when the length is unknown."""
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
