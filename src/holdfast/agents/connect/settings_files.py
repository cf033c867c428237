"""What is put into another program's settings, and how it is recognised there: our own entries, never more.

Text in, text out. `JsonFile` puts entries into objects and lists, `Toml` one table into a file.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.agents.connect import toml_text
from holdfast.agents.connect.json_text import JsonText
from holdfast.errors import Conflict

Place = tuple[str, ...]


class ClientSettings(Protocol):
    """Our part of one settings file."""

    def put_in(self, text: str) -> str:
        """`text` with our entries as they should be; the same text when they are there.

        Raises: Invalid for a text that can't be read, Conflict when something else has our place.
        """

    def made_by(self, text: str) -> list[Place]:
        """The objects and lists that `put_in` would have to make around our entries, outermost first."""

    def take_out(self, text: str, made: Iterable[Place] | None) -> str:
        """`text` without our entries, and without what was made for them and is empty now.

        Raises: Invalid.
        """


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """One value of ours: a member of its own, or one among others in a list."""

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
            if known is not None and known != entry.value and not is_ours(known):
                raise Conflict(f"{'.'.join(entry.place)} is used by another program: rename or remove it")
            found.put(entry.place, entry.value)
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
        # Without a record of it, what is empty around our entries counts as made for them.
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
        known = toml_text.table_in(text, self.names)
        if known is not None and not is_ours(known):
            raise Conflict(f"{'.'.join(self.names)} is used by another program: rename or remove it")
        return toml_text.with_table(text, self.names, self.values)

    def made_by(self, text: str) -> list[Place]:
        toml_text.parsed(text)
        return []

    def take_out(self, text: str, made: Iterable[Place] | None) -> str:
        known = toml_text.table_in(text, self.names)
        return toml_text.without_table(text, self.names) if is_ours(known) else text


def is_ours(value: Any) -> bool:
    """Whether an entry runs one of our commands; of a group of hooks all have to."""
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


def _runs_ours(command: str) -> bool:
    # `'/path with blanks/holdfast-hook' Stop`: a path of any form, maybe quoted, maybe with arguments.
    names = {
        os.path.basename(word.strip("'\"")).removesuffix(".exe")
        for word in command.replace("\\", "/").split()
    }
    return bool(names & {"holdfast", "holdfast-hook"})


def _take_from_list(found: JsonText, place: Place, value: Any) -> None:
    """Takes our own items out of a list: whole ones, and ours within a group that others share."""
    items = found.at(place)
    for number in reversed(range(len(items) if isinstance(items, list) else 0)):
        item = items[number]
        if item == value or is_ours(item):
            found.remove((*place, number))
        elif isinstance(item, dict) and isinstance(item.get("hooks"), list):
            for inner in reversed(range(len(item["hooks"]))):
                if is_ours(item["hooks"][inner]):
                    found.remove((*place, number, "hooks", inner))
