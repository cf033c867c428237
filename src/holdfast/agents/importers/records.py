"""Files of records that become one memory each: JSON lines, CSV, mem0's JSON, and plain text.

Each reader yields the line of a record with its draft, or with the reason why it has none. All but mem0's
take the lines of a file of any length, and hold one record at a time.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from holdfast.agents.importers.transcript import Object, first_lines, object_of, text_of
from holdfast.domain.memory import Draft
from holdfast.errors import Invalid

Records = Iterator[tuple[int, Draft | str]]


@dataclass(slots=True)
class NoteRecords:
    """What a file holds: drafts and unreadable lines, each with its line, and related drafts by position."""

    drafts: list[tuple[int, Draft]] = field(default_factory=list)
    broken: list[tuple[int, str]] = field(default_factory=list)
    ties: list[tuple[int, int]] = field(default_factory=list)
    names: tuple[str, ...] = ()  # by which other files link to this one
    links: list[tuple[int, str]] = field(default_factory=list)  # from a draft to a file of that name

    @classmethod
    def of(cls, records: Records) -> "NoteRecords":
        file = cls()
        for number, found in records:
            if isinstance(found, str):
                file.broken.append((number, found))
            else:
                file.drafts.append((number, found))
        return file


_JSON_TEXTS = ("content", "category", "subject", "summary", "project")


def is_json_lines(text: str, name: str = "") -> bool:
    """Whether a file has a JSON object per line. Raises: Invalid, for other JSON."""
    first = first_lines(text, 1)
    if name.endswith(".json") and first and first[0].lstrip("\ufeff \t").startswith(("[", "{")):
        _refuse_json(text, name)
    return bool(first) and first[0].lstrip().startswith("{")


def _refuse_json(text: str, name: str) -> None:
    """Raises: Invalid, unless each line is an object of its own."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise Invalid(f"{name!r} is nested too deeply: nothing was imported") from None
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # a value a line
            return
        where = f"{name!r}, line {error.lineno}"
        raise Invalid(f"{where}: invalid JSON ({error.msg}); nothing was imported") from None
    if not (isinstance(found, dict) and "content" in found):
        raise Invalid(f"{name!r} is JSON in an unknown format", command="give the format with --from")


def read_json_lines(lines: Iterable[str]) -> Records:
    """Each line's draft, or why it has none. Unknown fields are left out."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _json_draft(line)


def _json_draft(line: str) -> Draft | str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return "invalid JSON: write one object per line"
    if not isinstance(entry, dict):
        return 'not an object: write {"content": ...}'
    if wrong := _wrong_json(entry):
        return wrong
    fields = {name: entry[name] for name in _JSON_TEXTS if entry.get(name) is not None}
    confidence = entry.get("confidence")
    return Draft(
        **fields,
        tags=tuple(entry.get("tags") or ()),
        importance=entry.get("importance"),
        confidence=None if confidence is None else float(confidence),
    )


def _wrong_json(entry: dict[str, Any]) -> str | None:
    """The first field with a wrong type; values are checked by the profile."""
    if not isinstance(entry.get("content"), str):
        return 'missing "content": the text to remember'
    for name in _JSON_TEXTS:
        if not isinstance(entry.get(name), str | None):
            return f'"{name}" must be a string'
    tags = entry.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        return '"tags" must be a list of strings'
    importance, confidence = entry.get("importance"), entry.get("confidence")
    if importance is not None and type(importance) is not int:
        return '"importance" must be a whole number from 1 to 5'
    if confidence is not None and type(confidence) not in (int, float):
        return '"confidence" must be a number from 0 to 1'
    return None


#: Our columns, by the names that others have for them.
_COLUMNS: Final[dict[str, str]] = {
    **dict.fromkeys(("content", "memory", "text", "note", "observation", "fact"), "content"),
    **dict.fromkeys(("category", "type", "kind"), "category"),
    **dict.fromkeys(("subject", "entity", "title", "name", "service"), "subject"),
    **{name: name for name in ("summary", "project", "tags", "importance", "confidence")},
}
_LISTED = re.compile(r"[;|,]")
_SEPARATORS: Final = ",;\t"


def is_csv(text: str, name: str = "") -> bool:
    """Whether a file is CSV: by its name, or by known columns, one of them with the text."""
    head = "".join(first_lines(text, 1))
    if head and name.lower().endswith((".csv", ".tsv")):
        return True
    heads = [column.strip().strip('"').casefold() for column in head.split(_separator(head))]
    known = {_COLUMNS[head] for head in heads if head in _COLUMNS}
    return len(heads) > 1 and len(known) == len(heads) and "content" in known


def read_csv(lines: Iterable[str]) -> Records:
    """Each line's draft, or why it has none. Columns with names of their own are left out.

    Raises: Invalid, with the line, when the file is no table or not whole.
    """
    apart = chain.from_iterable(io.StringIO(line.lstrip("\ufeff"), newline="") for line in lines)
    head: list[str] = []
    while not "".join(head).strip("\r\n") and (line := next(apart, "")):
        head.append(line)
    rows = csv.reader(chain(head, apart), delimiter=_separator("".join(head)), strict=True)
    places: dict[str, int] | None = None
    begins = 1
    while True:
        begins = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise Invalid(f"line {begins} is not valid CSV ({error}): nothing was imported") from None
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if places is None:
            places = _places(row)
            if "content" not in places:
                named = f"{', '.join(row)!r:.200}"
                raise Invalid(f"line {begins} has no column 'content', only {named}: nothing was imported")
            continue
        yield begins, _csv_draft(row, places)


def _csv_draft(row: list[str], places: dict[str, int]) -> Draft | str:
    cells = {name: row[place].strip() for name, place in places.items() if place < len(row)}
    cells = {name: cell for name, cell in cells.items() if cell}
    if "content" not in cells:
        return "empty content"
    try:
        importance = int(cells["importance"]) if "importance" in cells else None
    except ValueError:
        return f"importance {cells['importance']!r:.40} must be a whole number from 1 to 5"
    try:
        confidence = float(cells["confidence"]) if "confidence" in cells else None
    except ValueError:
        return f"confidence {cells['confidence']!r:.40} must be a number from 0 to 1"
    return Draft(
        content=cells["content"],
        category=cells.get("category"),
        subject=cells.get("subject"),
        summary=cells.get("summary"),
        project=cells.get("project"),
        tags=tuple(bare for tag in _LISTED.split(cells.get("tags", "")) if (bare := tag.strip())),
        importance=importance,
        confidence=confidence,
    )


def _places(heads: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, head in enumerate(heads):
        name = _COLUMNS.get(head.strip().casefold())
        if name is not None:
            found.setdefault(name, place)
    return found


def _separator(first_line: str) -> str:
    return max(_SEPARATORS, key=first_line.count)


_MEM0_LISTS: Final = ("results", "memories")
_MEM0_TEXTS: Final = ("memory", "text", "data")
_MEM0_HEAD: Final = 20_000
_MEM0_TEXT = re.compile(r'"(?:memory|text|data)"\s*:')
_MEM0 = re.compile(
    r'\ufeff?\s*(?:\{.{0,2000}?"(?:results|memories)"\s*:\s*)?\[\s*\{.*?"memory"\s*:\s*"', re.DOTALL
)


def is_mem0(text: str, name: str = "") -> bool:
    """Whether a file is an export of mem0: a list whose first object has a `memory`."""
    return _MEM0.match(text[:_MEM0_HEAD]) is not None


def read_mem0(text: str, name: str = "") -> NoteRecords:
    """The memories in a file.

    Raises: Invalid, with the line, when the file is not whole: then nothing is to be taken from it.
    """
    return NoteRecords.of(_mem0_records(text))


def _mem0_records(text: str) -> Records:
    found = _listed(text)
    users = {value.get("user_id") for value in found if isinstance(value, dict)}
    at = 0
    line = 1
    for value in found:
        # Each contains its text once, so the hashes are in the order of the list.
        mark = _MEM0_TEXT.search(text, at)
        if mark is not None:
            line += text.count("\n", at, mark.start())
            at = mark.start() if not _says(value) else mark.end()
        yield line, _mem0_draft(value, tag_user=len(users) > 1)


def _listed(text: str) -> list[Any]:
    try:
        whole = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise Invalid("the file is nested too deeply: nothing was imported") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} ({error.msg})"
        raise Invalid(f"invalid JSON at {where}: nothing was imported") from None
    except ValueError as error:  # a number of thousands of digits
        raise Invalid(f"invalid JSON ({error}): nothing was imported") from None
    if isinstance(whole, list):
        return whole
    for name in _MEM0_LISTS:
        if isinstance(whole, dict) and isinstance(whole.get(name), list):
            return list(whole[name])
    raise Invalid(f"the file is not a list and has none in {' or '.join(_MEM0_LISTS)}: nothing was imported")


def _mem0_draft(value: Any, *, tag_user: bool) -> Draft | str:
    if not isinstance(value, dict):
        return "not an object"
    says = _says(value)
    if says is None:
        return 'missing "memory" text'
    tags = [tag for tag in _list(value.get("categories")) if isinstance(tag, str)]
    user = text_of(value, "user_id")
    if tag_user and user:
        tags.append(f"user-{user}"[:64])
    return Draft(content=says, category=_category(object_of(value, "metadata")), tags=tuple(tags))


def _says(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((text for name in _MEM0_TEXTS if (text := text_of(value, name))), None)


def _category(metadata: Object) -> str | None:
    """The category in the metadata; the profile decides whether there is one of that name."""
    kind = text_of(metadata, "category") or text_of(metadata, "type")
    return kind.strip().casefold() if kind else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_BULLET = re.compile(r"^\s*(?:[-*+\u2022]\s+)?")
_MAX_SUBJECT: Final = 100  # characters of a heading
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")


def read_text(lines: Iterable[str]) -> Records:
    """A draft for each line with a text, without list marks; headings are subjects of what follows."""
    subject: str | None = None
    for number, line in enumerate(lines, start=1):
        if heading := _HEADING.match(line):
            subject = heading[1].strip()[:_MAX_SUBJECT] or None
        elif content := _BULLET.sub("", line).strip():
            yield number, Draft(content=content, subject=subject)
