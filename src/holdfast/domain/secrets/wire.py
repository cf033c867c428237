"""Credentials in protocols and command lines: HTTP headers, cookies, URLs, flags such as `-p` and `-u me:x`.

Only the secret part goes, so a redacted URL still shows its host. Long flags (`--password x`) are in
`assignments`.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from functools import cache

from holdfast.domain.secrets.spans import PIECE, Found, lazy, matches
from holdfast.domain.secrets.values import is_placeholder, looks_random

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
    """The `user:password@host` of documentation."""
    return is_placeholder(password) or password in ("...", "PASSWORD") or (password == user == "user")


_VALUE = r"(?:\"(?P<double>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'|(?P<bare>[^\s\"'|&;<>]{1,200}))"

# program, its flag up to the value
_FLAGS: tuple[tuple[str, str], ...] = (
    ("sshpass", r"\s-p\s{0,2}"),
    ("mysql", r"\s-p(?=[^\s])"),
    ("mariadb", r"\s-p(?=[^\s])"),
    ("login", r"\s-p\s{1,2}"),
    ("mongo", r"\s-p\s{1,2}"),
    ("redis-cli", r"\s-a\s{1,2}"),
    ("curl", r"\s(?:-u|--user|--proxy-user|-U)[\s=]{0,2}[\"']?[^\s:\"']{1,80}:"),
    ("wget", r"\s--(?:http-|ftp-|proxy-)?password[\s=]"),
    ("http", r"\s-a\s{1,2}[^\s:]{1,80}:"),
    ("ldap", r"\s-w\s{1,2}"),
    ("smbclient", r"\s-U\s{1,2}[^\s%]{1,80}%"),
    ("openssl", r"\spass:"),
    ("keytool", r"\s-(?:store|key)pass\s{1,2}"),
    ("-p ", r"(?<!\S)-p\s{1,2}(?=\S{0,80}[!@#$%^*]|[\"']?[A-Za-z]{4,20}[0-9]{1,4}\b)"),
    (" -u ", r"(?<=\s)-u\s{1,2}[^\s-][^\s]{0,80}\s{1,2}-p\s{0,2}"),
)

_LONGEST_LINE = 1000


@cache
def _flag(expression: str) -> re.Pattern[str]:
    return re.compile(expression + _VALUE)


#: A port, a port mapping, an address, a path or a further flag.
_not_a_password = lazy(r"[\d.:/-]{1,40}(?:/(?:tcp|udp))?|[/~.].*|-.*|[A-Z_]+|[a-z]{1,4}")
# Programs whose -p is a port, a path, a package or a switch.
_OTHER_P = (
    "mkdir", "ssh ", "scp", "run", "cargo", "nmap", "cp ", "git", "install", "tar", "read", "ps ", "pnpm",
    "npm", "tsc", "nc ", "patch", "rsync", "sftp", "perl", "python", "pytest", "make", "unzip", "kill",
    "lsof", "docker", "iptables",
)  # fmt: skip


def find_commands(text: str) -> Found:
    """Passwords in short flags of programs."""
    for program, flag in _FLAGS:
        yield from _flag_value(text, program, flag)


def _flag_value(text: str, program: str, flag: str) -> Found:
    at, pause = text.find(program), PIECE
    while at >= 0:
        if at >= pause:
            pause = at + PIECE
            yield None
        line_end = text.find("\n", at, at + _LONGEST_LINE)
        end = line_end if line_end >= 0 else min(len(text), at + _LONGEST_LINE)
        if program == "-p " and any(
            other in text[max(0, at - 80) : at].rpartition("\n")[2] for other in _OTHER_P
        ):
            end = at + 3
        for found in _flag(flag).finditer(text, at, end):
            group = found.lastgroup or "bare"
            value = found[group]
            if len(value) >= 3 and not is_placeholder(value) and not _not_a_password().fullmatch(value):
                yield *found.span(group), "password"
        # The rest of the line has been read: a line is looked at once per program.
        at = text.find(program, end)
