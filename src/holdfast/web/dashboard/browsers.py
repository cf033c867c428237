"""Signed-in browsers, one-time login links, and the cookie check of the guard.

Only hashes of secrets are kept: links in memory, browsers in a private file, so that they stay signed in
after a restart. A browser has the rights of the token that it signed in with, until that is revoked.
"""

import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from holdfast.app import paths
from holdfast.domain.access import Grant

OPEN: Final = frozenset({"login", "static"})
LOGIN: Final = "/login"
LINK_SECONDS: Final = 15 * 60
BROWSER_SECONDS: Final = 30 * 24 * 3600
_MAX_LINKS: Final = 100
_MAX_BROWSERS: Final = 200
FREE_FAILURES: Final = 5  # a person mistypes
LONGEST_WAIT: Final = 300.0  # seconds; after twice as long without a failure all is forgotten
_MAX_ADDRESSES: Final = 10_000

_log = logging.getLogger(__name__)

Held = Callable[[str], Grant | None]  # a token's hash to its grant


@dataclass(frozen=True, slots=True)
class _Browser:
    token: str  # the hash of the token that it came in with
    until: float


class Browsers:
    """Shared by all threads of the service."""

    def __init__(self, *, own: str, held: Held, file: str, now: Callable[[], float] = time.time) -> None:
        self._own = hashed(own)
        self._held = held
        self._file = file
        self._now = now
        self._lock = threading.Lock()
        self._links: dict[str, float] = {}
        self._known: dict[str, _Browser] | None = None

    def link(self) -> str:
        """The code of a new link: lets one browser in, once, within a quarter of an hour."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._links = {made: until for made, until in self._links.items() if until > self._now()}
            while len(self._links) >= _MAX_LINKS:
                self._links.pop(next(iter(self._links)))
            self._links[hashed(code)] = self._now() + LINK_SECONDS
        return code

    def by_link(self, code: str) -> str | None:
        """The secret of a new browser for a link's code; None if the code is used, expired or unknown."""
        with self._lock:
            until = self._links.pop(hashed(code), 0.0)
        return self._signed_in(self._own) if until > self._now() else None

    def by_token(self, token: str) -> str | None:
        """The secret of a new browser for a token; None for a token without permissions."""
        token_hash = hashed(token)
        return self._signed_in(token_hash) if self._held(token_hash) is not None else None

    def admit(self, secret: str) -> Grant | None:
        """The grant of a browser; None if it is not signed in."""
        with self._lock:
            known = self._read().get(hashed(secret))
        if known is None or known.until <= self._now():
            return None
        return self._held(known.token)

    def leave(self, secret: str) -> None:
        """Signs a browser out."""
        with self._lock:
            known = dict(self._read())
            if known.pop(hashed(secret), None) is not None:
                self._write(known)

    def _signed_in(self, token_hash: str) -> str:
        secret = secrets.token_urlsafe(32)
        with self._lock:
            now = self._now()
            known = {name: one for name, one in self._read().items() if one.until > now}
            while len(known) >= _MAX_BROWSERS:
                known.pop(min(known, key=lambda name: known[name].until))
            known[hashed(secret)] = _Browser(token_hash, now + BROWSER_SECONDS)
            self._write(known)
        return secret

    def _read(self) -> dict[str, _Browser]:
        if self._known is None:
            self._known = _read(self._file)
        return self._known

    def _write(self, known: dict[str, _Browser]) -> None:
        self._known = known
        told = {name: {"token": one.token, "until": one.until} for name, one in known.items()}
        try:
            paths.write_private(self._file, json.dumps(told).encode())
        except OSError as error:  # a full disk: they are signed in until the service ends
            _log.warning("signed-in browsers could not be saved: %s", error.strerror)


def _read(file: str) -> dict[str, _Browser]:
    """Reads the file; a damaged one only signs everybody out."""
    try:
        with open(file, encoding="utf-8") as stored:
            told: Any = json.load(stored)
        return {str(name): _Browser(str(one["token"]), float(one["until"])) for name, one in told.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def hashed(secret: str) -> str:
    """The stored hash of a secret, which has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def form_key(secret: str) -> str:
    """The key in every form for this browser, so that pages of other origins can't submit one."""
    return hmac.new(secret.encode("utf-8", "replace"), b"form", "sha256").hexdigest()


class BrowserAccess:
    """For the guard: which paths belong to the dashboard, and which browser a cookie belongs to."""

    def __init__(self, browsers: Browsers, firsts: Collection[str]) -> None:
        self._browsers = browsers
        self._firsts = frozenset(firsts) | OPEN

    def covers(self, path: str) -> bool:
        return first_of(path) in self._firsts

    def is_open(self, path: str) -> bool:
        return first_of(path) in OPEN and path != f"{LOGIN}/link"

    def secret(self, headers: Mapping[str, str]) -> str:
        """The cookie's value; empty without one."""
        name = cookie_name(headers.get("host", ""))
        for part in headers.get("cookie", "").split(";"):
            found, _, value = part.strip().partition("=")
            if found == name:
                return value
        return ""

    def admit(self, secret: str) -> Grant | None:
        return self._browsers.admit(secret)

    @property
    def login(self) -> str:
        return LOGIN


def first_of(path: str) -> str:
    """`memories` of /memories/a1b2; empty for the root."""
    return path.lstrip("/").partition("/")[0]


def space_cookie(host: str) -> str:
    """The name of the cookie for the space that a browser selected last."""
    return f"{cookie_name(host)}-space"


def cookie_name(host: str) -> str:
    """Browsers share cookies between ports: two services of one machine must not sign each other out."""
    port = host.rpartition("]")[2].rpartition(":")[2]
    return f"holdfast-{port}" if port.isdigit() else "holdfast"


class LoginAttempts:
    """Rate limit of login attempts by address. Excess attempts are rejected at once, not delayed."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how often, and when last

    def wait(self, address: str) -> int:
        """Seconds until the next attempt of an address is allowed; 0 if now."""
        with self._lock:
            count, last = self._failed.get(address, (0, 0.0))
        if count < FREE_FAILURES:
            return 0
        wait = min(2.0 ** min(count - FREE_FAILURES, 10), LONGEST_WAIT)
        return max(ceil(last + wait - self._now()), 0)

    def failed(self, address: str) -> None:
        with self._lock:
            count, last = self._failed.pop(address, (0, 0.0))
            if self._now() - last > 2 * LONGEST_WAIT:
                count = 0
            self._failed[address] = (count + 1, self._now())
            if len(self._failed) > _MAX_ADDRESSES:
                self._failed.popitem(last=False)

    def succeeded(self, address: str) -> None:
        with self._lock:
            self._failed.pop(address, None)
