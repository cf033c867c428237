"""LanguageModels of other programs' files: drafts from notes and records, sessions from transcripts.

`FORMATS` declares each format once: its name and description for the command line, how to detect it, and its
reader. A new format is a reader in this package and an entry there.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from holdfast.agents.importers import claude_code, codex, exports, gemini, notes, opencode, records
from holdfast.agents.importers.chat_exports import CHATGPT, CLAUDE_AI
from holdfast.agents.importers.records import NoteRecords, Records
from holdfast.agents.importers.transcript import Object, TranscriptPart, first_objects
from holdfast.domain.memory import Draft, Origin, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of files: its name for `--from`, and what such a file holds."""

    name: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFormat(Format):
    """Sessions with their messages, read from an offset on, some formats a number of bytes at a time."""

    fits: Callable[[Sequence[Object]], bool] = lambda first: False  # by the first objects of a file
    read_from: Callable[[Path, int, int | None], TranscriptPart]
    #: Where an agent stores a user's transcripts, by the home folder and the environment.
    places: Callable[[Path, Mapping[str, str]], tuple[Path, ...]] = lambda home, environment: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFormat(Format):
    """Records that become memories."""

    fits: Callable[[str, str], bool]  # by the first lines and the name of a file
    origin: Origin = "import"
    grows: bool = False  # rewritten with its earlier content
    together: Literal["file", "folder", "tree"] = "file"  # what is imported as one


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFormat(DraftFormat):
    """Records with our own fields, in a file of any length."""

    read: Callable[[Iterable[str]], Records]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFormat(DraftFormat):
    """Another program's notes, whose categories a space may not have."""

    read: Callable[[str, str], NoteRecords]  # the text and the name of a file
    grows: bool = True
    in_folders: Callable[[Path], bool] = lambda path: False  # files that are looked at when a folder is given
    project_of: Callable[[Path], str | None] = lambda note: None


FORMATS: Final[tuple[Format, ...]] = (
    Format(name="holdfast", about="an archive that was exported, restored field by field"),
    TranscriptFormat(
        name=claude_code.CLIENT, about="transcripts of Claude Code", fits=claude_code.fits,
        read_from=claude_code.read_from, places=claude_code.places,
    ),
    TranscriptFormat(
        name=codex.CLIENT, about="transcripts of Codex", fits=codex.fits,
        read_from=codex.read_from, places=codex.places,
    ),
    TranscriptFormat(
        name=gemini.CLIENT, about="transcripts of Gemini CLI", fits=gemini.fits,
        read_from=gemini.read_from, places=gemini.places,
    ),
    TranscriptFormat(  # a database, detected by its tables
        name=opencode.CLIENT, about="the database of opencode",
        read_from=opencode.read_from, places=opencode.places,
    ),
    TranscriptFormat(
        name=CHATGPT.client, about="an export of ChatGPT: a zip file or conversations.json",
        fits=CHATGPT.fits, read_from=CHATGPT.read_from,
    ),
    TranscriptFormat(
        name=CLAUDE_AI.client, about="an export of Claude.ai: a zip file or conversations.json",
        fits=CLAUDE_AI.fits, read_from=CLAUDE_AI.read_from,
    ),
    NoteFormat(
        name="mcp-memory", about="the graph of the MCP memory server",
        fits=notes.is_mcp_memory, read=notes.read_mcp_memory,
        in_folders=lambda path: path.suffix in (".jsonl", ".json"),
    ),
    NoteFormat(
        name="auto-memory", about="Claude Code's own notes",
        fits=notes.is_auto_memory, read=notes.read_auto_memory, origin="file", together="folder",
        in_folders=lambda path: path.suffix == ".md" and path.parent.name == notes.FOLDER,
        project_of=notes.project_beside,
    ),
    NoteFormat(
        name="basic-memory", about="a folder of basic-memory's notes",
        fits=notes.is_basic_memory, read=notes.read_basic_memory, together="tree",
        in_folders=lambda path: path.suffix == ".md",
    ),
    NoteFormat(name="mem0", about="JSON of mem0", fits=records.is_mem0, read=records.read_mem0),
    LineFormat(name="csv", about="a table", fits=records.is_csv, read=records.read_csv, grows=True),
    LineFormat(
        name="jsonl", about="one object per line",
        fits=records.is_json_lines, read=records.read_json_lines,
    ),
    LineFormat(
        name="text", about="one memory per line", fits=lambda text, name: True, read=records.read_text
    ),
)  # fmt: skip
TRANSCRIPTS: Final = {form.name: form for form in FORMATS if isinstance(form, TranscriptFormat)}
#: In the order in which they are detected.
DRAFTS: Final = {form.name: form for form in FORMATS if isinstance(form, LineFormat | NoteFormat)}

#: Folders inside a client's that hold no conversation with a person: helpers, outputs, other stores.
_SKIPPED_FOLDERS: Final = frozenset({"subagents", "tool-results", ".git", "node_modules"})
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


def drafts_in(text: str, source: Source, form: NoteFormat, *, name: str = "") -> FileDrafts:
    """The drafts in a file called `name`, from `source`. Raises: Invalid."""
    file = form.read(text, name)
    sourced = tuple((number, replace(draft, source=source)) for number, draft in file.drafts)
    return FileDrafts(format=form.name, drafts=sourced, broken=tuple(file.broken), ties=tuple(file.ties))


def drafts_by_line(lines: Callable[[], Iterable[str]], source: Source, form: LineFormat) -> FileDrafts:
    """The drafts of a file that is read line by line: once to see that it is whole, then as they are taken.

    Raises: Invalid, when it is not whole.
    """
    broken, count = [], 0
    for number, found in form.read(lines()):
        if isinstance(found, str):
            broken.append((number, found))
        else:
            count += 1
    drafts = DraftLines(lambda: form.read(lines()), source, count)
    return FileDrafts(format=form.name, drafts=drafts, broken=tuple(broken))


def recognised(text: str, name: str = "") -> LineFormat | NoteFormat:
    """The format of a file of drafts, by its first lines and its name.

    Raises: Invalid, for JSON in an unknown format.
    """
    return next(form for form in DRAFTS.values() if form.fits(text, name))


def transcript_format(path: Path) -> str | None:
    """The format of a transcript; None for any other file. Raises: OSError."""
    if path.suffix == opencode.SUFFIX:
        return opencode.CLIENT if opencode.is_store(path) else None
    if path.suffix not in (".jsonl", ".json", ".zip"):
        return None
    first = exports.first_of(path) if exports.is_export(path) else gemini.whole(path) or first_objects(path)
    return next((form.name for form in TRANSCRIPTS.values() if form.fits(first)), None)


def note_format(path: Path) -> NoteFormat | None:
    """The format of a note or graph in a folder; None for plain text, which could be anything.

    Raises: OSError.
    """
    forms = [form for form in DRAFTS.values() if isinstance(form, NoteFormat) and form.in_folders(path)]
    if not forms or path.stat().st_size > _MAX_NOTE:
        return None
    text = path.read_bytes().decode("utf-8", "replace")
    return next((form for form in forms if form.fits(text, path.name)), None)


def notes_of(
    files: Sequence[Path], source: Source, form: NoteFormat, skipped: Mapping[str, int]
) -> FileDrafts:
    """Notes that are imported together: links between them become ties; numbers count the files."""
    drafts: list[tuple[int, Draft]] = []
    broken: list[tuple[int, str]] = []
    first_of: dict[str, int] = {}  # the place of a note's first draft, by each of its names
    links: list[tuple[int, str]] = []
    project = form.project_of(files[0]) if files else None
    for number, path in enumerate(files, start=1):
        try:
            note = form.read(path.read_bytes().decode("utf-8", "replace"), path.name)
        except OSError as error:
            note = NoteRecords(broken=[(1, f"can't be read: {error.strerror}")])
        for name in note.names if note.drafts else ():
            first_of.setdefault(name.casefold(), len(drafts))
        links += [(len(drafts) + place, target) for place, target in note.links]
        drafts += [(number, replace(draft, source=source, project=project)) for _, draft in note.drafts]
        broken += [(number, reason) for _, reason in note.broken]
    ties = tuple(
        (place, there)
        for place, target in links
        if (there := first_of.get(target.casefold(), place)) != place
    )
    return FileDrafts(
        format=form.name, drafts=tuple(drafts), broken=tuple(broken), ties=ties,
        files=tuple(path.name for path in files), skipped=skipped,
    )  # fmt: skip


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder and its subfolders, in order; no pipes, and links are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        yield from (path for name in sorted(names) if (path := Path(place, name)).is_file())
