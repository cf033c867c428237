"""Other programs' notes into a space: finds them in a folder, reads them, remembers them and ties them.

What a note becomes is the engine's to decide; which files are notes is the importers' business.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from holdfast.agents.importers import (
    FOREIGN_KINDS,
    FileDrafts,
    drafts_in,
    files_in,
    linked_notes,
    note_format,
    notes_of,
)
from holdfast.agents.importers.note_folder import HIDDEN, is_hidden, notes_below, refuse_other
from holdfast.domain.memory import Draft, Source
from holdfast.domain.outcomes import Merged, Outcome, Refused, Waiting, settled
from holdfast.domain.query import Filter
from holdfast.engine.imports import ImportResult
from holdfast.engine.intake import safe
from holdfast.engine.memories import Memories
from holdfast.errors import HoldfastError, Invalid

__all__ = ["FileDrafts", "found_in", "refuse_other", "session_of", "take"]


def found_in(folder: Path, format_name: str | None = None) -> Iterator[tuple[Path, str, FileDrafts]]:
    """The notes of a folder and of those in it: where they are, the session they belong to, what they say.

    Claude Code's own notes go by the folder, each graph of a memory server by itself, basic-memory's notes
    all together.
    Raises: Invalid.
    """
    if format_name == "basic-memory":
        yield _notebook(folder)
        return
    folders: dict[Path, list[Path]] = {}
    linked: list[Path] = []
    for path in files_in(folder):
        try:
            form = note_format(path)
            if format_name not in (None, form):
                continue
            if form == "basic-memory":
                linked.append(path)
            elif form == "auto-memory":
                folders.setdefault(path.parent, []).append(path)
            elif form == "mcp-memory":
                session = session_of(path)
                text = path.read_bytes().decode("utf-8", "replace")
                yield path, session, drafts_in(text, Source(origin="import", session=session), form)
        except OSError as error:
            raise Invalid(f"{str(path)!r} can't be read: {error.strerror}") from None
    for place, files in folders.items():
        session = session_of(place)
        yield place, session, notes_of(files, Source(origin="file", session=session))
    seen = [path for path in linked if not any(map(is_hidden, path.relative_to(folder).parts))]
    if seen:
        session = session_of(folder)
        skipped = {HIDDEN: len(linked) - len(seen)} if len(seen) < len(linked) else None
        yield folder, session, linked_notes(seen, Source(origin="import", session=session), skipped)


def _notebook(folder: Path) -> tuple[Path, str, FileDrafts]:
    """A folder that somebody calls one of basic-memory: all of its markdown.

    Raises: Invalid, when there is none.
    """
    found = notes_below(folder)
    if not found.notes:
        counts = ", ".join(f"{number:,} {reason}" for reason, number in found.skipped.items())
        raise Invalid(f"{str(folder)!r} has no .md files, so no basic-memory notes ({counts or 'empty'})")
    session = session_of(folder)
    source = Source(origin="import", session=session)
    return folder, session, linked_notes(found.notes, source, found.skipped)


def session_of(path: Path) -> str:
    """The session of all that was ever read from a place: what it says again counts once, however it grew."""
    return f"import-{hashlib.sha256(str(path.resolve()).encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def take(
    found: FileDrafts,
    memories: Memories,
    *,
    review: bool = False,
    dry_run: bool = False,
    report: Callable[[int], None] = lambda done: None,
) -> list[ImportResult]:
    """Remembers drafts and ties those that belong together; `report` hears how many were done.

    A dry run answers what would become of them, and changes nothing.
    """
    known = memories.profile.category_names
    drafts = [(number, _fitting(draft, known, found.format)) for number, draft in found.drafts]
    grown = {
        place: _reworded(draft, memories, dry_run=dry_run)
        for place, (_, draft) in enumerate(drafts)
        if _is_note(draft)
    }
    fresh = [each for place, each in enumerate(drafts) if not grown.get(place)]
    rest = iter(memories.import_drafts(fresh, review=review, dry_run=dry_run, report=report))
    told = [
        ImportResult(number, outcome) if (outcome := grown.get(place)) else next(rest)
        for place, (number, _) in enumerate(drafts)
    ]
    for from_place, to_place in () if dry_run else found.ties:
        one, other = settled(told[from_place].outcome), settled(told[to_place].outcome)
        if one is not None and other is not None and one.id != other.id:
            memories.link(one.id, other.id)
    return told


def _fitting(draft: Draft, categories: tuple[str, ...], form: str) -> Draft:
    """The draft in a category of this space: other programs' own kinds are none of ours."""
    if form in FOREIGN_KINDS and draft.category not in categories:
        return replace(draft, category=None)
    return draft


def _is_note(draft: Draft) -> bool:
    return draft.source.origin == "file" and draft.subject is not None


def _reworded(draft: Draft, memories: Memories, *, dry_run: bool = False) -> Outcome | None:
    """What became of a note that says something else now than when it was last read; none of all others."""
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
