"""A continuous copy of a SQLite file: a snapshot, and after it each committed page of the log, as segments.

A follower adds what was committed, every second or so. Whoever empties the log first adds the rest of it, so
that nothing is missed while a follower runs; what may have been missed makes it begin a new snapshot.
A folder belongs to one database; its name stands in a file beside the database, so that an erase finds it.

    FOLDER/lock                                 held by whoever changes the folder
    FOLDER/following                            held by the follower as long as it runs
    FOLDER/state.json                           up to where the log is copied
    FOLDER/000001-TIME/snapshot.db              the database at that time
    FOLDER/000001-TIME/000001-TIME.gz           what was committed after it, up to that time

A thread takes the write lock of the database before the lock of the folder, never the other way round.
"""

import gzip
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from holdfast.app import file_lock
from holdfast.errors import Conflict, Unavailable
from holdfast.store import write_ahead_log as wal

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_PATIENCE = 60.0  # seconds to wait for the lock of a folder
_PAUSE = 0.02
SNAPSHOT = "snapshot.db"
_DAY = timedelta(days=1)
_MOST_SEGMENTS = 64 << 20  # bytes that may follow a snapshot, unless the snapshot is larger


@dataclass(frozen=True, slots=True)
class CopyPosition:
    """Up to where the log is copied. An emptied log has nothing left behind it: the next one follows."""

    generation: str
    at: str
    file: str = ""  # which file it is of, by device and inode
    size: int = 0  # bytes of the segments
    segment: int = 0
    salts: str = ""
    frame: int = 0
    checksum: tuple[int, int] = (0, 0)
    emptied: bool = True


class Gap(Exception):
    """Something may have been committed that the copy does not have."""


class CopyFolder:
    """The folder of a continuous copy."""

    def __init__(self, folder: Path, database: Path) -> None:
        self.folder = folder
        self._database = database
        self._log = database.with_name(f"{database.name}-wal")
        self._state = folder / "state.json"

    @contextmanager
    def locked(self, patience: float | None = None) -> Iterator[None]:
        """Nobody else changes the folder during the block. Raises: Unavailable, OSError."""
        with _held(self.folder / "lock", _PATIENCE if patience is None else patience) as held:
            if not held:
                raise Unavailable(f"{self.folder} is in use: try again in a minute")
            yield

    @contextmanager
    def following(self) -> Iterator[None]:
        """This process is the follower during the block. Raises: Conflict, if there is one already."""
        # A moment's patience, because whoever asks whether there is a follower takes the lock for an instant.
        with _held(self.folder / "following", 1.0) as held:
            if not held:
                raise Conflict(f"another process copies into {self.folder} already: stop it first")
            # What an earlier follower knew of an emptied log may be out of date.
            if (state := self.state()) is not None:
                self._save(replace(state, emptied=False))
            yield

    def followed(self) -> bool:
        """Whether a follower is running."""
        if not (self.folder / "following").exists():
            return False
        with _held(self.folder / "following", 0) as held:
            return not held

    def state(self) -> CopyPosition | None:
        """None, if there is no snapshot to add to."""
        try:
            found = json.loads(self._state.read_text(encoding="utf-8"))
            state = CopyPosition(**{**found, "checksum": tuple(found["checksum"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return state if (self.folder / state.generation / SNAPSHOT).exists() else None

    def add(self) -> bool:
        """Adds what was committed since; false when there was nothing. The caller holds the lock.

        Raises: Gap, if something may be missing; OSError.
        """
        state = self.state()
        if state is None or state.file != self._file():
            raise Gap
        try:
            file = self._log.open("rb")
        except FileNotFoundError:
            if state.emptied:
                return False
            raise Gap from None
        with file:
            log = wal.log_of(file)
            if log is None:
                if state.emptied:
                    return False
                raise Gap
            begin = _beginning(file, log, state)
            end = wal.last_commit(file, log, begin.frame)
            return end > begin.frame and self._write_segment(file, log, begin, end)

    def _write_segment(self, file: IO[bytes], log: wal.Log, begin: CopyPosition, end: int) -> bool:
        part = self.folder / begin.generation / "segment.part"
        copied = begin
        number = begin.frame
        wal.seek(file, log, begin.frame)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=1) as packed:
                head = {"page_size": log.page_size, "order": log.order, "salts": log.salts.hex()}
                packed.write(json.dumps({**head, "checksum": begin.checksum}).encode() + b"\n")
                for frame in wal.frames(file, log, begin.checksum):
                    number += 1
                    packed.write(frame.raw)
                    if frame.pages:
                        copied = replace(copied, frame=number, checksum=frame.checksum)
                    if number == end:
                        break
            raw.flush()
            os.fsync(raw.fileno())
        if copied.frame < end:  # what is behind it was not written whole
            part.unlink()
            return copied.frame > begin.frame and self._write_segment(file, log, begin, copied.frame)
        at = _later(begin.at)
        segment, size = begin.segment + 1, begin.size + part.stat().st_size
        os.replace(part, part.with_name(f"{segment:06d}-{at}.gz"))
        _sync(part.parent)
        self._save(replace(copied, segment=segment, size=size, at=at, emptied=False))
        return True

    def end_of_log(self) -> CopyPosition:
        """The position behind all that is committed, for a snapshot; the caller holds the write lock."""
        state = CopyPosition(generation="", at="", file=self._file())
        with suppress(FileNotFoundError), self._log.open("rb") as file:
            log = wal.log_of(file)
            if log is not None:
                wal.seek(file, log, 0)
                found = replace(state, salts=log.salts.hex(), checksum=log.checksum, emptied=False)
                state = found
                for number, frame in enumerate(wal.frames(file, log, log.checksum), start=1):
                    if frame.pages:
                        state = replace(found, frame=number, checksum=frame.checksum)
        return state

    def begin(self, position: CopyPosition, write_snapshot: Callable[[Path], None]) -> None:
        """A new snapshot, which `write_snapshot` makes as of `position`; the caller holds the lock."""
        numbers = [int(each.name[:6]) for each in self._folders()]
        before = self.state()
        at = _later(before.at if before else "")
        made = self.folder / f"{max(numbers, default=0) + 1:06d}-{at}"
        made.mkdir(mode=0o700)
        write_snapshot(made / SNAPSHOT)
        for each in (made, self.folder):
            _sync(each)
        self._save(replace(position, generation=made.name, at=at))

    def log_was_emptied(self) -> None:
        """After a checkpoint, before which everything was added; the caller holds both locks."""
        if (state := self.state()) is not None:
            self._save(replace(state, emptied=True))

    def forget_position(self) -> None:
        """What comes next may not follow what is there: the follower begins a new snapshot."""
        self._state.unlink(missing_ok=True)

    def is_due(self) -> bool:
        """Whether it is time for a new snapshot: after a day, or when the segments have outgrown the last."""
        state = self.state()
        if state is None or not state.segment:
            return False  # there is nothing new
        folder = self.folder / state.generation
        too_old = time_of(folder) <= datetime.now(UTC) - _DAY
        return too_old or state.size > max((folder / SNAPSHOT).stat().st_size, _MOST_SEGMENTS)

    def remove_older(self, than: datetime | None = None) -> None:
        """Removes snapshots that a restore to a time since `than` does not need; none: all but the last."""
        state = self.state()
        current = state.generation if state else None
        if current is None:
            return
        for folder, following in zip(self._folders(), self._folders()[1:], strict=False):
            if folder.name != current and (than is None or time_of(following) <= than):
                shutil.rmtree(folder)

    def _folders(self) -> list[Path]:
        return generations(self.folder)

    def _file(self) -> str:
        found = self._database.stat()
        return f"{found.st_dev}:{found.st_ino}"

    def _save(self, state: CopyPosition) -> None:
        part = self._state.with_name("state.part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(state), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._state)


def generations(folder: Path) -> list[Path]:
    """The snapshots with their segments, oldest first; unfinished ones too."""
    return sorted(each for each in folder.glob("[0-9]*-*Z") if each.is_dir())


def time_of(path: Path) -> datetime:
    """The time in the name of a snapshot's folder or of a segment."""
    return datetime.strptime(path.name[7:].removesuffix(".gz"), _STAMP).replace(tzinfo=UTC)


def _beginning(file: IO[bytes], log: wal.Log, state: CopyPosition) -> CopyPosition:
    """Where to go on in this log. Raises: Gap."""
    if log.salts.hex() == state.salts:
        known = state.frame == 0 or wal.stored_checksum(file, log, state.frame) == state.checksum
        if known:
            return state
    elif state.emptied:
        return replace(state, salts=log.salts.hex(), frame=0, checksum=log.checksum)
    raise Gap


def _later(than: str) -> str:
    """Now, but after `than`, whatever the clock says."""
    now = datetime.now(UTC)
    if than:
        before = datetime.strptime(than, _STAMP).replace(tzinfo=UTC)
        now = max(now, before + timedelta(microseconds=1))
    return now.strftime(_STAMP)


@contextmanager
def _held(file: Path, patience: float) -> Iterator[bool]:
    """Whether this thread holds the lock of a file during the block; the system drops it with the process."""
    descriptor = file_lock.open_file(file)
    try:
        deadline = time.monotonic() + patience
        while not (taken := file_lock.try_lock(descriptor)) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        yield taken
    finally:
        file_lock.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
