"""basic-memory's notes: Markdown with a heading in YAML, observations and relations by their form.

`- [category] text #tag (context)` is an observation, a memory about the note's subject, and
`- relation [[Other]]` a relation, a memory that ties two notes. What else a note says is one memory more.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from holdfast.domain.memory import Draft

_FENCE = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_MOST_HEADING: Final = 64 * 1024
_OBSERVATION = re.compile(r"\s*[-*+]\s+\[([^\[\]()]{1,64})\]\s+(\S.*)")
_TASK: Final = frozenset({" ", "x", "X", "-", "/", ">"})
_LINK: Final = r"\[\[([^\[\]|#]{1,200})[^\[\]]*\]\]"
_RELATION = re.compile(rf"\s*+[-*+]\s++(?:\[[ xX]\]\s++)?([^\[\]]{{0,100}}?)\s*+{_LINK}\s*+(.*)")
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,64})")
_TITLE = re.compile(r"\A\s*+#{1,6}\s+")
_SECTION = re.compile(r"#{1,6}\s+(?:observations?|relations?|notes?)\s*", re.IGNORECASE)
_BREAKS = re.compile(r"[_\s]+")


@dataclass(slots=True)
class Note:
    """What one note holds: drafts with their lines, and to which notes each of them leads."""

    title: str
    permalink: str | None
    drafts: list[tuple[int, Draft]] = field(default_factory=list)
    leads_to: dict[int, str] = field(default_factory=dict)  # a place in `drafts`: another note's name


def fits(text: str) -> bool:
    """Whether a file is such a note: its heading has a permalink, which others do not write."""
    heading, _, _ = _parted(text)
    return heading is not None and isinstance(heading.get("permalink"), str)


def read(text: str, name: str = "") -> Note | str:
    """The note in a file, or why it can't be read."""
    heading, body, line = _parted(text)
    if heading is None:
        return "line 1: no YAML front matter between two lines of ---"
    title = _text(heading.get("title")) or PurePath(name).stem or "note"
    note = Note(title, _text(heading.get("permalink")))
    tags = _tags(heading.get("tags"))
    prose: list[str] = []
    begins = line
    for number, row in enumerate(body.split("\n"), start=line):
        made = _observation(row, title, tags) or _relation(row, note, tags)
        if made is not None:
            note.drafts.append((number, made))
        elif row.strip() or prose:
            begins = begins if prose else number
            prose.append(row.rstrip())
    if (said := _prose(prose, title)) is not None:
        kind = _text(heading.get("type"))
        note.drafts.append((begins, Draft(content=said, category=kind, subject=title, tags=tags)))
    return note


def _observation(row: str, title: str, tags: tuple[str, ...]) -> Draft | None:
    found = _OBSERVATION.fullmatch(row.rstrip())
    if found is None or found[1] in _TASK or "[[" in found[1]:
        return None
    said = found[2].strip()
    own = tuple(_TAG.findall(said))
    content = _TAG.sub("", said).strip() or said
    kind = found[1].strip().casefold()
    return Draft(
        content=re.sub(r"\s{2,}", " ", content),
        category=kind,
        subject=title,
        tags=tuple(dict.fromkeys((*tags, *own, _as_tag(kind)))),
    )


def _relation(row: str, note: Note, tags: tuple[str, ...]) -> Draft | None:
    found = _RELATION.fullmatch(row.rstrip())
    if found is None:
        return None
    kind = _BREAKS.sub(" ", found[1]).strip() or "relates to"
    target, context = found[2].strip(), found[3].strip()
    note.leads_to[len(note.drafts)] = target
    said = f"{note.title} {kind} {target}{f' {context}' if context else ''}"
    return Draft(content=said, subject=note.title, tags=tuple(dict.fromkeys((*tags, "relation"))))


def _prose(rows: list[str], title: str) -> str | None:
    """What is left of a note: none, when there are headings alone."""
    kept = [row for row in rows if not _SECTION.fullmatch(row.strip())]
    if kept and _TITLE.sub("", kept[0]).strip().casefold() == title.casefold():
        kept = kept[1:]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    says = any(row.strip() and not _TITLE.match(row) for row in kept)
    return text if says else None


def _parted(text: str) -> tuple[Mapping[str, Any] | None, str, int]:
    """The heading, the body, and the line that the body begins on; no heading is an empty one."""
    found = _FENCE.match(text[: _MOST_HEADING * 2])
    if found is None:
        return ({} if not text.startswith("---") else None), text, 1
    import yaml

    try:
        heading = yaml.safe_load(found[1]) if len(found[1]) <= _MOST_HEADING else None
    except (yaml.YAMLError, RecursionError, ValueError):  # ValueError: a date that there is not
        return None, "", 1
    line = text.count("\n", 0, found.end()) + 1
    return (heading if isinstance(heading, dict) else None), text[found.end() :], line


def _tags(value: Any) -> tuple[str, ...]:
    listed: Iterator[Any] = iter(value if isinstance(value, list) else str(value or "").split(","))
    return tuple(dict.fromkeys(tag for each in listed if (tag := str(each).strip().lstrip("#")[:64])))


def _text(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def _as_tag(kind: str) -> str:
    return re.sub(r"[^\w.-]+", "-", kind).strip("-")
