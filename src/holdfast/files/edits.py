"""Imports edits of a bound directory, by hand or by git: changed, added, moved and deleted files.

One transaction. If both sides changed, the memory stays and the file's text goes to the inbox. What can't be
imported is reported and left alone. Knows no disk: the files were read before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from holdfast.domain.memory import Draft, Memory, Revision
from holdfast.domain.query import Filter
from holdfast.domain.space import FileRow
from holdfast.engine.file_changes import StaysDeleted, added, put_back, set_aside
from holdfast.engine.forget import forgotten
from holdfast.engine.ports import TimeUp, Transaction
from holdfast.engine.revise import Revised, revised
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid
from holdfast.files import frontmatter, new_files, note_format
from holdfast.files.memory_paths import is_nested, rename_memory, vacate
from holdfast.files.scan import BY_HAND, OnDisk, SyncReport


class ApplyEdits:
    """The edits of one transaction."""

    def __init__(self, tx: Transaction, ctx: SpaceContext, report: SyncReport) -> None:
        self._tx = tx
        self._ctx = ctx
        self._report = report
        self._now: datetime = ctx.now()
        self._nested = is_nested(tx)
        self._gone_still: set[str] = set()  # files that are gone, and whose memories are not forgotten yet

    def all(self, changed: dict[str, OnDisk], gone: set[str], time_up: TimeUp, *, forget: bool) -> None:
        """Imports changed files and, if it is to `forget` them, deletes the memories of missing ones.

        Of both as many as there is time for, at least one; new files are imported together.
        """
        moved = list(self._moved(changed, gone))
        for old, new in moved:
            gone.discard(old)
            row = self._tx.files.get(old)
            assert row is not None
            self._tx.files.remove(old)
            self._tx.files.put(replace(row, path=new))
            self._report.renamed.append((old, new))
        # What went comes first: its name may be wanted by what is new.
        self._gone_still = set(gone)
        for path in sorted(gone) if forget else ():
            self._gone(path)
            if time_up():
                break
        known = self._tx.files.among(changed)
        for path in sorted(known.keys() & changed.keys()):
            self._take_or_tell(path, changed[path])
            if time_up():
                self._report.unfinished = True
                break
        unknown = {path: found for path, found in sorted(changed.items()) if path not in known}
        taken = new_files.taken_together(unknown, self._tx, self._ctx, self._report, self._now, self._nested)
        for path, found in unknown.items():
            if path not in taken:
                self._take_or_tell(path, found)
        for old, new in moved:
            self._regroup(new)
            if (memory := self._memory(self._tx.files.get(new))) is not None:
                rename_memory(memory, old, new, tx=self._tx, ctx=self._ctx, source=BY_HAND)
        self._report.unfinished |= bool(self._gone_still)

    def _take_or_tell(self, path: str, found: OnDisk) -> None:
        if found.wrong is not None or found.text is None:
            self._report.refused[path] = (found.seen.state, found.wrong or "it can't be read")
            return
        try:
            self._take(path, found, found.text)
        except (Invalid, Conflict) as reason:
            self._report.refused[path] = (found.seen.state, str(reason))

    def _regroup(self, path: str) -> None:
        """A file that was moved into another category's folder takes that category."""
        bound, folder = self._tx.files.bound(), path.rpartition("/")[0]
        row = self._tx.files.get(path)
        memory = self._memory(row)
        if bound is None or bound.layout != "folders" or row is None or memory is None:
            return
        if folder in self._ctx.profile.category_names and folder != memory.category:
            self._revised(memory, Revision(category=folder))

    def _revised(self, memory: Memory, revision: Revision) -> Memory:
        outcome = revised(
            memory, revision, tx=self._tx, ctx=self._ctx, source=BY_HAND, now=self._now, vouched=True
        )
        return outcome.memory if isinstance(outcome, Revised) else memory

    def _moved(self, changed: dict[str, OnDisk], gone: set[str]) -> Iterator[tuple[str, str]]:
        """Files that moved to another path, found by their id or by their content."""
        if not changed or not gone:
            return
        rows = self._tx.files.among(gone)
        known = self._tx.files.among(changed)
        free = {path: found for path, found in sorted(changed.items()) if path not in known}
        said = {path: row.memory for path, row in rows.items()}
        wanted = {path: frontmatter.read(found.text or "").id for path, found in free.items()}
        by_id = list(_matched(said, wanted))
        yield from by_id
        left = {path: row.hash for path, row in rows.items() if path not in {old for old, _ in by_id}}
        still = {path: found.hash for path, found in free.items() if path not in {new for _, new in by_id}}
        yield from _matched(left, still)

    def _gone(self, path: str) -> None:
        self._gone_still.discard(path)
        row = self._tx.files.get(path)
        memory = self._memory(row)
        if row is None or memory is None:
            self._tx.files.remove(path)
        elif self._changed_here(row, memory):
            # Deleted there, changed here: the change is kept and written again.
            self._tx.files.put(replace(row, hash=None, stat=None))
        else:
            forgotten(memory, tx=self._tx, ctx=self._ctx, source=BY_HAND, now=self._now, softly=True)
            self._tx.files.remove(path)
            self._report.gone.append(path)

    def _take(self, path: str, found: OnDisk, raw: str) -> None:
        note = new_files.NoteFile.of(path, found, raw)
        sheet, text = note.sheet, note.text
        row = self._tx.files.get(path)
        memory = self._memory(row)
        if row is not None and row.hash == found.hash:  # moved, and otherwise as agreed
            self._tx.files.put(replace(row, stat=found.seen.state if row.stat is not None else None))
            return
        if note.is_empty:
            self._silent(path, found, text, memory)
            return
        if row is None and (memory := self._without_file(sheet)) is not None:
            row = FileRow(path=path, memory=memory.id)
        if row is None or (row.memory is None and row.given is not None):
            memory = self._new(path, sheet)
        elif memory is None:
            self._back_again(path, found, sheet, row)
            return
        elif text == note_format.text_of(memory, row, nested=self._nested) or not self._changed_here(
            row, memory
        ):
            memory = self._changed(path, sheet, memory, row)
        else:
            self._conflict(path, sheet, memory, row)
            return
        self._tx.files.put(note.imported(memory, self._report, nested=self._nested))

    def _new(self, path: str, sheet: frontmatter.Sheet) -> Memory:
        tx, ctx = self._tx, self._ctx
        draft = self._named(note_format.draft_of(sheet, path, ctx.profile, BY_HAND), path, "")
        known = self._known(sheet, draft)
        try:
            if known is None:
                memory = added(draft, tx=tx, ctx=ctx, now=self._now)
            else:
                known = put_back(known, tx=tx, ctx=ctx, source=BY_HAND, now=self._now)
                before = frontmatter.read(note_format.text_of(known, None, nested=self._nested))
                memory = self._reworded(known, sheet, before, path)
        except StaysDeleted as reason:
            waiting = set_aside(draft, f"{path} repeats it: {reason}", tx=tx, ctx=ctx, now=self._now)
            raise Conflict(f"{reason}; the text of the file is in the inbox as {waiting.id}") from None
        self._report.new.append(path)
        return memory

    def _without_file(self, sheet: frontmatter.Sheet) -> Memory | None:
        """The memory whose id is in a file, if it has no other file."""
        memory = self._tx.memories.get(sheet.id) if sheet.id else None
        if memory is None or not memory.active:
            return None
        return memory if self._tx.files.of(memory.id) is None else None

    def _known(self, sheet: frontmatter.Sheet, draft: Draft) -> Memory | None:
        """The forgotten memory that a new file was: by its id, or by its name."""
        memory = self._tx.memories.get(sheet.id) if sheet.id else None
        if memory is not None and memory.state == "forgotten":
            return memory
        if not self._ctx.profile.policy.subject_is_key or draft.subject is None:
            return None
        where = Filter(states=("forgotten",), subject=draft.subject)
        found = self._tx.memories.find(where, order="recent", limit=1)
        return found[0] if found and found[0].project == draft.project else None

    def _named(self, draft: Draft, path: str, memory_id: str) -> Draft:
        """The draft with a unique name, if the profile requires unique names."""
        if not self._ctx.profile.policy.subject_is_key:
            return draft
        wanted, number = draft.subject, 1
        while wanted is not None and any(
            other.id != memory_id and not self._gives_way(other)
            for other in self._tx.memories.named(wanted, draft.project)
        ):
            base = note_format.named(path, self._ctx.profile) or path
            wanted = base if number == 1 else f"{base} {number}"
            number += 1
        return replace(draft, subject=wanted)

    def _gives_way(self, memory: Memory) -> bool:
        """Whether a memory's name is free for another file, because its own file is gone."""
        row = self._tx.files.of(memory.id)
        if row is None or row.path not in self._gone_still:
            return False
        self._gone(row.path)
        return self._memory(row) is None

    def _changed(self, path: str, sheet: frontmatter.Sheet, memory: Memory, row: FileRow) -> Memory:
        before = frontmatter.read(note_format.text_of(memory, row, nested=self._nested))
        self._report.taken.append(path)
        return self._reworded(memory, sheet, before, path)

    def _reworded(
        self, memory: Memory, sheet: frontmatter.Sheet, before: frontmatter.Sheet, path: str
    ) -> Memory:
        tx, ctx = self._tx, self._ctx
        if _says(sheet) == _says(before):
            return memory
        revision = note_format.revision_of(sheet, memory, before, path, ctx.profile)
        draft = Draft(content="", subject=revision.subject, project=revision.project or memory.project)
        if revision.subject and self._named(draft, path, memory.id).subject != revision.subject:
            revision = replace(revision, subject=None)
        try:
            return self._revised(memory, revision)
        except Conflict as reason:
            draft = note_format.draft_of(sheet, path, ctx.profile, BY_HAND)
            waiting = set_aside(draft, f"{path}: {reason}", tx=tx, ctx=ctx, now=self._now, known=memory)
            raise Conflict(f"{reason}; the text of the file is in the inbox as {waiting.id}") from None

    def _conflict(self, path: str, sheet: frontmatter.Sheet, memory: Memory, row: FileRow) -> None:
        """Changed on both sides since the last sync: the memory stays, the file's text goes to the inbox."""
        draft = note_format.draft_of(sheet, path, self._ctx.profile, BY_HAND)
        draft = replace(draft, category=draft.category or memory.category, project=memory.project)
        reason = f"{path} and memory {memory.id} were both changed"
        waiting = set_aside(draft, reason, tx=self._tx, ctx=self._ctx, now=self._now, known=memory)
        self._tx.files.put(replace(row, hash=row.hash, stat=None))
        self._report.conflicts.append(waiting.id)

    def _back_again(self, path: str, found: OnDisk, sheet: frontmatter.Sheet, row: FileRow) -> None:
        """Deleted here, changed there: the file's text goes to the inbox, then the file is removed."""
        draft = note_format.draft_of(sheet, path, self._ctx.profile, BY_HAND)
        reason = f"{path} was changed, but its memory was deleted"
        waiting = set_aside(draft, reason, tx=self._tx, ctx=self._ctx, now=self._now)
        vacate(path, self._tx)
        self._tx.files.put(FileRow(path=path, memory=None, hash=found.hash, stat=found.seen.state))
        self._report.conflicts.append(waiting.id)

    def _silent(self, path: str, found: OnDisk, text: str, memory: Memory | None) -> None:
        """An empty file: its memory is soft-deleted."""
        if memory is not None:
            forgotten(memory, tx=self._tx, ctx=self._ctx, source=BY_HAND, now=self._now, softly=True)
            self._report.gone.append(path)
        self._tx.files.put(
            FileRow(path=path, memory=None, given=text, hash=found.hash, stat=found.seen.state)
        )

    def _memory(self, row: FileRow | None) -> Memory | None:
        memory = self._tx.memories.get(row.memory) if row is not None and row.memory else None
        return memory if memory is not None and memory.active else None

    def _changed_here(self, row: FileRow, memory: Memory) -> bool:
        return row.stat is None or row.mark != note_format.mark(memory)


def _says(sheet: frontmatter.Sheet) -> tuple[object, ...]:
    return (sheet.text.strip(), sheet.name, sheet.description, sheet.type, sheet.project, sheet.tags)


def _matched(old: Mapping[str, str | None], new: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Pairs of paths with the same content, each path once, in order."""
    waiting: dict[str, list[str]] = {}
    for path in sorted(old, reverse=True):
        if (said := old[path]) is not None:
            waiting.setdefault(said, []).append(path)
    for path in sorted(new):
        if waiting.get(new[path] or ""):
            yield waiting[new[path] or ""].pop(), path
