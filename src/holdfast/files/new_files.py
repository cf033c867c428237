"""Imports many new files at once: a directory of thousands is one import, not thousands of changes.

Only files without any conflict are imported here; the others are handled one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.memory import Memory
from holdfast.domain.secrets import redact
from holdfast.domain.space import FileRow
from holdfast.domain.text import clean
from holdfast.engine import changes
from holdfast.engine.file_changes import unopposed
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.files import frontmatter, note_format
from holdfast.files.frontmatter import Sheet
from holdfast.files.scan import BY_HAND, OnDisk, SyncReport


@dataclass(frozen=True, slots=True)
class NoteFile:
    """The content of a file, without its secrets."""

    path: str
    found: OnDisk
    text: str
    is_plain: bool  # whether it had none
    sheet: Sheet

    @classmethod
    def of(cls, path: str, found: OnDisk, raw: str) -> "NoteFile":
        plain = clean(raw)
        text = redact(plain).text
        return cls(path, found, text, text == plain, frontmatter.read(text))

    @property
    def is_empty(self) -> bool:
        return not self.sheet.text.strip() and not self.sheet.description

    def imported(self, memory: Memory, report: SyncReport, *, nested: bool) -> FileRow:
        """The row of a file that became `memory`; the report tells what was found in it."""
        if self.sheet.by_lines:
            report.by_lines.append(self.path)
        if not self.is_plain:
            report.redacted.append(self.path)
        row = note_format.row_for(self.path, memory, self.text, nested=nested)
        # A file with a secret in it does not stay so: without its state it is written again.
        return replace(row, hash=self.found.hash, stat=self.found.seen.state if self.is_plain else None)


def taken_together(
    new: Mapping[str, OnDisk],
    tx: Transaction,
    ctx: SpaceContext,
    report: SyncReport,
    now: datetime,
    nested: bool,
) -> set[str]:
    """Imports files at new paths; returns the imported paths."""
    whole = {path: found for path, found in new.items() if found.wrong is None}
    notes = [NoteFile.of(path, found, found.text) for path, found in whole.items() if found.text is not None]
    read = [each for each in notes if not each.is_empty]
    named = {each.sheet.id for each in read if each.sheet.id is not None}
    known = {memory.id for memory in tx.memories.many(sorted(named))}
    read = [each for each in read if each.sheet.id not in known]
    asked = [note_format.draft_of(each.sheet, each.path, ctx.profile, BY_HAND) for each in read]
    free = unopposed(asked, tx=tx, ctx=ctx)
    taken = [(each, draft) for each, draft in zip(read, free, strict=True) if draft is not None]
    memories = changes.add_all(tx, ctx, [draft for _, draft in taken], now=now)
    rows = []
    for (each, _), memory in zip(taken, memories, strict=True):
        rows.append(each.imported(memory, report, nested=nested))
        report.new.append(each.path)
    tx.files.put(*rows)
    return {each.path for each, _ in taken}
