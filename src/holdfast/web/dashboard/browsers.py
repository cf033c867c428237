"""Which browsers are signed in, the one-time links that let one in, and what the guard asks about them.

Of every secret only its hash is kept: links in memory, browsers in a private file, so that a restart of the
service signs nobody out. A browser may do what the token may that it came in with, for as long as that holds.
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
_MOST_LINKS: Final = 100
_MOST_BROWSERS: Final = 200
FREE_FAILURES: Final = 5  # a person mistypes
LONGEST_WAIT: Final = 300.0  # seconds; after twice as long without a failure all is forgotten
_MOST_ADDRESSES: Final = 10_000

_log = logging.getLogger(__name__)

Held = Callable[[str], Grant | None]  # a token's hash to what its holder may do


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
            while len(self._links) >= _MOST_LINKS:
                self._links.pop(next(iter(self._links)))
            self._links[hashed(code)] = self._now() + LINK_SECONDS
        return code

    def by_link(self, code: str) -> str | None:
        """The secret of a browser that came with a link's code; none if that is used, old or unknown."""
        with self._lock:
            until = self._links.pop(hashed(code), 0.0)
        return self._signed_in(self._own) if until > self._now() else None

    def by_token(self, token: str) -> str | None:
        """The secret of a browser whose person showed a token; none for a token that opens nothing."""
        token_hash = hashed(token)
        return self._signed_in(token_hash) if self._held(token_hash) is not None else None

    def admit(self, secret: str) -> Grant | None:
        """What a browser may do; none for one that is not signed in."""
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
            while len(known) >= _MOST_BROWSERS:
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
    """What the file says; a damaged one signs everybody out and nothing else."""
    try:
        with open(file, encoding="utf-8") as stored:
            told: Any = json.load(stored)
        return {str(name): _Browser(str(one["token"]), float(one["until"])) for name, one in told.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def hashed(secret: str) -> str:
    """What is kept of a secret, which is 256 bits of chance."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def form_key(secret: str) -> str:
    """What a form of this browser carries, so that nobody else's page can send it."""
    return hmac.new(secret.encode("utf-8", "replace"), b"form", "sha256").hexdigest()


class BrowserAccess:
    """What the guard asks: which addresses are browsers', by their first part, and whose a cookie is."""

    def __init__(self, browsers: Browsers, firsts: Collection[str]) -> None:
        self._browsers = browsers
        self._firsts = frozenset(firsts) | OPEN

    def covers(self, path: str) -> bool:
        return first_of(path) in self._firsts

    def is_open(self, path: str) -> bool:
        return first_of(path) in OPEN and path != f"{LOGIN}/link"

    def secret(self, headers: Mapping[str, str]) -> str:
        """What the cookie of this service holds; empty without one."""
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
    """The name of the cookie that tells which space a browser chose last."""
    return f"{cookie_name(host)}-space"


def cookie_name(host: str) -> str:
    """Browsers share cookies between ports: two services of one machine must not sign each other out."""
    port = host.rpartition("]")[2].rpartition(":")[2]
    return f"holdfast-{port}" if port.isdigit() else "holdfast"


class LoginAttempts:
    """By the address that they come from. Nobody is made to wait in a thread: they are told to come back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how often, and when last

    def wait(self, address: str) -> int:
        """Seconds before which an address may not try again; 0 when it may."""
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
            if len(self._failed) > _MOST_ADDRESSES:
                self._failed.popitem(last=False)

    def succeeded(self, address: str) -> None:
        with self._lock:
            self._failed.pop(address, None)
