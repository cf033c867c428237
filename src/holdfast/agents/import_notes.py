"""Notes of other programs into a space: finds them in a folder, reads them, stores and links them."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from holdfast.agents.importers import (
    DRAFTS,
    DraftFormat,
    FileDrafts,
    LineFormat,
    NoteFormat,
    drafts_in,
    files_in,
    note_format,
    notes_of,
)
from holdfast.domain.memory import Draft, Source
from holdfast.domain.outcomes import Merged, Outcome, Refused, Waiting, settled
from holdfast.domain.query import Filter
from holdfast.engine.imports import ImportResult
from holdfast.engine.intake import safe
from holdfast.engine.memories import Memories
from holdfast.errors import HoldfastError, Invalid


def found_in(folder: Path, format_name: str | None = None) -> Iterator[tuple[Path, str, FileDrafts]]:
    """The notes of a folder and its subfolders: their place, the session of the import, and the drafts.

    Raises: Invalid.
    """
    given = DRAFTS.get(format_name or "")
    if isinstance(given, NoteFormat) and given.together == "tree":
        found = notes_below(folder)
        if not found.notes:
            counts = ", ".join(f"{number:,} {reason}" for reason, number in found.skipped.items())
            name = repr(str(folder))
            raise Invalid(f"{name} has no .md files, so no {given.name} notes ({counts or 'empty'})")
        yield _read_together(folder, found.notes, given, found.skipped)
        return
    forms = [form for form in DRAFTS.values() if isinstance(form, NoteFormat)]
    groups: dict[str, dict[Path, list[Path]]] = {form.name: {} for form in forms}
    hidden = 0
    for path in files_in(folder):
        try:
            form = note_format(path)
        except OSError as error:
            raise Invalid(f"{str(path)!r} can't be read: {error.strerror}") from None
        if form is None or format_name not in (None, form.name):
            continue
        if form.together == "tree" and any(map(is_hidden, path.relative_to(folder).parts)):
            hidden += 1
            continue
        place = {"file": path, "folder": path.parent, "tree": folder}[form.together]
        groups[form.name].setdefault(place, []).append(path)
    for form in forms:
        skipped = {HIDDEN: hidden} if hidden and form.together == "tree" else {}
        for place, files in groups[form.name].items():
            yield _read_together(place, files, form, skipped)


def _read_together(
    place: Path, files: Sequence[Path], form: NoteFormat, skipped: Mapping[str, int]
) -> tuple[Path, str, FileDrafts]:
    session = session_of(place)
    source = Source(origin=form.origin, session=session)
    if form.together == "file":
        text = place.read_bytes().decode("utf-8", "replace")
        return place, session, drafts_in(text, source, form)
    return place, session, notes_of(files, source, form, skipped)


def session_of(path: Path) -> str:
    """One session for everything that is ever imported from a place, so that repetitions count once."""
    return f"import-{hashlib.sha256(str(path.resolve()).encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def take(
    found: FileDrafts,
    memories: Memories,
    *,
    project: str | None = None,
    review: bool = False,
    dry_run: bool = False,
) -> Iterator[list[ImportResult]]:
    """Stores drafts, bit by bit, and links the related ones; those of no project are of `project`.

    A dry run returns what would happen, and changes nothing.
    """
    given = ((number, replace(draft, project=draft.project or project)) for number, draft in found.drafts)
    if isinstance(DRAFTS[found.format], LineFormat):
        return memories.import_batches(given, review=review, dry_run=dry_run)
    known = memories.profile.category_names
    drafts = tuple(
        (number, draft if draft.category in known else replace(draft, category=None))
        for number, draft in given
    )
    return _tied(drafts, found.ties, memories, review, dry_run)


def _tied(
    drafts: Sequence[tuple[int, Draft]],
    ties: Sequence[tuple[int, int]],
    memories: Memories,
    review: bool,
    dry_run: bool,
) -> Iterator[list[ImportResult]]:
    """Notes that grew get their new text, all others are imported, and then linked."""
    told = {
        place: ImportResult(number, outcome)
        for place, (number, draft) in enumerate(drafts)
        if _is_note(draft) and (outcome := _reworded(draft, memories, dry_run=dry_run))
    }
    yield list(told.values())
    fresh = [place for place in range(len(drafts)) if place not in told]
    places = iter(fresh)
    for batch in memories.import_batches((drafts[place] for place in fresh), review=review, dry_run=dry_run):
        told.update(zip(islice(places, len(batch)), batch, strict=True))
        yield batch
    for from_place, to_place in () if dry_run else ties:
        one, other = settled(told[from_place].outcome), settled(told[to_place].outcome)
        if one is not None and other is not None and one.id != other.id:
            memories.link(one.id, other.id)


def _is_note(draft: Draft) -> bool:
    return draft.source.origin == "file" and draft.subject is not None


def _reworded(draft: Draft, memories: Memories, *, dry_run: bool = False) -> Outcome | None:
    """The outcome for a note whose text changed since the last import; None for all others."""
    same = Filter(subject=draft.subject, project=draft.project, session=draft.source.session, origin="file")
    found = memories.find(same, limit=2).memories
    if len(found) != 1 or found[0].content == safe(draft.content):
        return None
    known = found[0]
    if dry_run:
        return Merged(known, known)
    try:
        done = memories.speaking_as("file", session=draft.source.session).revise(
            known.id, draft.content, summary=draft.summary or ""
        )
    except HoldfastError as wrong:  # buried, too long, or gone meanwhile
        return Refused(str(wrong))
    return done if isinstance(done, Waiting) else Merged(done.memory, done.previous)


HIDDEN: Final = "hidden"
_OTHER: Final = "not Markdown"
_BINARY: Final = "binary"
_LARGE: Final = "over 1 MiB"
_MAX_NOTE: Final = 1024 * 1024
_HEAD: Final = 8_192  # bytes in which a file that is no text shows it
_SKIPPED_FOLDERS: Final = frozenset({"node_modules"})


@dataclass(frozen=True, slots=True)
class NoteFolder:
    """The notes below a folder, in order, and the number of skipped files by reason."""

    notes: tuple[Path, ...]
    skipped: Mapping[str, int]


def notes_below(folder: Path) -> NoteFolder:
    """Finds the notes in a folder and its subfolders; a hidden folder counts as one skipped file."""
    notes: list[Path] = []
    skipped: Counter[str] = Counter()
    for place, folders, names in os.walk(folder):
        skipped[HIDDEN] += sum(is_hidden(name) for name in folders)
        folders[:] = sorted(name for name in folders if not is_hidden(name) and name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(place, name)
            reason = _why_not(path)
            if reason is None:
                notes.append(path)
            else:
                skipped[reason] += 1
    return NoteFolder(tuple(notes), {reason: number for reason, number in skipped.items() if number})


def is_hidden(name: str) -> bool:
    """Whether a file or folder is hidden: settings, a trash folder, a history."""
    return name.startswith(".")


def refuse_other(name: str, form: DraftFormat) -> None:
    """Raises: Invalid, for a file of another name than the notes of a folder have."""
    if form.together == "tree" and Path(name).suffix.casefold() != ".md":
        raise Invalid(f"{name!r} is not a {form.name} note: these are .md files", command="leave out --from")


def _why_not(path: Path) -> str | None:
    """Why a file is not a note, if so; an unreadable one is reported when it is read."""
    if is_hidden(path.name):
        return HIDDEN
    if path.suffix.casefold() != ".md" or not path.is_file():
        return _OTHER
    try:
        if path.stat().st_size > _MAX_NOTE:
            return _LARGE
        with path.open("rb") as file:
            return _BINARY if b"\0" in file.read(_HEAD) else None
    except OSError:
        return None
