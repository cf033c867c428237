"""LanguageModels of other programs' files: drafts from notes and records, sessions from transcripts.

A new format is a reader in this package and an entry in `TRANSCRIPTS` or `_DRAFT_READERS`; `recognised` and
`note_format` detect formats of drafts.
"""

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from holdfast.agents.importers import claude_code, codex, exports, gemini, notes, opencode, records
from holdfast.agents.importers.chat_exports import CHATGPT, CLAUDE_AI
from holdfast.agents.importers.notes import Graph
from holdfast.agents.importers.transcript import Object, TranscriptPart, first_objects
from holdfast.domain.memory import Draft, Source
from holdfast.errors import Invalid

ReadFrom = Callable[[Path, int], TranscriptPart]

#: Transcript formats: detect by the first objects, read from an offset.
TRANSCRIPTS: Final[dict[str, tuple[Callable[[Sequence[Object]], bool], ReadFrom]]] = {
    "claude-code": (claude_code.fits, claude_code.read_from),
    "codex": (codex.fits, codex.read_from),
    "gemini": (gemini.fits, gemini.read_from),
    "opencode": (lambda first: False, opencode.read_from),  # no lines: known by its tables
    "chatgpt": (CHATGPT.fits, CHATGPT.read_from),
    "claude-ai": (CLAUDE_AI.fits, CLAUDE_AI.read_from),
}
#: Those that can be read a number of bytes at a time.
IN_PIECES: Final[dict[str, Callable[[Path, int, int], TranscriptPart]]] = {
    "codex": codex.read_from,
    "opencode": opencode.read_from,
    "claude-code": claude_code.read_from,
}


Records = Iterator[tuple[int, Draft | str]]


def _all_of(records: Records) -> Graph:
    graph = Graph()
    for number, found in records:
        if isinstance(found, str):
            graph.broken.append((number, found))
        else:
            graph.drafts.append((number, found))
    return graph


def _one_note(text: str, name: str) -> Graph:
    note = notes.read_basic_memory(text, name)
    return Graph(broken=[(1, note)]) if isinstance(note, str) else Graph(drafts=note.drafts)


#: Formats of drafts with their readers, which get the text and the name of a file.
_DRAFT_READERS: Final[dict[str, Callable[[str, str], Graph]]] = {
    "mcp-memory": lambda text, name: notes.read_mcp_memory(text),
    "auto-memory": lambda text, name: _all_of(notes.read_auto_memory(text, name)),
    "basic-memory": _one_note,
    "mem0": lambda text, name: _all_of(records.read_mem0(text)),
}
#: Those that are read line by line, whatever the length of the file.
BY_LINE: Final[dict[str, Callable[[Iterable[str]], Records]]] = {
    "csv": records.read_csv,
    "jsonl": records.read_json_lines,
    "text": records.read_text,
}
DRAFTS: Final = (*_DRAFT_READERS, *BY_LINE)
#: Those with categories of their own: a category of the space if it has one of that name, else none.
FOREIGN_KINDS: Final = frozenset({"mcp-memory", "auto-memory", "basic-memory", "mem0"})
#: Those of files that are rewritten with their earlier content.
GROWING: Final = FOREIGN_KINDS | {"csv"}

#: Folders inside a client's that hold no conversation with a person: helpers, outputs, other stores.
_SKIPPED_FOLDERS: Final = frozenset({"subagents", "tool-results", ".git", "node_modules"})
_FIRST_LINES: Final = 5
_MAX_NOTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class DraftLines:
    """The drafts of a file, read from it again each time they are asked for."""

    records: Callable[[], Records]
    source: Source
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[int, Draft]]:
        for number, found in self.records():
            if isinstance(found, Draft):
                yield number, replace(found, source=self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDrafts:
    """The content of a file: drafts, unreadable lines with the reason, and which drafts are related."""

    format: str
    drafts: tuple[tuple[int, Draft], ...] | DraftLines
    broken: tuple[tuple[int, str], ...]
    ties: tuple[tuple[int, int], ...] = ()  # places in `drafts`
    files: tuple[str, ...] = ()  # of a folder: what the numbers count, instead of lines
    skipped: Mapping[str, int] = field(default_factory=dict)  # of a folder: what was left out, by the reason


def drafts_in(text: str, source: Source, format_name: str | None = None, *, name: str = "") -> FileDrafts:
    """The drafts in a file called `name`, from `source`; the format is detected unless it is given.

    Raises: Invalid, for a format that holds no drafts.
    """
    form = format_name or recognised(text, name)
    if form not in DRAFTS:
        raise Invalid(f"unknown format {form!r}: use one of {', '.join(DRAFTS)}", field="format")
    if form in BY_LINE:
        return drafts_by_line(lambda: io.StringIO(text, newline="\n"), source, form)
    graph = _DRAFT_READERS[form](text, name)
    sourced = tuple((number, replace(draft, source=source)) for number, draft in graph.drafts)
    return FileDrafts(format=form, drafts=sourced, broken=tuple(graph.broken), ties=tuple(graph.ties))


def drafts_by_line(lines: Callable[[], Iterable[str]], source: Source, form: str) -> FileDrafts:
    """The drafts of a file that is read line by line: once to see that it is whole, then as they are taken.

    Raises: Invalid, when it is not whole.
    """
    broken, count = [], 0
    for number, found in BY_LINE[form](lines()):
        if isinstance(found, str):
            broken.append((number, found))
        else:
            count += 1
    drafts = DraftLines(lambda: BY_LINE[form](lines()), source, count)
    return FileDrafts(format=form, drafts=drafts, broken=tuple(broken))


def recognised(text: str, name: str = "") -> str:
    """The format of a file of drafts, by its first lines and its name.

    Raises: Invalid, for JSON in an unknown format.
    """
    if notes.is_auto_memory(text, name):
        return "auto-memory"
    if notes.is_basic_memory(text):
        return "basic-memory"
    if records.is_mem0(text):
        return "mem0"
    first = [line for line in text[:100_000].split("\n") if line.strip()][:_FIRST_LINES]
    if any(notes.is_mcp_memory(line) for line in first):
        return "mcp-memory"
    if first and records.is_csv(first[0], name):
        return "csv"
    if name.endswith(".json") and first and first[0].lstrip("\ufeff \t").startswith(("[", "{")):
        _refuse_json(text, name)
    return "jsonl" if first and records.is_json_lines(first[0]) else "text"


def _refuse_json(text: str, name: str) -> None:
    """Raises: Invalid, unless each line is an object of its own."""
    import json

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


def transcript_format(path: Path) -> str | None:
    """The format of a transcript; None for any other file. Raises: OSError."""
    if path.suffix == opencode.SUFFIX:
        return opencode.CLIENT if opencode.is_store(path) else None
    if path.suffix not in (".jsonl", ".json", ".zip"):
        return None
    first = exports.first_of(path) if exports.is_export(path) else gemini.whole(path) or first_objects(path)
    return next((name for name, (fits, _) in TRANSCRIPTS.items() if fits(first)), None)


def note_format(path: Path) -> str | None:
    """The format of a note or graph in a folder; None for plain text, which could be anything.

    Raises: OSError.
    """
    if path.suffix not in (".md", ".jsonl", ".json") or path.stat().st_size > _MAX_NOTE:
        return None
    text = path.read_bytes().decode("utf-8", "replace")
    if path.suffix == ".md":
        if path.parent.name == notes.FOLDER and notes.is_auto_memory(text, path.name):
            return "auto-memory"
        return "basic-memory" if notes.is_basic_memory(text) else None
    try:
        form = recognised(text, path.name)
    except Invalid:
        return None
    return form if form in ("mcp-memory", "auto-memory") else None


def notes_of(files: Sequence[Path], source: Source) -> FileDrafts:
    """Claude Code's notes in one folder: links between them become ties; numbers count the files."""
    drafts: list[tuple[int, Draft]] = []
    broken: list[tuple[int, str]] = []
    project = notes.project_beside(files[0]) if files else None
    for number, path in enumerate(files, start=1):
        try:
            text = path.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            broken.append((number, f"can't be read: {error.strerror}"))
            continue
        found = drafts_in(text, source, "auto-memory", name=path.name)
        drafts += [(number, replace(draft, project=project)) for _, draft in found.drafts]
        broken += [(number, reason) for _, reason in found.broken]
    place_of = {draft.subject: place for place, (_, draft) in enumerate(drafts) if draft.subject}
    ties = tuple(
        (place, place_of[name])
        for place, (_, draft) in enumerate(drafts)
        for name in notes.named_in(draft.content)
        if place_of.get(name, place) != place
    )
    names = tuple(path.name for path in files)
    return FileDrafts(
        format="auto-memory", drafts=tuple(drafts), broken=tuple(broken), ties=ties, files=names
    )


def linked_notes(
    files: Sequence[Path], source: Source, skipped: Mapping[str, int] | None = None
) -> FileDrafts:
    """Notes of basic-memory: relations between them become ties; numbers count the files."""
    drafts: list[tuple[int, Draft]] = []
    broken: list[tuple[int, str]] = []
    first_of: dict[str, int] = {}  # a note by any of its names: the place of its first draft
    leads: list[tuple[int, str]] = []
    for number, path in enumerate(files, start=1):
        try:
            note = notes.read_basic_memory(path.read_bytes().decode("utf-8", "replace"), path.name)
        except OSError as error:
            note = f"can't be read: {error.strerror}"
        if isinstance(note, str):
            broken.append((number, note))
            continue
        for name in filter(None, (note.title, note.permalink, path.stem)):
            first_of.setdefault(name.casefold(), len(drafts))
        leads += [(len(drafts) + place, target) for place, target in note.leads_to.items()]
        drafts += [(number, replace(draft, source=source)) for _, draft in note.drafts]
    ties = tuple(
        (place, there)
        for place, target in leads
        if (there := first_of.get(target.casefold())) is not None and there < len(drafts) and there != place
    )
    names = tuple(path.name for path in files)
    return FileDrafts(
        format="basic-memory", drafts=tuple(drafts), broken=tuple(broken), ties=ties, files=names,
        skipped=skipped or {},
    )  # fmt: skip


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder and its subfolders, in order; no pipes, and links are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file())
