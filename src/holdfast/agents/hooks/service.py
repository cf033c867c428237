"""One request to the running service, over loopback and within a deadline.

Uses sockets, because the HTTP client of the standard library takes longer to load than the request takes.
"""

import os
import socket
from json import dumps, loads
from time import monotonic

from holdfast.app import paths

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MAX_FILE = 4_096
_MAX_ANSWER = 256 * 1024


class NoAnswer(Exception):
    """No usable answer of the service; the message is for the log."""


class NotRunning(NoAnswer):
    """The service is not running."""


class Slow(NoAnswer):
    """The service did not answer in time."""


class Unusable(NoAnswer):
    """An error or an invalid response of the service."""


def ask(event: str, body: dict[str, object], until: float) -> dict[str, object]:
    """The service's answer to an event, until `until` (`time.monotonic`).

    Raises: NotRunning, Slow, Unusable.
    """
    try:
        host, port = _address(body.get("db"))
        token = _token()
        left = until - monotonic()
        asked = dumps({**body, "deadline_ms": max(int(left * 1000), 0)}).encode()
        head = (
            f"POST /hooks/{event} HTTP/1.0\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(asked)}\r\nConnection: close\r\n\r\n"
        )
        return _read(_exchanged(host, port, head.encode("ascii") + asked, until))
    except (FileNotFoundError, ProcessLookupError, ConnectionRefusedError) as error:
        raise NotRunning(_describe(error)) from None
    except TimeoutError as error:
        raise Slow(_describe(error)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(_describe(error)) from None


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _token() -> str:
    try:
        with open(paths.token_file(), encoding="ascii") as file:
            return file.read(_MAX_FILE).strip()
    except FileNotFoundError:  # not an error of the service
        raise ValueError("the token file is missing") from None


def _address(db: object) -> tuple[str, int]:
    """The address of the service; `db` is the database that it must use, None for any."""
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
    if db is not None and found.get("db") != db:
        raise ProcessLookupError(f"the service uses a database other than {db}")
    if type(pid) is int and pid > 0 and os.name == "posix":
        os.kill(pid, 0)
    return host, int(port)


def _exchanged(host: str, port: int, request: bytes, until: float) -> bytes:
    family = socket.AF_INET6 if host == "[::1]" else socket.AF_INET
    numeric = {"localhost": "127.0.0.1", "[::1]": "::1"}.get(host, host)
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(_time_left(until))
        connection.connect((numeric, port))
        connection.sendall(request)
        answer = b""
        while len(answer) <= _MAX_ANSWER:
            connection.settimeout(_time_left(until))
            piece = connection.recv(65536)
            if not piece:
                return answer
            answer += piece
            if _missing(answer) == 0:  # some servers keep the connection open anyway
                return answer
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
    if not isinstance(found, dict) or not isinstance(found.get("context", ""), str):
        raise ValueError("the answer has an unexpected format")
    return found
