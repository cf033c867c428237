"""Syncs a bound directory with the memories of its space.

First imports edits of files, then writes the files that differ from their memories. Both sides are compared
with the last sync. One process at a time: the caller holds the lock of the directory. An empty or missing
directory never empties the space: the user is asked.
"""

import hashlib
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from holdfast.domain.file_paths import INDEX, MOST_FILES
from holdfast.domain.space import Bound, FileRow
from holdfast.engine.ports import TimeUp
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import HoldfastError, Invalid, NotFound, TooLong
from holdfast.files.edits import ApplyEdits
from holdfast.files.memory_paths import places
from holdfast.files.safe_directory import Listing, SafeDirectory
from holdfast.files.scan import BY_HAND, EMPTY, OnDisk, Progress, SyncReport, asks_about
from holdfast.files.verbs import put
from holdfast.files.write_back import IndexFile, WriteBack

_UNSURE_NS: Final = 2_000_000_000  # a file changed so shortly before we looked may have been changed after
_GONE_AT_A_TIME: Final = 50  # files that are forgotten in one slice
_BYTES: Final = 4  # that a character takes at most
_MOST_HEADING: Final = 65_536


class DirectorySync:
    """One sync, or one slice of it."""

    def __init__(
        self, ctx: SpaceContext, root: SafeDirectory, bound: Bound, progress: Progress | None = None
    ) -> None:
        self._ctx = ctx
        self._root = root
        self._bound = bound
        self._progress = progress or Progress()
        self.report = SyncReport()
        self.listing = Listing()
        self._rows: dict[str, FileRow] = {}
        self._index = IndexFile(ctx, root, bound)
        self._resumed = False
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
        back, self._progress.write_back = self._progress.write_back, None
        if back is not None and most is not None:
            return self._write(back, time_up)
        self._resumed = most is not None and self._resume()
        changed, gone = self._edits(most) if self._resumed else ({}, set())
        if not changed and not gone:  # see what came since
            self._resumed = False
            if not self._look(accept_empty=accept_empty, write_back=write_back):
                return self.report
            changed, gone = self._edits(most)
        # A file that is gone may be one of those that were not looked at yet, under a new name.
        forget = not self.report.unfinished
        batch = gone if changed or most is None else set(sorted(gone)[:_GONE_AT_A_TIME])
        self._take_over(changed, batch, time_up, forget=forget)
        self.report.unfinished |= len(batch) < len(gone) or (bool(changed or gone) and time_up())
        if self.report.unfinished:
            self._keep(
                changed.keys() | {old for old, _ in self.report.renamed} | (batch if forget else set())
            )
            return self.report
        edited = self._unsure or not self.report.quiet
        back = WriteBack(self._ctx, self.listing, dict(self.report.refused), edited)
        return self._write(back, time_up)

    def _write(self, back: WriteBack, time_up: TimeUp) -> SyncReport:
        """Writes what there is time for; the next slice goes on with it."""
        if back.go_on(self._root, self._bound, self.report, time_up):
            self.followed = back.seq or 0
        else:
            self.report.unfinished, self._progress.write_back = True, back
        return self.report

    def _resume(self) -> bool:
        """Goes on with what the slice before saw, unless the space has changed since."""
        with self._ctx.read() as tx:
            same = self._progress.listing is not None and self._progress.seq == tx.journal.last()
        listing, self._progress.listing = self._progress.listing, None
        if not same or listing is None:
            return False
        self.listing, self._rows = listing, self._progress.rows
        return True

    def _keep(self, touched: Collection[str]) -> None:
        """Keeps what was seen for the next slice, with the rows that this one may have changed."""
        with self._ctx.read() as tx:
            rows = {path: row for path, row in self._rows.items() if path not in touched}
            self._progress.rows = rows | tx.files.among(touched)
            self._progress.seq = tx.journal.last()
        self._progress.listing = self.listing
        self._progress.refused |= self.report.refused

    def _look(self, *, accept_empty: bool, write_back: bool) -> bool:
        """Lists the directory; false when somebody has to be asked first what to do."""
        with self._ctx.read() as tx:
            self._rows = {row.path: row for row in tx.files.all()}
        self.listing = self._root.list()
        self._root.sweep(self.listing)
        gone = self._gone(self._rows)
        if self._is_emptied(self._rows, gone) and not accept_empty:
            if not write_back:
                self._ask(EMPTY)
                return False
            self._rows |= self._forget_disk(gone)
        self._keep_index_lines()
        return True

    def _edits(self, most: int | None) -> tuple[dict[str, OnDisk], set[str]]:
        """The files that were changed, at most `most` of them, and those that are gone."""
        return self._other(self._rows, most=most), self._gone(self._rows)

    def untouched(self, listing: Listing) -> bool:
        """Whether no file was edited since the last sync, as far as its stamps tell."""
        with self._ctx.read() as tx:
            rows = {row.path: row for row in tx.files.all()}
        self.listing = listing
        return not (self._gone(rows) or self._other(rows, most=1) or self._unsure) and self._index.is_ours()

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
        for path in rows.keys() & self.listing.left_alone.keys() if not self._resumed else ():
            self.report.refused[path] = ("", self.listing.left_alone[path])
        here = self.listing.files.keys() | self.listing.left_alone.keys()
        return {path for path, row in rows.items() if row.hash is not None and path not in here}

    def _is_emptied(self, rows: dict[str, FileRow], gone: set[str]) -> bool:
        known = [row for row in rows.values() if row.hash is not None and (row.memory or row.given)]
        if not known or any(_is_note(path) for path in self.listing.files):
            return False
        return all(row.path in gone for row in known) and (len(known) > 1 or not self.listing.index)

    def _ask(self, why: str) -> None:
        asks = asks_about(why, self._bound.path)
        self.report.asks = asks
        if self._bound.asks != asks:
            with self._ctx.write() as tx:
                tx.files.bind(replace(self._bound, asks=asks))

    def _forget_disk(self, gone: set[str]) -> dict[str, FileRow]:
        with self._ctx.write() as tx:
            known = tx.files.among(gone).items()
            rows = {path: replace(row, hash=None, stat=None) for path, row in known}
            tx.files.put(*rows.values())
        return rows

    def _other(self, rows: dict[str, FileRow], *, most: int | None = None) -> dict[str, OnDisk]:
        """The files that are new or changed since the last sync; at most `most` of them."""
        found: dict[str, OnDisk] = {}
        agreed = self._bound.agreed_at
        since = int(agreed.timestamp() * 1e9) - _UNSURE_NS if agreed is not None else 0
        for path, seen in self.listing.files.items():
            row = rows.get(path)
            if row is None and not _is_note(path):
                continue
            settled = seen.changed_ns < since or self._progress.looked.get(path) == seen.state
            if row is not None and row.stat == seen.state and settled:
                continue
            state, why = self._progress.refused.get(path) or self._bound.refused.get(path, ("", ""))
            if state == seen.state:
                if not self._resumed:
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
            self._progress.looked[path] = seen.state
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

    def _keep_index_lines(self) -> None:
        """Lines that somebody added to the index become a note, because the index is rewritten."""
        kept = self._index.foreign_lines()
        if kept:
            text = "\n".join(kept) + "\n"
            name = f"from_index_{hashlib.sha256(text.encode()).hexdigest()[:8]}.md"
            try:
                put(name, text, ctx=self._ctx, source=BY_HAND)
            except HoldfastError as reason:
                self.report.refused[INDEX] = ("", f"its text can't be stored: {reason}")


def _is_note(path: str) -> bool:
    return path.endswith(".md")
