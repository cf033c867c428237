"""Exports of chat services: conversations.json, plain or in a zip file, read one element at a time."""

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from holdfast.agents.importers.transcript import Collector, Object, TranscriptPart
from holdfast.errors import Invalid

ZIP: Final = b"PK\x03\x04"
_MAX_RATIO: Final = 200  # text is packed to a tenth or so of its size
_LOOKED_AT: Final = 3  # elements that identify the format


def is_export(path: Path) -> bool:
    """Whether a file may be an export: a zip file, or JSON that begins with a list. Raises: OSError."""
    if path.suffix not in (".zip", ".json"):
        return False
    with path.open("rb") as file:
        first = file.read(4096)
    return first.startswith(ZIP) or first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def first_of(path: Path) -> list[Object]:
    """The first objects of an export, to detect its format; None if it can't be read. Raises: OSError."""
    found: list[Object] = []
    try:
        for _, value in conversations(path):
            if not isinstance(value, dict) or len(found) >= _LOOKED_AT:
                break
            found.append(value)
    except Invalid:
        pass  # enough to detect the format; the reader reports the error
    return found


def check_export(path: Path) -> None:
    """Raises: Invalid, for an invalid zip file; OSError."""
    next(conversations(path), None)


@dataclass(frozen=True, slots=True)
class ChatExport:
    """The export of one chat service: `field` of type `kind` marks a conversation, which `take` reads."""

    client: str
    field: str
    kind: type
    take: Callable[[Object, Collector], None]

    def fits(self, first: Sequence[Object]) -> bool:
        """Whether an export with these first objects is one of this service."""
        return bool(first) and all(isinstance(one.get(self.field), self.kind) for one in first)

    def read_from(self, path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
        """All conversations of an export, whatever `most` is; none if it was already read to its end.

        Raises: Invalid, with the line; OSError.
        """
        collector = Collector(self.client)
        size = path.stat().st_size
        if size == offset:
            return collector.part(offset)
        for _, found in conversations(path):
            if isinstance(found, dict) and self.fits([found]):
                self.take(found, collector)
            else:
                collector.broken += 1
        return collector.part(size)


def conversations(path: Path) -> Iterator[tuple[int, Any]]:
    """The line and the value of every element of every list of conversations in an export.

    Raises: Invalid, naming file and line; OSError.
    """
    with path.open("rb") as file:
        packed = file.read(4).startswith(ZIP)
    if not packed and path.suffix == ".zip":
        raise Invalid(f"{path.name!r} is not a zip file: nothing was imported")
    if not packed:
        with path.open("rb") as file:
            yield from elements(file, path.name)
        return
    with _unpacked(path) as archive:
        names = [name for name in archive.namelist() if _holds_conversations(name)]
        if not names:
            raise Invalid(f"{path.name!r} has no conversations.json: nothing was imported")
        for name in sorted(names):
            _refuse_bomb(archive.getinfo(name), path)
            with archive.open(name) as member:
                yield from elements(member, f"{path.name}: {name}")


@contextmanager
def _unpacked(path: Path) -> Iterator[zipfile.ZipFile]:
    """Raises: Invalid, for whatever is wrong with the zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError: encrypted; NotImplementedError: unsupported compression.
        raise Invalid(f"{path.name!r} can't be unpacked ({error}): nothing was imported") from None


def _refuse_bomb(member: zipfile.ZipInfo, path: Path) -> None:
    """Checks the declared size; no more than that is unpacked. Raises: Invalid."""
    if member.file_size > max(MAX_ELEMENT, _MAX_RATIO * member.compress_size):
        raise Invalid(
            f"{path.name!r}: {member.filename} unpacks to more than {_MAX_RATIO} times its size: "
            "nothing was imported"
        )


def _holds_conversations(name: str) -> bool:
    """conversations.json, in whatever folder, and its parts where a service writes several."""
    file = PurePosixPath(name).name
    return file.startswith("conversations") and file.endswith(".json")


#: Of one element. The longest conversations with pasted files stay far below it.
MAX_ELEMENT: Final = 64 * 1024 * 1024
#: Of all of them. What unpacks to more is no export of a person's conversations.
MAX_BYTES: Final = 8 * 1024 * 1024 * 1024
_MAX_LEVELS: Final = 500  # more than that no reader of JSON takes
_CHUNK: Final = 256 * 1024
_BLANKS = re.compile(rb"[ \t\r\n]+")
_MARK = re.compile(rb'["\\{}\[\]]')
_STRING_END = re.compile(rb'["\\]')


def elements(file: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """The line and the value of each element of the list in `file`, which has only objects or lists.

    `name` is used in error messages.

    Raises: Invalid, with the line.
    """
    scan = _Scan(name)
    read = 0
    while chunk := file.read(_CHUNK):
        read += len(chunk)
        if read > MAX_BYTES:
            raise scan.wrong(f"larger than {MAX_BYTES >> 30} GB")
        yield from scan.feed(chunk)
    scan.end()


class _Scan:
    """The position in the list: outside of an element, inside one, or after the list."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 1  # of the next byte to look at
        self._begun = 1  # the line that the element at hand begins on
        self._element = bytearray()
        self._depth = 0
        self._opened = self._closed = False
        self._in_string = self._escaped = False
        self._after_comma = True

    def feed(self, chunk: bytes) -> Iterator[tuple[int, Any]]:
        """The elements that end in `chunk`."""
        at = 0
        while at < len(chunk):
            if self._depth == 0:
                at = self._between(chunk, at)
                continue
            stop = self._inside(chunk, at)
            self._element += chunk[at:stop]
            self._line += chunk.count(b"\n", at, stop)
            at = stop
            if len(self._element) > MAX_ELEMENT:
                raise self.wrong(f"one element is longer than {MAX_ELEMENT >> 20} MB")
            if self._depth == 0:
                yield self._begun, self._value()

    def end(self) -> None:
        """Raises: Invalid, when the list has not ended."""
        if not self._closed:
            raise self.wrong("the file is truncated")

    def wrong(self, why: str) -> Invalid:
        return Invalid(f"{self._name!r}, line {self._line}: {why}; nothing was imported")

    def _between(self, chunk: bytes, at: int) -> int:
        """Reads one byte outside of elements; returns where to continue."""
        if blanks := _BLANKS.match(chunk, at):
            self._line += blanks[0].count(b"\n")
            return blanks.end()
        byte = chunk[at : at + 1]
        if self._line == 1 and byte in b"\xef\xbb\xbf":
            return at + 1
        if not self._opened and byte == b"[":
            self._opened = True
        elif self._closed or not self._opened:
            raise self.wrong("not a JSON list")
        elif byte == b"]":
            self._closed = True
        elif byte == b",":
            if self._after_comma:
                raise self.wrong("unexpected comma")
            self._after_comma = True
        elif byte in b"{[" and self._after_comma:
            self._begun, self._after_comma = self._line, False
            self._depth = 1
            self._element = bytearray(byte)
        else:
            raise self.wrong("expected an object")
        return at + 1

    def _inside(self, chunk: bytes, at: int) -> int:
        """The end of the element, or of the chunk."""
        while True:
            if self._escaped:
                self._escaped, at = False, at + 1
            mark = (_STRING_END if self._in_string else _MARK).search(chunk, at)
            if mark is None:
                return len(chunk)
            at, sign = mark.end(), mark[0]
            if sign == b"\\":
                self._escaped = True
                if at >= len(chunk):
                    return len(chunk)
            elif sign == b'"':
                self._in_string = not self._in_string
            elif sign in b"{[":
                self._depth += 1
                if self._depth > _MAX_LEVELS:
                    raise self.wrong(f"nested more than {_MAX_LEVELS} levels deep")
            elif sign in b"}]":
                self._depth -= 1
                if self._depth == 0:
                    return at

    def _value(self) -> Any:
        try:
            return json.loads(bytes(self._element))
        except RecursionError:
            raise self.wrong("nested too deeply") from None
        except UnicodeDecodeError:
            raise self.wrong(f"the element starting at line {self._begun} is not UTF-8") from None
        except json.JSONDecodeError as error:
            self._line = self._begun + error.lineno - 1
            raise self.wrong(f"invalid JSON ({error.msg})") from None
        except ValueError as error:  # a number of thousands of digits
            raise self.wrong(f"invalid JSON ({error})") from None
