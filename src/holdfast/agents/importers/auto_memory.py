"""Claude Code's own notes: a fact a file, with a heading that names it, and an index called MEMORY.md.

They are read and never written. The index says nothing that the files do not, but for lines of its own.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from holdfast.agents.importers.lines import first_objects, text_of
from holdfast.agents.importers.projects import project_of
from holdfast.domain.memory import Draft

INDEX: Final = "MEMORY.md"
FOLDER: Final = "memory"
_FENCE: Final = "---"
_MOST_HEADING: Final = 100  # lines
_FIELD = re.compile(r"(\s*)([\w-]+):\s*(.*?)\s*")
_POINTER = re.compile(r"\[[^\[\]]*+\]\([^()]*\.md\)")
_BULLET = re.compile(r"\s*+[-*+]\s++(.*\S)")
_LINK = re.compile(r"\[\[([^\[\]|#]{1,200})(?:[|#][^\[\]]*)?\]\]")


def fits(text: str, name: str = "") -> bool:
    """Whether a file is one of these notes: the index by its name, the others by their heading."""
    heading, _ = _parted(text)
    return name == INDEX or ("name" in heading and ("description" in heading or "type" in heading))


def read(text: str, name: str = "") -> Iterator[tuple[int, Draft | str]]:
    """What a note says, or why it says nothing."""
    if name == INDEX:
        yield from _index(text)
        return
    heading, body = _parted(text)
    title = heading.get("name")
    if not title:
        yield 1, 'no front matter with a "name"'
    elif not body.strip() and not heading.get("description"):
        yield 1, "empty note"
    else:
        yield (
            1,
            Draft(
                content=body.strip() or heading["description"],
                category=heading.get("type") or None,
                subject=title,
                summary=heading.get("description") or None,
            ),
        )


def named_in(text: str) -> tuple[str, ...]:
    """The notes that a note links to."""
    return tuple(dict.fromkeys(found.strip() for found in _LINK.findall(text)))


def project_beside(note: Path) -> str | None:
    """The project that a folder of notes belongs to, as the transcripts beside it say."""
    try:
        for transcript in sorted(note.parent.parent.glob("*.jsonl")):
            for found in first_objects(transcript):
                if directory := text_of(found, "cwd"):
                    return project_of(directory)
    except OSError:
        pass
    return None


def _index(text: str) -> Iterator[tuple[int, Draft | str]]:
    """The lines of an index that point to no file: earlier versions kept their notes there."""
    for number, line in enumerate(text.split("\n"), start=1):
        bullet = _BULLET.fullmatch(line)
        if bullet and not _POINTER.search(line):
            yield number, Draft(content=bullet[1])


def _parted(text: str) -> tuple[dict[str, str], str]:
    """The fields of the heading, nested ones by their own name, and the body."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text
    fields: dict[str, str] = {}
    for place, line in enumerate(lines[1 : _MOST_HEADING + 1], start=1):
        if line.rstrip() == _FENCE:
            return fields, "\n".join(lines[place + 1 :])
        found = _FIELD.fullmatch(line)
        if found:
            fields.setdefault(found[2], _unquoted(found[3]))
    return {}, text


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return (
            inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
        )
    return value
