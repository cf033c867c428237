"""The verbs for files of a space: list, read, write, put, rename, delete.

They work on the database; a bound directory is updated after each commit. Knows nothing of disks.
"""

import hashlib
from dataclasses import replace
from datetime import datetime

from holdfast.domain.file_paths import MOST_FILES, checked_path
from holdfast.domain.memory import Draft, Memory, Revision, Source
from holdfast.domain.outcomes import Waiting
from holdfast.engine.file_changes import StaysDeleted, added
from holdfast.engine.forget import forgotten
from holdfast.engine.intake import safe
from holdfast.engine.ports import Transaction
from holdfast.engine.revise import revised
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, NotFound, Outdated, TooLong, UnknownCategory
from holdfast.files import frontmatter, note_format
from holdfast.files.memory_paths import (
    FileChange,
    FileEntry,
    FileText,
    MemoryFile,
    at_or_below,
    in_its_form,
    index_of,
    is_nested,
    move,
    no_file,
    place_at,
    places,
    refuse_in_the_way,
    rename_memory,
    vacate,
)

__all__ = ["FileChange", "FileEntry", "FileText"]

_MOST_HEADING = 8_192  # characters of a file beside its text


def listed(*, ctx: SpaceContext) -> list[FileEntry]:
    """All files, by path."""
    with ctx.read() as tx:
        nested = is_nested(tx)
        return [_entry(place, ctx, nested) for place in places(tx, ctx)]


def read(path: str, *, ctx: SpaceContext) -> FileText:
    """Raises: Invalid, NotFound."""
    path = checked_path(path)
    with ctx.read() as tx:
        place = place_at(path, tx, ctx)
        if place is None:
            raise no_file(path)
        text = place.text(nested=is_nested(tx))
        return FileText(path=path, text=text, content=frontmatter.read(text).text, memory=place.memory)


def index(*, ctx: SpaceContext) -> str:
    """The text of the index: every file under its type, 200 lines at most."""
    with ctx.read() as tx:
        found = [place for place in places(tx, ctx) if place.memory is not None]
        return index_of(found, ctx)


def write(
    path: str,
    content: str,
    *,
    ctx: SpaceContext,
    source: Source,
    name: str | None = None,
    description: str | None = None,
    category: str | None = None,
    expect: str | None = None,
    project: str | None = None,
) -> FileChange:
    """Creates or overwrites a file with our front matter; what is not given stays as it was.

    Raises: Invalid and its kinds; Conflict, for a name that another file has, or what a person deleted;
    Outdated, when it is not what the caller `expect`s.
    """
    path = checked_path(path)
    if category is not None and category not in ctx.profile.category_names:
        raise UnknownCategory(category, ctx.profile.category_names)
    with ctx.write() as tx:
        now = ctx.now()
        place = place_at(path, tx, ctx)
        if place is None and not path.endswith(".md"):
            place = place_at(path := checked_path(f"{path}.md"), tx, ctx)
        _expect(place, path, expect, nested=is_nested(tx))
        known = place.memory if place is not None else None
        if known is None:
            checked_path(path, folders=0 if place is None else 2)
            draft = Draft(
                content=content,
                category=category,
                subject=name or note_format.named(path, ctx.profile),
                summary=description,
                project=project,
                source=source,
            )
            return _created(path, draft, None, tx, ctx, now)
        revision = Revision(content=content, subject=name, summary=description, category=category)
        return _changed(path, known, revision, None, tx, ctx, source, now)


def put(
    path: str,
    text: str,
    *,
    ctx: SpaceContext,
    source: Source,
    new: bool = False,
    expect: str | None = None,
    project: str | None = None,
) -> FileChange:
    """Sets the exact text of a file, except for secrets; front matter in it is read, none is added.

    Raises: Conflict, when it is to be `new` and exists; Outdated, when it is not what the caller `expect`s;
    NotFound, when that is gone; Invalid and its kinds.
    """
    path = checked_path(path)
    text = safe(text)
    if len(text) > ctx.profile.limits.content_max + _MOST_HEADING:
        raise TooLong(
            f"the file has {len(text):,} characters: the limit is {ctx.profile.limits.content_max:,}",
            field="content",
        )
    with ctx.write() as tx:
        now = ctx.now()
        place = place_at(path, tx, ctx)
        if place is not None and new:
            raise Conflict(f"{path!r} already exists: change it, or choose another name")
        _expect(place, path, expect, nested=is_nested(tx))
        sheet = frontmatter.read(text)
        if not sheet.text.strip() and not sheet.description:
            if place is None:
                refuse_in_the_way(path, tx, ctx)
            return _emptied(path, text, place, tx, ctx, source, now)
        if place is None or place.memory is None:
            draft = note_format.draft_of(sheet, path, ctx.profile, source)
            draft = replace(draft, project=draft.project or project)
            return _created(path, draft, text, tx, ctx, now)
        before = frontmatter.read(place.text(nested=is_nested(tx)))
        revision = note_format.revision_of(sheet, place.memory, before, path, ctx.profile)
        return _changed(path, place.memory, revision, text, tx, ctx, source, now)


def rename(old: str, new: str, *, ctx: SpaceContext, source: Source) -> list[tuple[str, str]]:
    """Moves a file, or a folder with everything in it; the memories do not change.

    Raises: Invalid, NotFound, Conflict.
    """
    old, new = checked_path(old), checked_path(new)
    with ctx.write() as tx:
        found = at_or_below(old, tx, ctx)
        if not found:
            raise no_file(old)
        if new == old or new.startswith(f"{old}/"):
            raise Conflict(f"can't move {old!r} into itself: choose a name outside of it")
        if at_or_below(new, tx, ctx):
            raise Conflict(f"{new!r} already exists: choose another name")
        refuse_in_the_way(new, tx, ctx, leaving=old)
        moved = [(place.path, checked_path(new + place.path[len(old) :])) for place in found]
        for place, (_, target) in zip(found, moved, strict=True):
            move(place, target, tx)
            if place.memory is not None:
                rename_memory(place.memory, place.path, target, tx=tx, ctx=ctx, source=source)
        return moved


def delete(path: str, *, ctx: SpaceContext, source: Source) -> list[str]:
    """Deletes a file, or a folder with everything in it; the memories are soft-deleted.

    Raises: Invalid, NotFound.
    """
    path = checked_path(path)
    with ctx.write() as tx:
        found = at_or_below(path, tx, ctx)
        if not found:
            raise no_file(path)
        for place in found:
            if place.memory is not None:
                forgotten(place.memory, tx=tx, ctx=ctx, source=source, now=ctx.now(), softly=True)
            vacate(place.path, tx)
        return [place.path for place in found]


# ------------------------------------------------------------------------------------------------- inside


def _created(
    path: str, draft: Draft, text: str | None, tx: Transaction, ctx: SpaceContext, now: datetime
) -> FileChange:
    if tx.files.count() >= MOST_FILES:
        raise TooLong(f"there are {MOST_FILES:,} files already: delete some first", field="path")
    _refuse_named(draft, path, tx, ctx)
    refuse_in_the_way(path, tx, ctx)
    try:
        memory = added(draft, tx=tx, ctx=ctx, now=now)
    except StaysDeleted as error:
        raise Conflict(f"{path!r}: {error}; only the user can restore it") from None
    _keep(path, memory, text, tx)
    return FileChange(path=path, created=True, memory=memory)


def _changed(
    path: str,
    known: Memory,
    revision: Revision,
    text: str | None,
    tx: Transaction,
    ctx: SpaceContext,
    source: Source,
    now: datetime,
) -> FileChange:
    outcome = revised(known, revision, tx=tx, ctx=ctx, source=source, now=now)
    if isinstance(outcome, Waiting):
        return FileChange(path=path, created=False, memory=known, waiting=True, told=outcome.reason)
    if text is None:
        text = in_its_form(path, outcome.memory, revision, tx)
    _keep(path, outcome.memory, text, tx)
    return FileChange(path=path, created=False, memory=outcome.memory)


def _emptied(
    path: str,
    text: str,
    place: MemoryFile | None,
    tx: Transaction,
    ctx: SpaceContext,
    source: Source,
    now: datetime,
) -> FileChange:
    """Keeps an empty file; its memory is soft-deleted."""
    if place is not None and place.memory is not None:
        forgotten(place.memory, tx=tx, ctx=ctx, source=source, now=now, softly=True)
    _keep(path, None, text, tx)
    return FileChange(path=path, created=place is None, memory=None)


def _keep(path: str, memory: Memory | None, text: str | None, tx: Transaction) -> None:
    nested = is_nested(tx)
    made = text if text is not None else note_format.text_of(memory, None, nested=nested)
    old = tx.files.get(path)
    row = note_format.row_for(path, memory, made, nested=nested)
    # Not on disk yet: the directory finds it by the missing state.
    tx.files.put(replace(row, hash=old.hash if old is not None else None, stat=None))


def _refuse_named(draft: Draft, path: str, tx: Transaction, ctx: SpaceContext) -> None:
    if not ctx.profile.policy.subject_is_key or draft.subject is None:
        return
    for other in tx.memories.named(draft.subject, draft.project):
        place = next((one for one in places(tx, ctx) if one.memory and one.memory.id == other.id), None)
        where = f" of the file {place.path!r}" if place is not None and place.path != path else ""
        raise Conflict(
            f"{draft.subject!r} is already the name{where}: update that file, or choose another name"
        )


def _expect(place: MemoryFile | None, path: str, expect: str | None, *, nested: bool) -> None:
    if expect is None:
        return
    if place is None:
        raise NotFound(f"{path!r} was deleted in the meantime: create it again")
    if hashlib.sha256(place.text(nested=nested).encode()).hexdigest() != expect:
        raise Outdated(f"{path!r} was changed in the meantime: read it again, then retry")


def _entry(place: MemoryFile, ctx: SpaceContext, nested: bool) -> FileEntry:
    memory = place.memory
    return FileEntry(
        path=place.path,
        name=(memory.subject if memory else None) or place.path.removesuffix(".md"),
        description=memory.summary if memory else None,
        type=memory.category if memory else ctx.profile.unsorted or ctx.profile.block.general,
        updated_at=memory.updated_at if memory else None,
        size=len(place.text(nested=nested).encode()),
        memory_id=memory.id if memory else None,
    )
