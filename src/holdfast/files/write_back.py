"""The end of a sync, in parts: writes the files that differ from their memories, then the index.

What is planned holds as long as the space is the same: a part that finds it changed plans anew.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field, replace

from holdfast.domain.file_paths import INDEX
from holdfast.domain.space import Bound, FileRow
from holdfast.engine.file_changes import set_aside
from holdfast.engine.ports import TimeUp
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, NotFound
from holdfast.files import frontmatter, memory_paths, note_format
from holdfast.files.memory_paths import MemoryFile, is_nested, note, places, regrouped
from holdfast.files.safe_directory import Listing, SafeDirectory
from holdfast.files.scan import BY_HAND, SyncReport

_AT_A_TIME = 100  # files that are written between two looks at their rows
_AT_LEAST = 5  # in any slice: so many that what changes all the time is caught up with


@dataclass(slots=True)
class WriteBack:
    """What is left to write of a sync that saw and imported these; `edited`: the state has to be stored."""

    ctx: SpaceContext
    listing: Listing
    refused: dict[str, tuple[str, str]]
    edited: bool
    seq: int | None = None  # the space's last change when it was planned
    _found: list[MemoryFile] = field(default_factory=list)
    _rows: dict[str, FileRow] = field(default_factory=dict)
    _left: dict[str, MemoryFile | None] = field(default_factory=dict)  # by path; none: to be removed
    _regrouped: bool = False

    def go_on(self, root: SafeDirectory, bound: Bound, report: SyncReport, time_up: TimeUp) -> bool:
        """Does at least one part; whether all is done."""
        if bound.layout == "folders" and not self._regrouped:
            with self.ctx.write() as tx:
                regrouped(tx, self.ctx)
            self._regrouped = True
            if time_up():
                return False
        begun = self.seq is not None
        planned = self._plan()
        if not begun and time_up():
            return False
        wrote = bool(self._left)
        while self._left:
            self._write(FileWriter(self.ctx, root, self.listing, report), bound, time_up)
            if self.seq is None or (self._left and time_up()):
                return False
        if wrote and not planned and time_up():  # what changes all the time must not prevent it
            return False
        self._agree(root, bound, report)
        return True

    def _plan(self) -> bool:
        """Plans what to write, unless that was done and the space is the same; answers whether it did."""
        with self.ctx.read() as tx:
            seq = tx.journal.last()
            if seq == self.seq:
                return False
            self._rows = {row.path: row for row in tx.files.all()}
            taken = frozenset(self.listing.files) | frozenset(self.listing.left_alone)
            self._found = places(tx, self.ctx, taken=taken, rows=self._rows)
        self.seq = seq
        gone = sorted(self._rows.keys() - {place.path for place in self._found})
        behind = {place.path: place for place in self._found if place.is_behind}
        left = {**dict.fromkeys(gone), **behind}
        self._left = {path: place for path, place in left.items() if path not in self.refused}
        return True

    def _write(self, writer: "FileWriter", bound: Bound, time_up: TimeUp) -> None:
        """Writes or removes the next files and stores their rows; one that is not as planned ends it."""
        written: dict[str, FileRow] = {}
        batch = list(self._left)[:_AT_A_TIME]
        with self.ctx.read() as tx:
            nested = is_nested(tx)
            rows = tx.files.among(batch)
        for path in batch:
            if rows.get(path) != self._rows.get(path):  # renamed or moved, which is no change of the space
                self.seq = None
                break
            place = self._left.pop(path)
            row = writer.write(place, nested) if place is not None else writer.remove(rows[path])
            written.update({path: row} if row is not None else {})
            if len(written) >= _AT_LEAST and time_up():
                break
        with self.ctx.write() as tx:
            for path, row in written.items():
                note(row, rows.get(path), tx)
            if written:  # from here on the index is behind, which whoever comes after a kill sees by this
                tx.files.bind(replace(bound, index_hash=None))
        self.edited |= bool(written)

    def _agree(self, root: SafeDirectory, bound: Bound, report: SyncReport) -> None:
        """Writes the index, and stores the state of both sides."""
        refused = {path: list(why) for path, why in self.refused.items()}
        index_hash, written = IndexFile(self.ctx, root, bound).write(self._found)
        report.written.extend([INDEX] if written else [])
        state = replace(bound, index_hash=index_hash, asks=None, refused=refused)
        if self.edited or written or state != bound or bound.agreed_at is None:
            with self.ctx.write() as tx:
                tx.files.bind(replace(state, agreed_at=self.ctx.now()))


class FileWriter:
    """Writes and removes files that are as a listing saw them; an edit made meanwhile goes to the inbox."""

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


class IndexFile:
    """The index on disk, compared with what was last written."""

    def __init__(self, ctx: SpaceContext, root: SafeDirectory, bound: Bound) -> None:
        self._ctx = ctx
        self._root = root
        self._last_hash = bound.index_hash
        self._shared = bound.layout == "shared"

    def is_ours(self) -> bool:
        """Whether the index is what we last wrote."""
        current = self._current()
        return current is not None and self._last_hash == _hash(current)

    def foreign_lines(self) -> list[str]:
        """The lines that somebody added, and that would be lost when the index is written again."""
        current = self._current()
        if current is None or self._shared or self.is_ours():
            return []
        return memory_paths.foreign_lines(current, self._ctx.profile)

    def write(self, found: list[MemoryFile]) -> tuple[str, bool]:
        """Writes the index if it has to change: the hash of its text, and whether it was written."""
        current = self._current()
        shown = [place for place in found if place.memory is not None]
        if self._shared:
            text = memory_paths.shared_index(current, shown)
        else:
            text = memory_paths.index_of(shown, self._ctx)
        if text != current:
            self._root.write(INDEX, text.encode())
        return _hash(text), text != current

    def _current(self) -> str | None:
        try:
            return self._root.read(INDEX, 1 << 22)[0].decode(errors="replace")
        except (NotFound, Invalid):
            return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
