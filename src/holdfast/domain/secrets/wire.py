"""Credentials the way protocols carry them: HTTP headers, cookies, URLs.

Knows where in a header or URL the secret part stands and leaves the rest, so that
a redacted URL still says which host it meant. Knows nothing of key=value.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64

from holdfast.domain.secrets.entropy import looks_random
from holdfast.domain.secrets.spans import PIECE, Found, lazy, matches
from holdfast.domain.secrets.values import is_placeholder

_SESSION = (
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "csrf",
    "xsrf",
    "remember",
    "login",
    "secret",
    "ticket",
    "key",
)
_ATTRIBUTES = frozenset(
    ("path", "expires", "domain", "max-age", "samesite", "priority", "version", "comment")
)

# A cookie header is one line; longer ones are cut here, and the rest read as ordinary text.
_LONGEST_HEADER = 8192

_authorization = lazy(
    r"authorization[\"'`]?\]?\s{0,4}(?:[:=,]|=>)\s{0,4}[\"'`]?"
    r"(?:(?:basic|bearer|token|digest|negotiate|api-?key|apitoken|bot|key|ssws|genie\w{0,40}|splunk)\s{1,4})?"
    r"(?P<value>[A-Za-z0-9._~+/=:!@#$%^&*-]{6,})",
    re.IGNORECASE,
)
_scheme = lazy(r"b(?:earer|asic)(?:\s{1,4}|%20|\+)(?P<value>[A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
_cookie = lazy(
    r"cookie(?:s?[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?=[^\s=;\"']{1,80}=)|(?<=--cookie)[ =][\"']?)",
    re.IGNORECASE,
)
_crumb = lazy(r"(?P<name>[^\s=;,\"'\\]{1,80})=(?P<value>[^\s;\"'\\]{0,4096})|[\"'\n\\]")
# Greedy up to the last @ before the path, because people do not encode an @ in a password.
_userinfo = lazy(
    r"(?P<user>[^\s/?#@:\"'`<>\\]{0,128})(?::(?P<password>[^\s/?\"'`<>\\]{1,256}))?@(?=[\w\[$%{-])"
)


def find_wire(text: str) -> Found:
    """Secrets in headers, cookies and URLs."""
    for find in (_authorizations, _schemes, _cookies, _urls):
        yield from find(text)


def _authorizations(text: str) -> Found:
    for header in matches(_authorization(), text):
        if header is None:
            yield None
            continue
        value = header["value"]
        if not is_placeholder(value) and (looks_random(value) or _is_pair(value)):
            yield *header.span("value"), "authorization"


def _schemes(text: str) -> Found:
    for told in matches(_scheme(), text):
        if told is None:
            yield None
            continue
        value = told["value"].rstrip(".")
        start = told.start("value")
        basic = told[0][1] in "aA"
        drawn = _is_pair(value) if basic else looks_random(value, at_least=12)
        if drawn and not is_placeholder(value):
            yield start, start + len(value), "basic-auth" if basic else "bearer-token"


def _is_pair(value: str) -> bool:
    """Base64 of `user:password`, as basic authentication sends it."""
    try:
        plain = a2b_base64(value[:2048].rstrip("=") + "=" * (-len(value[:2048].rstrip("=")) % 4))
    except (Error, ValueError):
        return False
    return b":" in plain[1:] and all(31 < byte < 127 for byte in plain)


def _cookies(text: str) -> Found:
    done = 0
    for header in matches(_cookie(), text):
        if header is None:
            yield None
        if header is None or header.start() < done:
            continue
        for crumb in _crumb().finditer(text, header.end(), header.end() + _LONGEST_HEADER):
            name, value = crumb["name"], crumb["value"]
            done = crumb.end()
            if name is None:
                break
            if name.lower() not in _ATTRIBUTES and _is_session(name.lower(), value):
                yield *crumb.span("value"), "cookie"


def _is_session(name: str, value: str) -> bool:
    if len(value) < 6 or is_placeholder(value):
        return False
    if any(part in name for part in _SESSION) and any(c.isdigit() for c in value):
        return True
    return looks_random(value, at_least=16)


def _urls(text: str) -> Found:
    at, pause = text.find("://"), PIECE
    while at >= 0:
        if at >= pause:
            pause = at + PIECE
            yield None
        found = _userinfo().match(text, at + 3)
        if found and found["password"] is not None:
            if not _is_example(found["password"], found["user"]):
                yield *found.span("password"), "url-password"
        elif found and looks_random(found["user"], at_least=16) and not is_placeholder(found["user"]):
            yield *found.span("user"), "url-token"
        at = text.find("://", at + 3)


def _is_example(password: str, user: str) -> bool:
    """The documentation's user:password@host, which is nobody's."""
    return is_placeholder(password) or password in ("...", "PASSWORD") or (password == user == "user")
