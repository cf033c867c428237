"""Notes and graphs of other programs: Claude Code's notes, basic-memory, and the MCP memory server."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final

from holdfast.agents.importers.records import NoteRecords, Records
from holdfast.agents.importers.transcript import first_lines, first_objects, project_of, text_of
from holdfast.domain.memory import Draft

INDEX: Final = "MEMORY.md"
FOLDER: Final = "memory"
_DASHES: Final = "---"
_MAX_HEADING_LINES: Final = 100  # lines
_FIELD = re.compile(r"(\s*)([\w-]+):\s*(.*?)\s*")
_POINTER = re.compile(r"\[[^\[\]]*+\]\([^()]*\.md\)")
_BULLET = re.compile(r"\s*+[-*+]\s++(.*\S)")
_NAMED_LINK = re.compile(r"\[\[([^\[\]|#]{1,200})(?:[|#][^\[\]]*)?\]\]")


def is_auto_memory(text: str, name: str = "") -> bool:
    """Whether a file is a note of Claude Code: the index by its name, others by their front matter."""
    heading, _ = _auto_memory_parts(text)
    return name == INDEX or ("name" in heading and ("description" in heading or "type" in heading))


def read_auto_memory(text: str, name: str = "") -> NoteRecords:
    """The draft of a note with its links to others; of the index, those that are in no note."""
    file = NoteRecords.of(_index(text)) if name == INDEX else _auto_memory(text)
    for place, (_, draft) in enumerate(file.drafts):
        targets = dict.fromkeys(found.strip() for found in _NAMED_LINK.findall(draft.content))
        file.links += [(place, target) for target in targets]
    return file


def _auto_memory(text: str) -> NoteRecords:
    heading, body = _auto_memory_parts(text)
    title, summary = heading.get("name"), heading.get("description") or None
    content = body.strip() or summary
    if not title:
        return NoteRecords(broken=[(1, 'no front matter with a "name"')])
    if content is None:
        return NoteRecords(broken=[(1, "empty note")])
    draft = Draft(content=content, category=heading.get("type") or None, subject=title, summary=summary)
    return NoteRecords(drafts=[(1, draft)], names=(title,))


def project_beside(note: Path) -> str | None:
    """The project of a folder of notes, from the transcripts next to it."""
    try:
        for transcript in sorted(note.parent.parent.glob("*.jsonl")):
            for found in first_objects(transcript):
                if directory := text_of(found, "cwd"):
                    return project_of(directory)
    except OSError:
        pass
    return None


def _index(text: str) -> Records:
    """The lines of an index that link to no file: earlier versions kept their notes there."""
    for number, line in enumerate(text.split("\n"), start=1):
        bullet = _BULLET.fullmatch(line)
        if bullet and not _POINTER.search(line):
            yield number, Draft(content=bullet[1])


def _auto_memory_parts(text: str) -> tuple[dict[str, str], str]:
    """The fields of the heading, nested ones by their own name, and the body."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _DASHES:
        return {}, text
    fields: dict[str, str] = {}
    for place, line in enumerate(lines[1 : _MAX_HEADING_LINES + 1], start=1):
        if line.rstrip() == _DASHES:
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


_FENCE = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_MAX_HEADING: Final = 64 * 1024
_OBSERVATION = re.compile(r"\s*[-*+]\s+\[([^\[\]()]{1,64})\]\s+(\S.*)")
_TASK: Final = frozenset({" ", "x", "X", "-", "/", ">"})
_LINK: Final = r"\[\[([^\[\]|#]{1,200})[^\[\]]*\]\]"
_RELATION = re.compile(rf"\s*+[-*+]\s++(?:\[[ xX]\]\s++)?([^\[\]]{{0,100}}?)\s*+{_LINK}\s*+(.*)")
_HASHTAG = re.compile(r"(?<!\S)#([\w/-]{1,64})")
_TITLE = re.compile(r"\A\s*+#{1,6}\s+")
_SECTION = re.compile(r"#{1,6}\s+(?:observations?|relations?|notes?)\s*", re.IGNORECASE)
_BREAKS = re.compile(r"[_\s]+")


def is_basic_memory(text: str, name: str = "") -> bool:
    """Whether a file is a note of basic-memory: its front matter has a permalink."""
    heading, _, _ = _basic_memory_parts(text)
    return heading is not None and isinstance(heading.get("permalink"), str)


def read_basic_memory(text: str, name: str = "") -> NoteRecords:
    """The drafts of a note, with its relations to others."""
    heading, body, line = _basic_memory_parts(text)
    if heading is None:
        return NoteRecords(broken=[(1, "line 1: no YAML front matter between two lines of ---")])
    stem = PurePath(name).stem
    title = _text(heading.get("title")) or stem or "note"
    note = NoteRecords(names=tuple(filter(None, (title, _text(heading.get("permalink")), stem))))
    tags = _tags(heading.get("tags"))
    prose: list[str] = []
    begins = line
    for number, row in enumerate(body.split("\n"), start=line):
        if made := _observation(row, title, tags):
            note.drafts.append((number, made))
        elif found := _RELATION.fullmatch(row.rstrip()):
            note.links.append((len(note.drafts), found[2].strip()))
            note.drafts.append((number, _relation(found, title, tags)))
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
    own = tuple(_HASHTAG.findall(said))
    content = _HASHTAG.sub("", said).strip() or said
    kind = found[1].strip().casefold()
    return Draft(
        content=re.sub(r"\s{2,}", " ", content),
        category=kind,
        subject=title,
        tags=tuple(dict.fromkeys((*tags, *own, _as_tag(kind)))),
    )


def _relation(found: re.Match[str], title: str, tags: tuple[str, ...]) -> Draft:
    kind = _BREAKS.sub(" ", found[1]).strip() or "relates to"
    target, context = found[2].strip(), found[3].strip()
    said = f"{title} {kind} {target}{f' {context}' if context else ''}"
    return Draft(content=said, subject=title, tags=tuple(dict.fromkeys((*tags, "relation"))))


def _prose(rows: list[str], title: str) -> str | None:
    """The rest of a note; None if there are only headings."""
    kept = [row for row in rows if not _SECTION.fullmatch(row.strip())]
    if kept and _TITLE.sub("", kept[0]).strip().casefold() == title.casefold():
        kept = kept[1:]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    says = any(row.strip() and not _TITLE.match(row) for row in kept)
    return text if says else None


def _basic_memory_parts(text: str) -> tuple[Mapping[str, Any] | None, str, int]:
    """The front matter, the body, and the first line of the body; a missing front matter is empty."""
    found = _FENCE.match(text[: _MAX_HEADING * 2])
    if found is None:
        return ({} if not text.startswith("---") else None), text, 1
    import yaml

    try:
        heading = yaml.safe_load(found[1]) if len(found[1]) <= _MAX_HEADING else None
    except (yaml.YAMLError, RecursionError, ValueError):  # ValueError: an impossible date
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


_NOT_IN_TAG = re.compile(r"[^\w.-]+")


def is_mcp_memory(text: str, name: str = "") -> bool:
    """Whether a file is a graph of the MCP memory server."""
    first = [found for line in first_lines(text) if isinstance(found := _object(line), dict)]
    return any(
        (found.get("type") == "entity" and "name" in found)
        or (found.get("type") == "relation" and "relationType" in found)
        for found in first
    )


def read_mcp_memory(text: str, name: str = "") -> NoteRecords:
    """The graph in a file; invalid lines are reported and skipped."""
    graph = NoteRecords()
    first_of: dict[str, int] = {}  # entity: place of its first draft
    relations: list[tuple[int, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found = _object(line)
        wrong = _wrong(found)
        if wrong is not None:
            graph.broken.append((number, wrong))
        elif found["type"] == "relation":
            relations.append((number, found))
        else:
            first_of.setdefault(found["name"], len(graph.drafts))
            graph.drafts += [(number, draft) for draft in _entity(found)]
    for number, found in relations:
        place = len(graph.drafts)
        says = f"{found['from']} {_BREAKS.sub(' ', found['relationType']).strip()} {found['to']}"
        graph.drafts.append((number, Draft(content=says, subject=found["from"], tags=("relation",))))
        ends = dict.fromkeys((found["from"], found["to"]))
        graph.ties += [(place, first_of[name]) for name in ends if name in first_of]
    return graph


def _entity(found: Any) -> Iterator[Draft]:
    """A draft for each observation; for an entity without any, a draft that it exists."""
    kind = found["entityType"].strip()
    # The profile has the categories: the kind is proposed as one, and kept as a tag.
    tags = (_NOT_IN_TAG.sub("-", kind).strip("-").casefold()[:64],) if _NOT_IN_TAG.sub("", kind) else ()
    seen = dict.fromkeys(one for one in found["observations"] if one.strip())
    for says in seen or [f"{found['name']} is known as {kind}" if kind else found["name"]]:
        yield Draft(content=says, category=kind.casefold() or None, subject=found["name"], tags=tags)


def _object(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _wrong(found: Any) -> str | None:
    if not isinstance(found, dict):
        return "not a JSON object: one per line is expected"
    kind = found.get("type")
    if kind not in ("entity", "relation"):
        return f'unknown type {kind!r:.40}: use "entity" or "relation"'
    texts = ["name", "entityType"] if kind == "entity" else ["from", "to", "relationType"]
    for name in texts:
        if not isinstance(found.get(name), str):
            return f'"{name}" must be a string'
    if any(not found[name].strip() for name in texts if name != "entityType"):
        return "empty name"
    observations = found.get("observations", [])
    if found["type"] == "entity" and not (
        isinstance(observations, list) and all(isinstance(one, str) for one in observations)
    ):
        return '"observations" must be a list of strings'
    found.setdefault("observations", [])
    return None
