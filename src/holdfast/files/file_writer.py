"""Writes and removes files of a bound directory; an edit made at that very moment goes to the inbox."""

import hashlib
from contextlib import suppress
from dataclasses import replace

from holdfast.domain.space import FileRow
from holdfast.engine.file_changes import set_aside
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import NotFound
from holdfast.files import frontmatter, note_format
from holdfast.files.memory_paths import MemoryFile
from holdfast.files.safe_directory import Listing, SafeDirectory
from holdfast.files.scan import BY_HAND, SyncReport


class FileWriter:
    """Changes files that are as a listing saw them, and reports what it did."""

    def __init__(self, ctx: SpaceContext, root: SafeDirectory, listing: Listing, report: SyncReport) -> None:
        self._ctx = ctx
        self._root = root
        self._listing = listing
        self._report = report

    def remove(self, row: FileRow) -> FileRow:
        """The row of a deleted memory's file, once that is gone."""
        if row.path in self._listing.files:
            with suppress(NotFound):
                self._rescue(row.path, self._root.delete(row.path, self._listing.files[row.path]))
                self._report.removed.append(row.path)
        return replace(row, hash=None)

    def write(self, place: MemoryFile, nested: bool) -> FileRow | None:
        """The row of a file that had to be written; none if it is up to date."""
        if not place.is_behind:
            return None
        text = place.text(nested=nested)
        seen, lost = self._root.write(place.path, text.encode(), self._listing.files.get(place.path))
        self._rescue(place.path, lost)
        self._report.written.append(place.path)
        made = note_format.row_for(place.path, place.memory, text, nested=nested)
        return replace(made, hash=hashlib.sha256(text.encode()).hexdigest(), stat=seen.state)

    def _rescue(self, path: str, lost: bytes | None) -> None:
        """Keeps an edit that was made in the moment that we replaced the file."""
        text = lost.decode(errors="replace") if lost is not None else ""
        if lost is None or not text.strip() or hashlib.sha256(lost).hexdigest() == self._known_hash(path):
            return
        draft = note_format.draft_of(frontmatter.read(text), path, self._ctx.profile, BY_HAND)
        reason = f"{path} was edited while Holdfast changed it"
        with self._ctx.write() as tx:
            waiting = set_aside(draft, reason, tx=tx, ctx=self._ctx, now=self._ctx.now())
        self._report.conflicts.append(waiting.id)

    def _known_hash(self, path: str) -> str | None:
        with self._ctx.read() as tx:
            row = tx.files.get(path)
        return row.hash if row is not None else None
