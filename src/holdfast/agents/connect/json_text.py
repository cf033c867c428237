"""Edits JSON files of other programs and changes only the lines in question.

Everything else stays byte for byte: order, indentation, blank lines, comments, trailing commas. A path is a
sequence of keys and list indexes.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import Invalid

Path = Sequence[str | int]
_BLANKS = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SAME_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
_LINE_END = re.compile(r"[ \t]*\r?\n")
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')
_MAX_DEPTH = 200


@dataclass(slots=True)
class Node:
    """A value and its position in the text."""

    start: int
    end: int
    value: Any
    members: dict[str, "Node"] | None = None  # of an object
    items: list["Node"] | None = None  # of an array
    keys: dict[str, int] = field(default_factory=dict)  # where the members begin

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The start and end of its members or items."""
        if self.members is not None:
            return [(self.keys[key], node.end) for key, node in self.members.items()]
        return [(node.start, node.end) for node in self.items or ()]


class JsonText:
    """The text of a JSON file, with or without comments. An empty one is an empty object.

    Raises: Invalid, when it is no JSON or holds no object.
    """

    def __init__(self, text: str) -> None:
        self.text = text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + "{}\n"
        self._read()
        if self._root.members is None:
            raise Invalid("not a JSON object")

    @property
    def value(self) -> Any:
        return self._root.value

    def at(self, path: Path) -> Any:
        """The value at a path; None if there is none."""
        found = self._node(path)
        return found.value if found else None

    def has(self, path: Path) -> bool:
        return self._node(path) is not None

    def put(self, path: Sequence[str], value: Any) -> None:
        """Sets a value; missing objects on its path are created.

        Raises: Invalid, when something on the path is not an object.
        """
        found = self._node(path)
        if found is not None:
            if found.value != value:
                self._change(found.start, found.end, self._format(value, len(path)))
            return
        depth = len(path) - 1
        while depth and self._node(path[:depth]) is None:
            depth -= 1
        above = self._node(path[:depth])
        assert above is not None
        if above.members is None:
            raise Invalid(f"{'.'.join(path[:depth])} is not an object")
        for key in reversed(path[depth + 1 :]):
            value = {key: value}
        self._insert(above, value, depth, key=path[depth])

    def append(self, path: Sequence[str], value: Any) -> None:
        """Appends a value to a list, which is created if missing. Raises: Invalid, when it is not a list."""
        found = self._node(path)
        if found is None:
            self.put(path, [value])
        elif found.items is None:
            raise Invalid(f"{'.'.join(path)} is not a list")
        else:
            self._insert(found, value, len(path))

    def remove(self, path: Path) -> None:
        """Removes a member or an item, if it exists."""
        node, last = self._node(path[:-1]), path[-1]
        if node is None or self._node(path) is None:
            return
        self._cut(node, last if isinstance(last, int) else list(node.members or ()).index(last))

    # --------------------------------------------------------------------------------------- changing text

    def _change(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self._read()

    def _insert(self, node: Node, value: Any, depth: int, *, key: str | None = None) -> None:
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        inside = f"{self._newline}{self._indent * (depth + 1)}"
        parts = node.parts
        if not parts:
            hollow = self.text[node.start + 1 : node.end - 1]
            kept = hollow.rstrip(" \t\r\n") if hollow.strip() else ""  # comments stay
            close = f"{self._newline}{self._indent * depth}"
            written = f"{kept}{inside}{name}{self._format(value, depth + 1)}{close}"
            self._change(node.start + 1, node.end - 1, written)
            return
        first, last = parts[0][0], parts[-1][1]
        on_one_line = "\n" not in self.text[node.start : first]
        written = json.dumps(value, ensure_ascii=False) if on_one_line else self._format(value, depth + 1)
        comma = self._comma_after(last)
        start = last if comma is None else comma + 1
        found = _SAME_LINE.match(self.text, start)  # it is about the part before
        assert found is not None
        comments = found[0]
        added = f"{' ' if on_one_line and not comments else inside}{name}{written}"
        # A trailing comma is allowed there, and stays one.
        written = f",{comments}{added}" if comma is None else f"{comments}{added},"
        self._change(start, found.end(), written)

    def _cut(self, node: Node, place: int) -> None:
        parts = node.parts
        begin, end = parts[place]
        comma = self._comma_after(end)
        start = above = node.start + 1
        if place:
            before = self._comma_after(parts[place - 1][1])
            assert before is not None
            above = before + 1
            start = before if place == len(parts) - 1 and comma is None else above
        end = end if comma is None else comma + 1
        comments = self.text[above:begin].rstrip()
        if comments and not _LINE_END.match(self.text, end):
            comments += self._newline
        if not comments and len(parts) == 1 and not self.text[end : node.end - 1].strip():
            end = node.end - 1
        self._change(start, end, comments)

    def _comma_after(self, end: int) -> int | None:
        after = _BLANKS.match(self.text, end)
        assert after is not None
        return after.end() if self.text[after.end()] == "," else None

    def _format(self, value: Any, depth: int) -> str:
        text = json.dumps(value, indent=self._indent, ensure_ascii=False)
        return text.replace("\n", f"{self._newline}{self._indent * depth}")

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _indent(self) -> str:
        found = re.search(r'[{\[]\s*\n([ \t]+)["{\[]', self.text)
        return found[1] if found else "  "

    # ---------------------------------------------------------------------------------------- reading text

    def _node(self, path: Path) -> Node | None:
        node: Node | None = self._root
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                node = node.items[step] if node.items and step < len(node.items) else None
            else:
                node = node.members.get(step) if node.members else None
        return node

    def _read(self) -> None:
        reader = _Reader(self.text)
        self._root = reader.value(reader.skip(0), 0)
        if reader.skip(self._root.end) != len(self.text):
            raise reader.wrong(self._root.end)


class _Reader:
    """Parses JSON with comments and trailing commas, with the position of every value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, place: int) -> int:
        found = _BLANKS.match(self._text, place)
        assert found is not None
        return found.end()

    def wrong(self, place: int) -> Invalid:
        line = self._text.count("\n", 0, place) + 1
        return Invalid(f"invalid JSON at line {line}")

    def value(self, start: int, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise self.wrong(start)
        sign = self._text[start : start + 1]
        if sign == "{":
            return self._object(start, depth)
        if sign == "[":
            return self._array(start, depth)
        found = _SCALAR.match(self._text, start)
        if found is None:
            raise self.wrong(start)
        try:
            return Node(start, found.end(), json.loads(found[0]))
        except ValueError:
            raise self.wrong(start) from None

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        keys: dict[str, int] = {}
        place = self.skip(start + 1)
        while self._text[place : place + 1] != "}":
            key = self.value(place, depth + 1)
            colon = self.skip(key.end)
            if not isinstance(key.value, str) or self._text[colon : colon + 1] != ":":
                raise self.wrong(place)
            if key.value in members:
                raise Invalid(f"duplicate key {key.value!r}: remove one of them")
            node = self.value(self.skip(colon + 1), depth + 1)
            members[key.value], keys[key.value] = node, key.start
            place = self._next(node.end, "}")
        values = {name: node.value for name, node in members.items()}
        return Node(start, place + 1, values, members=members, keys=keys)

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        place = self.skip(start + 1)
        while self._text[place : place + 1] != "]":
            items.append(self.value(place, depth + 1))
            place = self._next(items[-1].end, "]")
        return Node(start, place + 1, [item.value for item in items], items=items)

    def _next(self, end: int, close: str) -> int:
        """The position of the next part, or of the closing bracket."""
        place = self.skip(end)
        sign = self._text[place : place + 1]
        if sign == ",":
            return self.skip(place + 1)
        if sign != close:
            raise self.wrong(place)
        return place
