"""Readers of other programs' files: drafts out of notes and graphs, conversations out of transcripts.

They know file formats, and nothing of stores, doors or profiles: what comes of a reading is not theirs.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from holdfast.domain.memory import Draft, Source
from holdfast.doors.importers import (
    auto_memory,
    claude_code,
    codex,
    gemini,
    json_lines,
    mcp_memory,
    plain_text,
)
from holdfast.doors.importers.conversation import Reading
from holdfast.doors.importers.lines import Object, first_objects
from holdfast.errors import Invalid

ReadFrom = Callable[[Path, int], Reading]

#: Formats of transcripts: how a file's first objects tell them, and how they are read from an offset on.
TRANSCRIPTS: Final[dict[str, tuple[Callable[[Sequence[Object]], bool], ReadFrom]]] = {
    "codex": (codex.fits, codex.read_from),
    "gemini": (gemini.fits, gemini.read_from),
    "claude-code": (claude_code.fits, claude_code.read_from),
}
#: Formats of drafts, in the order in which they are tried.
DRAFTS: Final = ("mcp-memory", "auto-memory", "jsonl", "text")
FORMATS: Final = (*TRANSCRIPTS, *DRAFTS)

#: Folders inside a client's that hold no conversation with a person: helpers, outputs, other stores.
_PASSED_BY: Final = frozenset({"subagents", "tool-results", ".git", "node_modules"})
_FIRST_LINES: Final = 5
_MOST_NOTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a file held: drafts, lines that could not be read and why, and which drafts are related."""

    format: str
    drafts: tuple[tuple[int, Draft], ...]
    broken: tuple[tuple[int, str], ...]
    ties: tuple[tuple[int, int], ...] = ()  # places in `drafts`
    files: tuple[str, ...] = ()  # of a folder: what the numbers count, instead of lines


def drafts_in(text: str, source: Source, format_name: str | None = None, *, name: str = "") -> Found:
    """The drafts in a file called `name`, from `source`; the format is recognised unless it is named.

    Raises: Invalid, for a format that holds no drafts.
    """
    form = format_name or recognised(text, name)
    if form not in DRAFTS:
        raise Invalid(f"unknown format {form!r}: use one of {', '.join(DRAFTS)}", field="format")
    if form == "mcp-memory":
        graph = mcp_memory.read(text)
        drafts, broken, ties = graph.drafts, graph.broken, graph.ties
    else:
        drafts, broken, ties = [], [], []
        for number, found in _reader(form, name)(text):
            if isinstance(found, str):
                broken.append((number, found))
            else:
                drafts.append((number, found))
    sourced = tuple((number, replace(draft, source=source)) for number, draft in drafts)
    return Found(format=form, drafts=sourced, broken=tuple(broken), ties=tuple(ties))


def recognised(text: str, name: str = "") -> str:
    """The format of a file of drafts, by its first lines and its name."""
    if auto_memory.fits(text, name):
        return "auto-memory"
    first = [line for line in text[:100_000].split("\n") if line.strip()][:_FIRST_LINES]
    if any(mcp_memory.fits(line) for line in first):
        return "mcp-memory"
    return "jsonl" if first and json_lines.fits(first[0]) else "text"


def transcript_format(path: Path) -> str | None:
    """Which client's transcript a file is; none, when it is no transcript.

    Raises: OSError.
    """
    if path.suffix not in (".jsonl", ".json"):
        return None
    first = gemini.whole(path) or first_objects(path)
    return next((name for name, (fits, _) in TRANSCRIPTS.items() if fits(first)), None)


def note_format(path: Path) -> str | None:
    """Which kind of note or graph a file in a folder is: never plain text, which could be anything.

    Raises: OSError.
    """
    if path.suffix not in (".md", ".jsonl", ".json") or path.stat().st_size > _MOST_NOTE:
        return None
    if path.suffix == ".md" and path.parent.name != auto_memory.FOLDER:
        return None
    form = recognised(path.read_bytes().decode("utf-8", "replace"), path.name)
    return form if form in ("mcp-memory", "auto-memory") else None


def notes_of(files: Sequence[Path], source: Source) -> Found:
    """Claude Code's own notes in one folder as one: links between them are ties, numbers count the files."""
    drafts: list[tuple[int, Draft]] = []
    broken: list[tuple[int, str]] = []
    project = auto_memory.project_beside(files[0]) if files else None
    for number, path in enumerate(files, start=1):
        try:
            text = path.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            broken.append((number, f"it can't be read: {error.strerror}"))
            continue
        found = drafts_in(text, source, "auto-memory", name=path.name)
        drafts += [(number, replace(draft, project=project)) for _, draft in found.drafts]
        broken += [(number, reason) for _, reason in found.broken]
    place_of = {draft.subject: place for place, (_, draft) in enumerate(drafts) if draft.subject}
    ties = tuple(
        (place, place_of[name])
        for place, (_, draft) in enumerate(drafts)
        for name in auto_memory.named_in(draft.content)
        if place_of.get(name, place) != place
    )
    names = tuple(path.name for path in files)
    return Found(format="auto-memory", drafts=tuple(drafts), broken=tuple(broken), ties=ties, files=names)


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder and of those in it, in order; neither pipes nor what lies behind links."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_BY)
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file())


def _reader(form: str, name: str) -> Callable[[str], Iterator[tuple[int, Draft | str]]]:
    match form:
        case "auto-memory":
            return lambda text: auto_memory.read(text, name)
        case "jsonl":
            return json_lines.read
        case _:
            return plain_text.read
