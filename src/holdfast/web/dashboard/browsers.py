"""Signed-in browsers, one-time login links, and the cookie check of the guard.

Only hashes of secrets are kept, in the database, so that browsers stay signed in after a restart and at every
service. A browser has the rights of the token that it signed in with, until that is revoked.
"""

import hashlib
import hmac
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from math import ceil
from typing import Any, Final

from starlette.responses import Response

from holdfast.domain.access import EVERYTHING, Grant
from holdfast.domain.space import Browser
from holdfast.engine.ports import BrowserRows, Clock
from holdfast.engine.security_log import tell
from holdfast.errors import Unavailable

OPEN: Final = frozenset({"login", "static"})
LOGIN: Final = "/login"
LINK_SECONDS: Final = 15 * 60
BROWSER_SECONDS: Final = 30 * 24 * 3600
_MAX_LINKS: Final = 100  # of one token
_MAX_BROWSERS: Final = 200
FREE_FAILURES: Final = 5  # a person mistypes
LONGEST_WAIT: Final = 300.0  # seconds; after twice as long without a failure all is forgotten
_MAX_ADDRESSES: Final = 10_000

_log = logging.getLogger(__name__)

Held = Callable[[str], Grant | None]  # a token's hash to its grant
Rows = Callable[[], BrowserRows]  # raises Unavailable
ErrorPage = Callable[[int, str, Mapping[str, str]], Response]


class Browsers:
    """Shared by all threads of the service, and through the database by all of its services.

    What can't be written there, on a full disk, is known to this service alone until it ends; what can't be
    read, with the server away, is as it was last read.
    """

    def __init__(self, *, own: str, held: Held, rows: Rows, clock: Clock) -> None:
        self._own = hashed(own)
        self._held = held
        self._rows = rows
        self._clock = clock
        self._lock = threading.Lock()
        self._unsaved: dict[str, Browser] = {}
        self._last_read: OrderedDict[str, Browser] = OrderedDict()

    def link(self) -> str:
        """The code of a new link: lets one browser in, once, within a quarter of an hour."""
        return self._new(self._own, link=True)

    def by_link(self, code: str) -> str | None:
        """The secret of a new browser for a link's code; None if the code is used, expired or unknown."""
        name, now = hashed(code), self._clock()
        with self._lock:
            unsaved = self._unsaved.pop(name, None)
        there = unsaved.until > now if unsaved else self._rows().use_link(name, self._own, now)
        if not there:
            return None
        tell(EVERYTHING, "signed in a browser by a link")
        return self._new(self._own, link=False)

    def by_token(self, token: str) -> str | None:
        """The secret of a new browser for a token; None for a token without permissions."""
        token_hash = hashed(token)
        grant = self._held(token_hash)
        if grant is None:
            return None
        tell(grant, "signed in a browser")
        return self._new(token_hash, link=False)

    def admit(self, secret: str) -> Grant | None:
        """The grant of a browser; None if it is not signed in."""
        known = self._known(hashed(secret))
        if known is None or known.until <= self._clock():
            return None
        return self._held(known.token)

    def leave(self, secret: str) -> None:
        """Signs a browser out."""
        with self._lock:
            self._unsaved.pop(hashed(secret), None)
            self._last_read.pop(hashed(secret), None)
        self._rows().remove(hashed(secret))

    def tell(self, secret: str, notice: Mapping[str, Any]) -> bool:
        """Leaves a notice for its next page, whichever service makes it; false if it is known to none."""
        with suppress(Unavailable):
            return self._rows().leave_notice(hashed(secret), notice)
        return False

    def told(self, secret: str) -> Mapping[str, Any] | None:
        """The notice for a browser, once."""
        with suppress(Unavailable):
            return self._rows().take_notice(hashed(secret))
        return None

    def _new(self, token_hash: str, *, link: bool) -> str:
        secret, now = secrets.token_urlsafe(32), self._clock()
        until = now + timedelta(seconds=LINK_SECONDS if link else BROWSER_SECONDS)
        made = Browser(hash=hashed(secret), token=token_hash, link=link, until=until)
        try:
            self._rows().add(made, now=now, most=_MAX_LINKS if link else _MAX_BROWSERS)
        except Unavailable as error:
            _log.warning("signed-in browsers could not be saved: %s", error)
            with self._lock:
                self._unsaved[made.hash] = made
        return secret

    def _known(self, name: str) -> Browser | None:
        with self._lock:
            unsaved = self._unsaved.get(name)
            last = self._last_read.get(name)
        if unsaved is not None:
            return None if unsaved.link else unsaved
        try:
            found = self._rows().get(name)
        except Unavailable:
            if last is None:
                raise
            return last
        with self._lock:
            self._last_read.pop(name, None)
            if found is not None:
                self._last_read[name] = found
                if len(self._last_read) > _MAX_BROWSERS:
                    self._last_read.popitem(last=False)
        return found


def hashed(secret: str) -> str:
    """The stored hash of a secret, which has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def form_key(secret: str) -> str:
    """The key in every form for this browser, so that pages of other origins can't submit one."""
    return hmac.new(secret.encode("utf-8", "replace"), b"form", "sha256").hexdigest()


class BrowserAccess:
    """For the guard: which paths belong to the dashboard, and which browser a cookie belongs to."""

    def __init__(self, browsers: Browsers, firsts: Collection[str], wrong: ErrorPage) -> None:
        self._browsers = browsers
        self.wrong = wrong
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
