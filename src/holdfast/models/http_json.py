"""JSON over HTTP with a total deadline, retry and limits; no redirects, and no proxy for this machine."""

import http.client
import ipaddress
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import Unavailable

LARGEST = 32 * 1024 * 1024  # bytes of an answer
_BACKOFF = 0.25  # seconds before the retry, unless the server sends Retry-After
_AGAIN = frozenset({429, 500, 502, 503, 504})
_HINTS = {401: " (is the key right?)", 403: " (is the key right?)", 404: " (is the model name right?)"}
_SHOWN = 160  # characters of a server's text


class ServerRefusal(Unavailable):
    """The server failed or refused; `wait` is its Retry-After in seconds."""

    def __init__(
        self, message: str, *, again: bool = False, wait: float | None = None, code: int | None = None
    ) -> None:
        super().__init__(message)
        self.again = again  # whether a retry may succeed
        self.wait = wait
        self.code = code  # None: no response


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a server, and its key, which appears in no message."""

    url: str
    key: str | None = field(default=None, repr=False)

    def post(self, path: str, body: object, *, within: float) -> Any:
        """The response to `body`; retried once if that may help. Raises: ServerRefusal."""
        ends = time.monotonic() + within
        request = urllib.request.Request(
            self.url + path, data=json.dumps(body).encode("ascii"), headers=self._headers(), method="POST"
        )
        try:
            return self._send_within(request, within)
        except ServerRefusal as error:
            pause = _BACKOFF if error.wait is None else error.wait
            left = ends - time.monotonic() - pause
            if not error.again or left <= 0:
                raise
            time.sleep(pause)
            return self._send_within(request, left)

    def probe(self, path: str, *, within: float) -> None:
        """Checks that the server responds, with any status. Raises: ServerRefusal."""
        request = urllib.request.Request(self.url + path, headers=self._headers())
        try:
            self._send_within(request, within)
        except ServerRefusal as error:
            if error.code is None:
                raise

    def _headers(self) -> dict[str, str]:
        asks = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "holdfast"}
        return {**asks, "Authorization": f"Bearer {self.key}"} if self.key else asks

    def _send_within(self, request: urllib.request.Request, within: float) -> Any:
        """The response, within `within` seconds in total.

        A socket's timeout restarts with every byte and does not cover name resolution, so the request runs
        in a thread.
        """
        answers: list[Any] = []
        troubles: list[ServerRefusal] = []

        def work() -> None:
            try:
                answers.append(self._send(request, within))
            except ServerRefusal as error:
                troubles.append(error)

        thread = threading.Thread(target=work, daemon=True, name="holdfast-embedder")
        thread.start()
        thread.join(within)
        if answers:
            return answers[0]
        raise troubles[0] if troubles else self._error(f"did not answer within {within:.3g} s")

    def _send(self, request: urllib.request.Request, within: float) -> Any:
        try:
            with _opener(self.url).open(request, timeout=within) as answer:
                text = answer.read(LARGEST + 1)
                missing = answer.length  # of the announced bytes
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise self._http_error(refusal) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._connection_error(error, within) from None
        if len(text) > LARGEST:
            raise self._error(f"returned more than {LARGEST // 2**20} MiB", code=200)
        if missing:
            raise self._error("closed the connection early", again=True)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):  # HTML, a truncated response, binary data
            raise self._error(f"did not return JSON but {_one_line(text)!r}", code=200) from None

    def _http_error(self, refusal: urllib.error.HTTPError) -> ServerRefusal:
        code = refusal.code
        if 300 <= code < 400:
            goes = _one_line((refusal.headers.get("Location") or "elsewhere").encode())
            return self._error(f"redirects to {goes}: use that address if it is right", code=code)
        try:
            said = _one_line(refusal.read(4 * _SHOWN))
        except (OSError, http.client.HTTPException):
            said = ""
        message = f"answered {code}{_HINTS.get(code, '')}" + (f": {said}" if said else "")
        wait = seconds(refusal.headers.get("Retry-After")) if code in _AGAIN else None
        return self._error(message, again=code in _AGAIN, wait=wait, code=code)

    def _connection_error(self, error: Exception, within: float) -> ServerRefusal:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        match reason:
            case TimeoutError():
                return self._error(f"did not answer within {within:.3g} s")
            case ConnectionRefusedError():
                return self._error("is unreachable: connection refused")
            case socket.gaierror():
                return self._error("is unreachable: unknown host name")
            case http.client.IncompleteRead() | ConnectionResetError():
                return self._error("closed the connection early", again=True)
            case _:
                return self._error(f"can't be used: {reason or type(reason).__name__}")

    def _error(
        self, message: str, *, again: bool = False, wait: float | None = None, code: int | None = None
    ) -> ServerRefusal:
        said = message.replace(self.key, "***") if self.key else message
        return ServerRefusal(f"{self.url} {said}", again=again, wait=wait, code=code)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirects, so that a key and private texts reach no other server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(url: str) -> urllib.request.OpenerDirector:
    proxies = urllib.request.ProxyHandler({} if is_here(url) else None)
    return urllib.request.build_opener(proxies, _NoRedirect())


def is_here(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def seconds(text: str | None) -> float | None:
    """The seconds of a Retry-After header, which may also be a date."""
    if not text:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return float(text.strip()[:6])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _one_line(text: bytes) -> str:
    """The beginning of a server's text, on one line."""
    words = text[: 4 * _SHOWN].decode("utf-8", "replace").split()
    line = "".join(letter for letter in " ".join(words) if letter.isprintable())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
