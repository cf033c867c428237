"""Reads the files that public benchmarks come in: JSON, a list or lines, gzipped or not.

Knows nothing of what the entries mean; what is wrong is told with its place, so that a person finds it.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_GZIP = b"\x1f\x8b"
_BETWEEN = " \t\r\n"

Wanted = TypeVar("Wanted")


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of a file, or one inside another, and where it stands."""

    place: str
    fields: dict[str, Any]

    def get(self, name: str, kind: type[Wanted]) -> Wanted:
        """The field, which has to be there and of that kind.

        Raises: ValueError.
        """
        if name not in self.fields:
            raise ValueError(f"{self.place}: {name} is missing")
        value = self.fields[name]
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            raise ValueError(f"{self.place}: {name} is {shown(value)}, which is no {_NAMES[kind]}")
        return value

    def texts(self, name: str) -> list[str]:
        """The field as a list of texts.

        Raises: ValueError.
        """
        values: list[Any] = self.get(name, list)
        for value in values:
            if not isinstance(value, str):
                raise ValueError(f"{self.place}: {name} holds {shown(value)}, which is no text")
        return values

    def inside(self, name: str, what: str) -> "list[Entry]":
        """The objects of a list in this entry, each to be called `what` with its number.

        Raises: ValueError.
        """
        return objects(self.get(name, list), f"{self.place}, {what}")


_NAMES = {str: "text", int: "whole number", list: "list", dict: "object"}


def objects(values: Sequence[Any], what: str) -> list[Entry]:
    """The values, all of which have to be objects.

    Raises: ValueError.
    """
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise ValueError(f"{what} {number}: {shown(value)} is no object")
    return [Entry(f"{what} {number}", value) for number, value in enumerate(values, start=1)]


def entries(path: Path) -> Iterator[Entry]:
    """The objects of a file: a list of them, or one after another as in JSON lines.

    Raises: ValueError, with the entry and its line; OSError.
    """
    text = _text(path)
    decoder = json.JSONDecoder()
    at = _next(text, 0)
    in_list = text.startswith("[", at)
    at = _next(text, at + 1) if in_list else at
    number = 0
    while at < len(text) and not (in_list and text[at] == "]"):
        number += 1
        place = f"entry {number} (line {_line(text, at)})"
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise ValueError(f"{place}: not JSON ({error.msg} at line {_line(text, error.pos)})") from None
        if not isinstance(value, dict):
            raise ValueError(f"{place}: {shown(value)} is no object")
        yield Entry(place, value)
        at = _next(text, at)
        if in_list and text.startswith(",", at):
            at = _next(text, at + 1)
        elif in_list and not text.startswith("]", at):
            raise ValueError(f"{place}: the list ends here without its ]: was the file cut short?")
    if number == 0:
        raise ValueError("there is no entry in it")


def shown(value: Any) -> str:
    """A value as it may stand in a message."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start:,}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError("a damaged gzip file: fetch it again") from None


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
