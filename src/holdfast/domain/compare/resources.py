"""Reads the word lists that ship beside this package, each once and only when first needed.

Knows their file format; what a list is used for is the business of its reader.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


def text(name: str) -> str:
    """The whole of one file."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def lines(name: str) -> list[str]:
    """The lines of a word list without comments and blanks."""
    return [line.strip() for line in text(name).splitlines() if line.strip() and not line.startswith("#")]


def listed(entries: str) -> list[str]:
    """The entries of a comma-parted list."""
    return [entry.strip() for entry in entries.split(",") if entry.strip()]


@cache
def irregular_forms() -> dict[str, str]:
    """Base form by inflected form."""
    forms: dict[str, str] = {}
    for line in lines("irregular.txt"):
        base, *inflected = line.split()
        forms |= dict.fromkeys((base, *inflected), base)
        if base.endswith("e") and len(base) > 3:  # taking has lost its e when it gets here
            forms.setdefault(base[:-1], base)
    return forms


@cache
def role(name: str) -> frozenset[str]:
    """The words that play one part in a sentence, as listed."""
    return _roles()[name]


@cache
def _roles() -> dict[str, frozenset[str]]:
    roles: dict[str, frozenset[str]] = {}
    for line in lines("roles.txt"):
        name, words = line.split(":", 1)
        roles[name] = roles.get(name, frozenset()) | frozenset(words.split())
    return roles
