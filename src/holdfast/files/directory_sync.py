"""Syncs a bound directory with the memories of its space.

First imports edits of files, then writes the files that differ from their memories. Both sides are compared
with the last sync. One process at a time: the caller holds the lock of the directory. An empty or missing
directory never empties the space: the user is asked.
"""

import hashlib
import time
from contextlib import suppress
from dataclasses import replace
from typing import Final

from holdfast.domain.file_paths import INDEX, MOST_FILES
from holdfast.domain.space import Bound, FileRow
from holdfast.engine.file_changes import set_aside
from holdfast.engine.ports import TimeUp
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import HoldfastError, Invalid, NotFound, TooLong
from holdfast.files import frontmatter, memory_paths, note_format
from holdfast.files.edits import ApplyEdits
from holdfast.files.memory_paths import MemoryFile, index_of, is_nested, note, places, regrouped
from holdfast.files.safe_directory import Listing, SafeDirectory
from holdfast.files.scan import BY_HAND, EMPTY, OnDisk, SyncReport, asks_about
from holdfast.files.verbs import put

_UNSURE_NS: Final = 2_000_000_000  # a file changed so shortly before we looked may have been changed after
_BYTES: Final = 4  # that a character takes at most
_MOST_HEADING: Final = 65_536


class DirectorySync:
    """One sync."""

    def __init__(self, ctx: SpaceContext, root: SafeDirectory, bound: Bound, looked: dict[str, str]) -> None:
        self._ctx = ctx
        self._root = root
        self._bound = bound
        self.report = SyncReport()
        self.listing = Listing()
        self._looked = looked  # the states of files that were read when they had settled
        self.followed = 0  # the number of the change up to which the files say what the memories say
        self._unsure = False  # whether a file had to be read because it was changed when we last looked

    def held(
        self,
        *,
        accept_empty: bool = False,
        write_back: bool = False,
        most: int | None = None,
        time_up: TimeUp = lambda: False,
    ) -> SyncReport:
        """Syncs both sides, as far as `most` files and the time allow; files are written last.

        Raises: Unavailable, TooLong.
        """
        with self._ctx.read() as tx:
            rows = {row.path: row for row in tx.files.all()}
        self.listing = self._root.list()
        self._root.sweep(self.listing)
        gone = self._gone(rows)
        if self._is_emptied(rows, gone) and not accept_empty:
            if not write_back:
                return self._ask(EMPTY)
            self._forget_disk(gone)
            gone = set()
        self._keep_index_lines()
        changed = self._other(rows, most=most)
        # A file that is gone may be one of those that were not looked at yet, under a new name.
        self._take_over(changed, gone, time_up, forget=not self.report.unfinished)
        self.report.unfinished |= bool(changed or gone) and time_up()
        if not self.report.unfinished:
            self._write(time_up)
        return self.report

    def untouched(self, listing: Listing) -> bool:
        """Whether no file was edited since the last sync, as far as its stamps tell."""
        with self._ctx.read() as tx:
            rows = {row.path: row for row in tx.files.all()}
        self.listing = listing
        return not (self._gone(rows) or self._other(rows, most=1) or self._unsure) and self._index_is_ours()

    def lags(self) -> bool:
        """Whether a file was not written after its memory changed, because a process was killed."""
        with self._ctx.read() as tx:
            found = places(tx, self._ctx)
            standing = {place.path for place in found}
            if any(row.path not in standing for row in tx.files.all()):
                return True
        return any(place.is_behind and place.path not in self._bound.refused for place in found)

    # -------------------------------------------------------------------------------- what was done by hand

    def _gone(self, rows: dict[str, FileRow]) -> set[str]:
        """The files that are missing; what replaced one, such as a link, is left alone."""
        for path in rows.keys() & self.listing.left_alone.keys():
            self.report.refused[path] = ("", self.listing.left_alone[path])
        here = self.listing.files.keys() | self.listing.left_alone.keys()
        return {path for path, row in rows.items() if row.hash is not None and path not in here}

    def _is_emptied(self, rows: dict[str, FileRow], gone: set[str]) -> bool:
        known = [row for row in rows.values() if row.hash is not None and (row.memory or row.given)]
        if not known or any(_is_note(path) for path in self.listing.files):
            return False
        return all(row.path in gone for row in known) and (len(known) > 1 or not self.listing.index)

    def _ask(self, why: str) -> SyncReport:
        asks = asks_about(why, self._bound.path)
        self.report.asks = asks
        if self._bound.asks != asks:
            with self._ctx.write() as tx:
                tx.files.bind(replace(self._bound, asks=asks))
        return self.report

    def _forget_disk(self, gone: set[str]) -> None:
        with self._ctx.write() as tx:
            known = tx.files.among(gone).values()
            tx.files.put(*(replace(row, hash=None, stat=None) for row in known))

    def _other(self, rows: dict[str, FileRow], *, most: int | None = None) -> dict[str, OnDisk]:
        """The files that are new or changed since the last sync; at most `most` of them."""
        found: dict[str, OnDisk] = {}
        agreed = self._bound.agreed_at
        since = int(agreed.timestamp() * 1e9) - _UNSURE_NS if agreed is not None else 0
        for path, seen in self.listing.files.items():
            row = rows.get(path)
            if row is None and not _is_note(path):
                continue
            settled = seen.changed_ns < since or self._looked.get(path) == seen.state
            if row is not None and row.stat == seen.state and settled:
                continue
            state, why = self._bound.refused.get(path, ("", ""))
            if state == seen.state:
                self.report.refused[path] = (state, why)
                continue
            other = row is None or row.stat != seen.state  # else nothing but a look tells
            if other and most is not None and len(found) >= most:
                self.report.unfinished = True
                continue
            on_disk = self._looked_at(path, row, len(rows))
            if on_disk is not None:
                found[path] = on_disk
        return found

    def _looked_at(self, path: str, row: FileRow | None, known: int) -> OnDisk | None:
        """A file's text; none if it is unchanged, missing, or about to be written."""
        most = self._ctx.profile.limits.content_max * _BYTES + _MOST_HEADING
        seen = self.listing.files[path]
        try:
            content, seen = self._root.read(path, most)
        except NotFound:
            return None
        except (Invalid, TooLong) as reason:
            return OnDisk(seen, "", None, str(reason))
        digest = hashlib.sha256(content).hexdigest()
        if settled := time.time_ns() - seen.changed_ns > _UNSURE_NS:
            self._looked[path] = seen.state
        if row is not None and row.hash == digest and row.stat in (None, seen.state):
            self._unsure |= settled
            return None
        if not content and row is not None and not settled:
            return None  # emptied by an editor that is about to write
        if row is None and known >= MOST_FILES:
            return OnDisk(seen, digest, None, f"there are {MOST_FILES:,} files already")
        try:
            return OnDisk(seen, digest, content.decode())
        except UnicodeDecodeError:
            return OnDisk(seen, digest, None, "it is not UTF-8 text")

    def _take_over(
        self, changed: dict[str, OnDisk], gone: set[str], time_up: TimeUp, *, forget: bool
    ) -> None:
        if not changed and not gone:
            return
        with self._ctx.write() as tx:
            ApplyEdits(tx, self._ctx, self.report).all(changed, gone, time_up, forget=forget)
            # The index is behind from here on: whoever comes after us, should we be cut off, sees it by this.
            self._bound = replace(self._bound, index_hash=None)
            tx.files.bind(self._bound)

    # -------------------------------------------------------------------------------- what we write

    def _write(self, time_up: TimeUp) -> None:
        """Writes the files that differ from their memories, then the index, as far as the time allows."""
        if self._bound.layout == "folders":
            with self._ctx.write() as tx:
                regrouped(tx, self._ctx)
        with self._ctx.read() as tx:
            followed = tx.journal.last()
            taken = frozenset(self.listing.files) | frozenset(self.listing.left_alone)
            rows = {row.path: row for row in tx.files.all()}
            found = places(tx, self._ctx, taken=taken, rows=rows)
            nested = is_nested(tx)
        standing = {place.path: place for place in found}
        rows_now = dict(rows)
        for path in (*sorted(rows.keys() - standing.keys()), *standing):
            if path in self.report.refused:
                continue
            place = standing.get(path)
            row = self._written(place, nested) if place is not None else self._removed(rows[path])
            if row is not None:
                rows_now[path] = row
                if time_up():
                    self.report.unfinished = True
                    break
        self._agree(rows, rows_now, found)
        self.followed = followed

    def _removed(self, row: FileRow) -> FileRow:
        """The row of a deleted memory's file, once that is gone."""
        if row.path in self.listing.files:
            with suppress(NotFound):
                self._rescue(row.path, self._root.delete(row.path, self.listing.files[row.path]))
                self.report.removed.append(row.path)
        return replace(row, hash=None)

    def _written(self, place: MemoryFile, nested: bool) -> FileRow | None:
        """The row of a file that had to be written; none if it is up to date."""
        if not place.is_behind:
            return None
        text = place.text(nested=nested)
        seen, lost = self._root.write(place.path, text.encode(), self.listing.files.get(place.path))
        self._rescue(place.path, lost)
        self.report.written.append(place.path)
        made = note_format.row_for(place.path, place.memory, text, nested=nested)
        return replace(made, hash=hashlib.sha256(text.encode()).hexdigest(), stat=seen.state)

    def _rescue(self, path: str, lost: bytes | None) -> None:
        """Keeps an edit that was made in the moment that we replaced the file."""
        text = lost.decode(errors="replace") if lost is not None else ""
        if lost is None or not text.strip() or hashlib.sha256(lost).hexdigest() == self._bound_hash(path):
            return
        draft = note_format.draft_of(frontmatter.read(text), path, self._ctx.profile, BY_HAND)
        reason = f"{path} was edited while Holdfast changed it"
        with self._ctx.write() as tx:
            waiting = set_aside(draft, reason, tx=tx, ctx=self._ctx, now=self._ctx.now())
        self.report.conflicts.append(waiting.id)

    def _bound_hash(self, path: str) -> str | None:
        with self._ctx.read() as tx:
            row = tx.files.get(path)
        return row.hash if row is not None else None

    def _agree(self, rows: dict[str, FileRow], rows_now: dict[str, FileRow], found: list[MemoryFile]) -> None:
        """Stores the state of the sync; of an unfinished one what was written, without the index."""
        state = self._bound
        if not self.report.unfinished:
            refused = {path: list(why) for path, why in self.report.refused.items()}
            state = replace(state, index_hash=self._write_index(found), asks=None, refused=refused)
        same = rows == rows_now and state == self._bound and self.report.quiet and not self._unsure
        if same and self._bound.agreed_at is not None and not self.report.written:
            return
        with self._ctx.write() as tx:
            for path, row in rows_now.items():
                if row != rows.get(path):
                    note(row, rows.get(path), tx)
            if not self.report.unfinished:
                tx.files.bind(replace(state, agreed_at=self._ctx.now()))

    # -------------------------------------------------------------------------------------------- the index

    def _write_index(self, found: list[MemoryFile]) -> str:
        current = self._index_on_disk()
        shown = [place for place in found if place.memory is not None]
        shared = self._bound.layout == "shared"
        text = memory_paths.shared_index(current, shown) if shared else index_of(shown, self._ctx)
        if text != current:
            self._root.write(INDEX, text.encode())
            self.report.written.append(INDEX)
        return hashlib.sha256(text.encode()).hexdigest()

    def _index_on_disk(self) -> str | None:
        try:
            return self._root.read(INDEX, 1 << 22)[0].decode(errors="replace")
        except (NotFound, Invalid):
            return None

    def _index_is_ours(self) -> bool:
        """Whether the index is what we last wrote."""
        current = self._index_on_disk()
        return current is not None and self._bound.index_hash == hashlib.sha256(current.encode()).hexdigest()

    def _keep_index_lines(self) -> None:
        """Lines that somebody added to the index become a note, because the index is rewritten."""
        current = self._index_on_disk()
        if current is None or self._bound.layout == "shared" or self._index_is_ours():
            return
        kept = memory_paths.foreign_lines(current, self._ctx.profile)
        if kept:
            text = "\n".join(kept) + "\n"
            name = f"from_index_{hashlib.sha256(text.encode()).hexdigest()[:8]}.md"
            try:
                put(name, text, ctx=self._ctx, source=BY_HAND)
            except HoldfastError as reason:
                self.report.refused[INDEX] = ("", f"its text can't be stored: {reason}")


def _is_note(path: str) -> bool:
    return path.endswith(".md")
