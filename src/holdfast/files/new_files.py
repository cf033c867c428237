"""Imports many new files at once: a directory of thousands is one import, not thousands of changes.

Only files without any conflict are imported here; the others are handled one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.secrets import redact
from holdfast.domain.text import clean
from holdfast.engine import changes
from holdfast.engine.file_changes import unopposed
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.files import frontmatter, note_format
from holdfast.files.frontmatter import Sheet
from holdfast.files.scan import BY_HAND, OnDisk, SyncReport


@dataclass(frozen=True, slots=True)
class _New:
    """The content of a file, without its secrets."""

    path: str
    found: OnDisk
    text: str
    is_plain: bool  # whether it had none
    sheet: Sheet


def taken_together(
    new: Mapping[str, OnDisk],
    tx: Transaction,
    ctx: SpaceContext,
    report: SyncReport,
    now: datetime,
    nested: bool,
) -> set[str]:
    """Imports files at new paths; returns the imported paths."""
    read = [each for path, found in new.items() if (each := _read(path, found)) is not None]
    named = {each.sheet.id for each in read if each.sheet.id is not None}
    known = {memory.id for memory in tx.memories.many(sorted(named))}
    read = [each for each in read if each.sheet.id not in known]
    asked = [note_format.draft_of(each.sheet, each.path, ctx.profile, BY_HAND) for each in read]
    free = unopposed(asked, tx=tx, ctx=ctx)
    taken = [(each, draft) for each, draft in zip(read, free, strict=True) if draft is not None]
    memories = changes.add_all(tx, ctx, [draft for _, draft in taken], now=now)
    rows = []
    for (each, _), memory in zip(taken, memories, strict=True):
        row = replace(note_format.row_for(each.path, memory, each.text, nested=nested), hash=each.found.hash)
        # A file with a secret in it does not stay so: without its state it is written again.
        rows.append(replace(row, stat=each.found.seen.state if each.is_plain else None))
        report.new.append(each.path)
        if each.sheet.by_lines:
            report.by_lines.append(each.path)
        if not each.is_plain:
            report.redacted.append(each.path)
    tx.files.put(*rows)
    return {each.path for each, _ in taken}


def _read(path: str, found: OnDisk) -> _New | None:
    """None for a file that can't be imported or is empty."""
    if found.wrong is not None or found.text is None:
        return None
    plain = clean(found.text)
    text = redact(plain).text
    sheet = frontmatter.read(text)
    if not sheet.text.strip() and not sheet.description:
        return None
    return _New(path, found, text, text == plain, sheet)
