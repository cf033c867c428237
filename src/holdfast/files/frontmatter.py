"""The format of a note: YAML front matter between two lines of dashes, then the text.

It is not trusted: every value is read as plain text, and no objects are constructed. Invalid YAML is parsed
line by line, up to the first colon; without any known key it is part of the text. Written so that any text
survives; what others put into the front matter is kept.
"""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

FENCE: Final = "---"
_MOST_LINES: Final = 200
_MOST_SIZE: Final = 32_768  # characters
_MOST_BRACKETS: Final = 200  # each may open a level, and reading takes by squares of the levels
_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s|$)")
_NESTED = "metadata"  # where some programs keep the type
_LINES: Final = ("name", "description")  # which people write as they like
OURS: Final = ("name", "description", "type", "project", "tags", "updated", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The parts of a note. Without front matter, all of it is the text."""

    text: str
    has_heading: bool = False
    by_lines: bool = False  # its heading is no YAML
    name: str | None = None
    description: str | None = None
    type: str | None = None
    id: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    updated: date | None = None
    keys: frozenset[str] = field(default_factory=frozenset)  # that the heading has


def read(text: str) -> Sheet:
    """The parts of a note; without valid front matter, all of it is the text."""
    parted = _parted(text)
    fields, by_lines = _loaded(parted[0]) if parted is not None else (None, False)
    if parted is None or fields is None:
        return Sheet(text=text.removeprefix("\ufeff"))
    nested = fields.get(_NESTED)
    inner: dict[str, Any] = nested if isinstance(nested, dict) else {}
    found = {key: fields.get(key, inner.get(key)) for key in OURS}
    tags = found["tags"]
    return Sheet(
        text=parted[1].lstrip("\n"),
        has_heading=True,
        by_lines=by_lines,
        name=_line(found["name"]),
        description=_line(found["description"]),
        type=_line(found["type"]),
        id=_line(found["id"]),
        project=_line(found["project"]),
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        keys=frozenset(key for key in OURS if found[key] is not None),
    )


def written(sheet: Sheet, *, nested: bool = False) -> str:
    """A note from its parts; `nested` puts type, time and id where Claude Code keeps a note's type."""
    fields = _fields(sheet)
    if nested:
        inner = {key: fields.pop(key) for key in ("type", "updated", "id") if key in fields}
        fields[_NESTED] = inner
    return f"{FENCE}\n{_dumped(fields)}{FENCE}\n\n{sheet.text}\n"


def rewritten(given: str, sheet: Sheet) -> str:
    """A note with these parts in place of its own; its other lines are kept."""
    parted = _parted(given)
    old = _loaded(parted[0])[0] if parted is not None else None
    if parted is None or old is None:
        return _body(given, sheet.text, ends=given.endswith("\n"))
    wanted = _fields(sheet)
    lines: list[str] = []
    for key, group in _groups(parted[0]):
        if key == _NESTED and isinstance(old.get(_NESTED), dict):
            lines += _nested(group, old[_NESTED], wanted)
        elif key not in OURS:
            lines += group
        elif key in wanted:
            lines += _kept(key, group, old.get(key), wanted)
    lines += _dumped(wanted).splitlines() if wanted else []
    below = parted[1] if parted[1].strip() == sheet.text.strip() else f"\n{sheet.text}\n"
    return f"{FENCE}\n" + "\n".join(lines) + f"\n{FENCE}\n{below}"


# ------------------------------------------------------------------------------------------------- inside


def _body(given: str, text: str, *, ends: bool) -> str:
    """The given text, if it differs only in the blanks around it."""
    return given if given.strip() == text.strip() else text + ("\n" if ends else "")


def _fields(sheet: Sheet) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": sheet.name,
        "description": sheet.description,
        "type": sheet.type,
        "project": sheet.project,
        "tags": list(sheet.tags),
        "updated": sheet.updated,
        "id": sheet.id,
    }
    return {key: value for key, value in fields.items() if value}


def _kept(key: str, group: list[str], old: object, wanted: dict[str, Any]) -> list[str]:
    """A line unchanged if its value is the wanted one, else the new line."""
    new = wanted.pop(key)
    same = old == (new if isinstance(new, list) else str(new))
    if same:
        return group
    return [*_dumped({key: new}).splitlines(), *(line for line in group if line.startswith("#"))]


def _nested(group: list[str], old: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    lines = []
    for line in group:
        found = _KEY.match(line.strip())
        key = found[1] if found and line[:1].isspace() else None
        if key in wanted and key in OURS and isinstance(old.get(key), str):
            indent = line[: len(line) - len(line.lstrip())]
            lines += [f"{indent}{kept}" for kept in _kept(key, [line.strip()], old[key], wanted)]
        else:
            lines.append(line)
    return lines


def _parted(text: str) -> tuple[str, str] | None:
    """The heading's lines and the text below; none without two lines of dashes."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith(FENCE) or text.split("\n", 1)[0].rstrip() != FENCE:
        return None
    lines = text.split("\n", _MOST_LINES)
    for place, line in enumerate(lines[1:_MOST_LINES], start=1):
        if line.rstrip() == FENCE:
            heading = "\n".join(lines[1:place])
            return (heading, "\n".join(lines[place + 1 :])) if len(heading) <= _MOST_SIZE else None
    return None


def _loaded(heading: str) -> tuple[dict[str, Any] | None, bool]:
    """The fields of a heading as texts, lists and tables, and whether they had to be read line by line."""
    found = _yaml(heading)
    if found is not None and all(isinstance(found.get(key, ""), str) for key in _LINES):
        return found, False
    lines = _by_lines(heading)
    return (lines, True) if any(key in lines for key in OURS) else (found, False)


def _by_lines(heading: str) -> dict[str, Any]:
    """Each line's text behind its first colon; what is indented belongs to the line above."""
    fields: dict[str, Any] = {}
    for key, group in _groups(heading):
        if key is None:
            continue
        value = group[0].partition(":")[2].strip()
        inner = [line.strip() for line in group[1:] if line[:1].isspace() and line.strip()]
        if value.startswith("[") and value.endswith("]") and key not in _LINES:
            fields[key] = [each for part in value[1:-1].split(",") if (each := _unquoted(part.strip()))]
        elif not value and inner and key == _NESTED:
            fields[key] = _by_lines("\n".join(inner))
        else:
            fields[key] = _unquoted(" ".join([value, *inner]).strip())
    return fields


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _yaml(heading: str) -> dict[str, Any] | None:
    import yaml

    if heading.count("[") + heading.count("{") > _MOST_BRACKETS:
        return None
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # constructs texts alone
    try:
        found = yaml.load(heading, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return found if isinstance(found, dict) and all(isinstance(key, str) for key in found) else None


def _dumped(fields: dict[str, Any]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(
        yaml.dump(
            fields, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=10**9
        )
    )


def _groups(heading: str) -> list[tuple[str | None, list[str]]]:
    """The lines of front matter grouped by key; lines above the first key have none."""
    groups: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in heading.split("\n"):
        found = _KEY.match(line)
        if found:
            groups.append((found[1], []))
        groups[-1][1].append(line)
    return [(key, lines) for key, lines in groups if lines]


def _line(value: object) -> str | None:
    """A value as one line; tables and lists are none."""
    return (" ".join(value.split()) or None) if isinstance(value, str) else None
