"""The end of a sync, in parts: writes the files that differ from their memories, then the index.

What is planned holds as long as the space is the same: a part that finds it changed plans anew.
"""

from dataclasses import dataclass, field, replace

from holdfast.domain.file_paths import INDEX
from holdfast.domain.space import Bound, FileRow
from holdfast.engine.ports import TimeUp
from holdfast.engine.space_context import SpaceContext
from holdfast.files.file_writer import FileWriter
from holdfast.files.index_file import IndexFile
from holdfast.files.memory_paths import MemoryFile, is_nested, note, places, regrouped
from holdfast.files.safe_directory import Listing, SafeDirectory
from holdfast.files.scan import SyncReport

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

    def _write(self, writer: FileWriter, bound: Bound, time_up: TimeUp) -> None:
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
