"""Passwords on command lines whose flags do not name them, such as `-p` and `-u me:x`.

Knows a few programs and their short flags. Long flags (`--password x`) are the
work of `assignments`.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.domain.secrets.spans import PIECE, Found, lazy
from holdfast.domain.secrets.values import is_placeholder

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
    """Passwords given to programs by short flags."""
    for program, flag in _FLAGS:
        yield from _given(text, program, flag)


def _given(text: str, program: str, flag: str) -> Found:
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
