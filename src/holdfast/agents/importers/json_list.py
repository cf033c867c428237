"""The elements of a JSON list one by one, with the line that each begins on; of a list of any length.

Only one element is in memory at a time. Nothing is trusted: where the file is no list of whole elements, the
line is named and the reading ends.
"""

import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from holdfast.errors import Invalid

#: Of one element. The longest conversations with pasted files stay far below it.
MOST_ELEMENT: Final = 64 * 1024 * 1024
#: Of all of them. What unpacks to more is no export of a person's conversations.
MOST_BYTES: Final = 8 * 1024 * 1024 * 1024
_MOST_LEVELS: Final = 500  # more than that no reader of JSON takes
_CHUNK: Final = 256 * 1024
_BLANKS = re.compile(rb"[ \t\r\n]+")
_MARK = re.compile(rb'["\\{}\[\]]')
_STRING_END = re.compile(rb'["\\]')


def elements(file: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """The line and the value of each element of the list in `file`, which holds nothing but objects or lists;
    `name` is for what goes wrong.

    Raises: Invalid, with the line.
    """
    scan = _Scan(name)
    read = 0
    while chunk := file.read(_CHUNK):
        read += len(chunk)
        if read > MOST_BYTES:
            raise scan.wrong(f"larger than {MOST_BYTES >> 30} GB")
        yield from scan.feed(chunk)
    scan.end()


class _Scan:
    """Where in the list the reading is: outside of an element, inside one, or behind the list."""

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
            if len(self._element) > MOST_ELEMENT:
                raise self.wrong(f"one element is longer than {MOST_ELEMENT >> 20} MB")
            if self._depth == 0:
                yield self._begun, self._value()

    def end(self) -> None:
        """Raises: Invalid, when the list has not ended."""
        if not self._closed:
            raise self.wrong("the file is truncated")

    def wrong(self, why: str) -> Invalid:
        return Invalid(f"{self._name!r}, line {self._line}: {why}; nothing was imported")

    def _between(self, chunk: bytes, at: int) -> int:
        """Looks at one byte that is in no element; answers where to go on."""
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
        """Where the element ends, or the chunk."""
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
                if self._depth > _MOST_LEVELS:
                    raise self.wrong(f"nested more than {_MOST_LEVELS} levels deep")
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
