"""Our entries in another program's settings: how they are added, recognised and removed.

Text in, text out. `JsonFile` puts entries into objects and lists, `Toml` one table into a file. Nothing else
in the file changes; TOML output is checked with the standard parser.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.agents.connect.json_text import JsonText
from holdfast.app import paths
from holdfast.errors import Conflict, Invalid

Place = tuple[str, ...]


class ClientSettings(Protocol):
    """Our part of one settings file."""

    def put_in(self, text: str) -> str:
        """Adds our entries to `text`.

        Raises: Invalid for unreadable text, Conflict if another program uses our place.
        """

    def made_by(self, text: str) -> list[Place]:
        """The objects and lists that `put_in` would create around our entries, outermost first."""

    def take_out(self, text: str, made: Iterable[Place] | None) -> str:
        """Removes our entries from `text`, and what was created for them and is empty now.

        Raises: Invalid.
        """


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """A value of ours: a member of an object, or an item of a shared list."""

    place: Place
    value: Any
    among_others: bool = False


@dataclass(frozen=True, slots=True)
class JsonFile:
    """Entries in a JSON file."""

    entries: Sequence[SettingsEntry]

    def put_in(self, text: str) -> str:
        found = JsonText(text)
        for entry in self.entries:
            if entry.among_others:
                self._put_among_others(found, entry)
                continue
            known = found.at(entry.place)
            if known is not None and not is_ours(known):
                raise Conflict(f"{'.'.join(entry.place)} is used by another program: rename or remove it")
            found.put(entry.place, _extended(entry.value, known))
        return found.text

    def made_by(self, text: str) -> list[Place]:
        found = JsonText(text)
        above = {
            entry.place[:size]
            for entry in self.entries
            for size in range(1, len(entry.place) + int(entry.among_others))
        }
        return sorted((place for place in above if not found.has(place)), key=len)

    def take_out(self, text: str, made: Iterable[Place] | None) -> str:
        found = JsonText(text)
        before = found.text
        for entry in self.entries:
            if entry.among_others:
                _take_from_list(found, entry.place, entry.value)
            elif is_ours(found.at(entry.place)):
                found.remove(entry.place)
        if found.text == before:
            return text
        # Without a record, empty objects around our entries count as created for them.
        for place in sorted(self.made_by("{}") if made is None else made, key=len, reverse=True):
            if found.at(place) in ({}, []):
                found.remove(place)
        return found.text

    def _put_among_others(self, found: JsonText, entry: SettingsEntry) -> None:
        known = found.at(entry.place)
        if isinstance(known, list) and entry.value in known:
            return
        _take_from_list(found, entry.place, entry.value)
        found.append(entry.place, entry.value)


@dataclass(frozen=True, slots=True)
class Toml:
    """One table in a TOML file."""

    names: tuple[str, str]
    values: dict[str, Any]

    def put_in(self, text: str) -> str:
        known = table_in(text, self.names)
        if known is not None and not is_ours(known):
            raise Conflict(f"{'.'.join(self.names)} is used by another program: rename or remove it")
        return with_table(text, self.names, self.values)

    def made_by(self, text: str) -> list[Place]:
        parsed(text)
        return []

    def take_out(self, text: str, made: Iterable[Place] | None) -> str:
        known = table_in(text, self.names)
        return without_table(text, self.names) if is_ours(known) else text


def is_ours(value: Any) -> bool:
    """Whether it names a brief of ours or runs one of our commands; in a group of hooks, all of them."""
    if isinstance(value, str):
        return value.startswith(os.path.join(paths.home(), "context", ""))
    if isinstance(value, list):  # a plugin and its options
        return any(isinstance(each, dict) and is_ours(each) for each in value)
    if not isinstance(value, dict):
        return False
    hooks = value.get("hooks")
    if isinstance(hooks, list):
        return bool(hooks) and all(is_ours(hook) for hook in hooks)
    command = value.get("command")
    if isinstance(command, list):
        command = command[0] if command else None
    return isinstance(command, str) and _runs_ours(command)


def _extended(value: dict[str, Any], known: Any) -> dict[str, Any]:
    """Our entry with what the client or its user added to a known one: that it is off, for example."""
    if not isinstance(known, dict):
        return value
    theirs = known.get("env")
    added = theirs.items() if isinstance(theirs, dict) else ()
    # Which memories are used is for `connect` to say.
    env = {name: text for name, text in added if not name.startswith(("HOLDFAST_", "XDG_DATA_HOME"))}
    env |= value.get("env", {})
    return {**known, **value, **({"env": env} if env or "env" in known else {})}


def _runs_ours(command: str) -> bool:
    # `'/path with blanks/holdfast-hook' Stop`: a path of any form, maybe quoted, maybe with arguments.
    names = {
        os.path.basename(word.strip("'\"")).removesuffix(".exe")
        for word in command.replace("\\", "/").split()
    }
    return bool(names & {"holdfast", "holdfast-hook"})


def _take_from_list(found: JsonText, place: Place, value: Any) -> None:
    """Removes our items from a list: whole ones, and ours within a shared group."""
    items = found.at(place)
    for number in reversed(range(len(items) if isinstance(items, list) else 0)):
        item = items[number]
        if item == value or is_ours(item):
            found.remove((*place, number))
        elif isinstance(item, dict) and isinstance(item.get("hooks"), list):
            for inner in reversed(range(len(item["hooks"]))):
                if is_ours(item["hooks"][inner]):
                    found.remove((*place, number, "hooks", inner))


Names = tuple[str, str]
_ANY_HEADER = re.compile(r"\s*\[")
_NO_CONTENT = re.compile(r"\s*(?:#.*)?$", re.DOTALL)


def parsed(text: str) -> dict[str, Any]:
    """Raises: Invalid."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise Invalid(f"invalid TOML ({wrong})") from None


def table_in(text: str, names: Names) -> Any:
    """The table `[a.b]`; None if there is none. Raises: Invalid."""
    above = parsed(text).get(names[0])
    return above.get(names[1]) if isinstance(above, dict) else None


def with_table(text: str, names: Names, values: dict[str, Any]) -> str:
    """`text` with the table `[a.b]` at its end, in place of an earlier one.

    Raises: Invalid, when it can't be added without other changes.
    """
    if table_in(text, names) == values:
        return text
    rest = without_table(text, names)
    newline = "\r\n" if "\r\n" in rest else "\n"
    lines = [f"[{'.'.join(names)}]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
    gap = "" if not rest else newline if rest.endswith("\n") else newline * 2
    made = f"{rest}{gap}{newline.join(lines)}{newline}"
    before = parsed(rest)
    above = before.get(names[0], {})
    if not isinstance(above, dict) or _says(made) != {**before, names[0]: {**above, names[1]: values}}:
        raise Invalid(f"{names[0]} is an inline table: write it as [{names[0]}.NAME]")
    return made


def without_table(text: str, names: Names) -> str:
    """`text` without the table `[a.b]`, its sub-tables, and the blank line before it.

    Raises: Invalid, when it can't be removed without other changes.
    """
    if table_in(text, names) is None:
        return text
    before = parsed(text)
    left = {name: value for name, value in before[names[0]].items() if name != names[1]}
    expected = _filled({**before, names[0]: left}, names[0])
    lines = text.splitlines(keepends=True)
    tables = _tables(lines, names)
    # A multi-line string before the real table may contain the same text.
    for skipped in range(len(tables)):
        made = _cut(lines, tables[skipped:])
        if _filled(_says(made), names[0]) == expected:
            return made
    raise Invalid(f"table {'.'.join(names)} can't be removed automatically: remove it by hand")


def _cut(lines: list[str], tables: list[tuple[int, int]]) -> str:
    left = list(lines)
    for first, last in reversed(tables):
        del left[first : last + 1]
        if first and not left[first - 1].strip():
            del left[first - 1]
    return "".join(left)


def _tables(lines: list[str], names: Names) -> list[tuple[int, int]]:
    """The first and last line of the table and its sub-tables; comments after it belong to the next one."""
    first, second = (rf"\s*(?:{name}|\"{name}\"|'{name}')\s*" for name in names)
    header = re.compile(rf"\s*\[{first}\.{second}(?:\.[^\]]*)?\]")
    found: list[tuple[int, int]] = []
    inside = False
    for number, line in enumerate(lines):
        if header.match(line):
            inside = True
            found.append((number, number))
        elif _ANY_HEADER.match(line):
            inside = False
        elif inside and not _NO_CONTENT.match(line):
            found[-1] = (found[-1][0], number)
    return found


def _says(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _filled(table: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    """The same without `name` if that is empty."""
    return {key: value for key, value in table.items() if key != name or value} if table is not None else None


def _toml(value: Any) -> str:
    # TOML writes texts, numbers, truth values and lists as JSON does.
    return json.dumps(value, ensure_ascii=False)
