"""A directory outside of which nothing can be read or written.

Every folder is opened relative to the handle of its parent, links are never followed, and a name is checked
before it is used, so that a path can't change its meaning between a check and its use. Knows no memories.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from holdfast.domain.file_paths import INDEX, MOST_FOLDERS, checked_path, is_index, wrong_name
from holdfast.errors import HoldfastError, Invalid, NotFound, TooLong, Unavailable

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)  # these are missing on Windows, where nothing is opened
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
#: Without waiting: a pipe that somebody put there must not hold us up.
_FILE: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
_OURS: Final = ".holdfast-"  # how our temporary files begin; hidden, so that they are nobody's notes
_LEFTOVER: Final = re.compile(rf"{re.escape(_OURS)}[0-9a-f]{{16}}")
MOST_ENTRIES: Final = 20_000  # that a directory may have before it is taken for something else


@dataclass(frozen=True, slots=True)
class FileStamp:
    """The stamp of a regular file, to detect a change without reading it."""

    path: str
    state: str  # another one whenever the file was changed
    size: int
    changed_ns: int  # when, by the file system's clock


@dataclass(frozen=True, slots=True)
class Listing:
    """The content of a directory: files that may be notes, and what is left alone, with the reason."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    left_alone: dict[str, str] = field(default_factory=dict)
    index: list[FileStamp] = field(default_factory=list)  # the index, if it is there
    leftovers: list[str] = field(default_factory=list)  # of writes that are under way, or were cut off

    def snapshot(self) -> tuple[str, ...]:
        """A value that changes whenever something in the directory changes."""
        return tuple(sorted(f"{seen.path}\0{seen.state}" for seen in (*self.files.values(), *self.index)))


def seen_as(path: str, found: os.stat_result) -> FileStamp:
    return FileStamp(path, state_of(found), found.st_size, max(found.st_mtime_ns, found.st_ctime_ns))


def state_of(found: os.stat_result) -> str:
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


class SafeDirectory:
    """An open directory. Paths are relative, of at most two folders; close it when done."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        """Raises: NotFound, when it is not there; Invalid, when it is no directory; Unavailable."""
        self.path = path
        if os.open not in os.supports_dir_fd:
            raise Unavailable(f"{path}: folders can't be synced on Windows, where links could lead outside")
        try:
            if create:
                os.makedirs(path, mode=0o700, exist_ok=True)
            self._root = os.open(path, _FOLDER)
        except OSError as error:
            raise _told(error, path) from error

    def close(self) -> None:
        os.close(self._root)

    def __enter__(self) -> "SafeDirectory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def list(self) -> Listing:
        """All files up to two folders deep, without hidden ones.

        Raises: Unavailable; TooLong, for a directory that holds too much.
        """
        listing = Listing()
        try:
            self._walk(self._root, "", listing)
        except OSError as error:
            raise _told(error, self.path) from error
        return listing

    def read(self, path: str, most: int) -> tuple[bytes, FileStamp]:
        """A file's bytes.

        Raises: NotFound, Invalid, Unavailable; TooLong, for more than `most` bytes.
        """
        with self._within(path) as (folder, name):
            descriptor = os.open(name, _FILE, dir_fd=folder)
            try:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode):
                    raise Invalid(f"{path!r} is not a regular file: skipped", field="path")
                content = _read(descriptor, most + 1)
                after = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        if len(content) > most:
            raise TooLong(f"{path!r} is larger than {most:,} bytes: too large for a note", field="content")
        # What changed while it was read is read again the next time: the state before can't match then.
        return content, seen_as(path, found if state_of(found) != state_of(after) else after)

    def write(
        self, path: str, content: bytes, expected: FileStamp | None = None
    ) -> tuple[FileStamp, bytes | None]:
        """Writes a file atomically, readable by its owner only; folders are created.

        Replaces an existing file. If that was not the `expected` one, its bytes are returned too, so that a
        simultaneous edit is not lost.
        Raises: Invalid, Unavailable.
        """
        with self._within(path, create=True) as (folder, name):
            new = f"{_OURS}{os.urandom(8).hex()}"
            descriptor = os.open(new, _NEW, 0o600, dir_fd=folder)
            placed = False
            try:
                try:
                    _write(descriptor, content)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                with _held(name, folder) as displaced:
                    os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
                    placed = True
                    lost = displaced(expected)
            finally:
                if not placed:
                    with suppress(OSError):
                        os.unlink(new, dir_fd=folder)
            os.fsync(folder)
            return seen_as(path, os.stat(name, dir_fd=folder, follow_symlinks=False)), lost

    def delete(self, path: str, expected: FileStamp | None = None) -> bytes | None:
        """Removes a file, and folders that become empty; returns its bytes if it was not `expected`.

        Raises: NotFound, Invalid, Unavailable.
        """
        with self._within(path) as (folder, name):
            _regular(name, folder, path)
            with _held(name, folder) as displaced:
                os.unlink(name, dir_fd=folder)
                lost = displaced(expected)
            os.fsync(folder)
        self._prune(path)
        return lost

    def sweep(self, listing: Listing) -> None:
        """Removes leftovers of interrupted writes; only for the holder of the lock."""
        for path in listing.leftovers:
            above, _, name = path.rpartition("/")
            # A folder's own name is checked by the way in; the leftover's was by the listing.
            with suppress(HoldfastError), self._within(f"{above}/x" if above else "x") as (folder, _):
                os.unlink(name, dir_fd=folder)

    # ------------------------------------------------------------------------------------------- inside

    @contextmanager
    def _within(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """The handle of the folder of a file, and the file's name."""
        parts = [INDEX] if path == INDEX else checked_path(path).split("/")
        opened: list[int] = []
        folder = self._root
        try:
            for part in parts[:-1]:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=folder)
                folder = os.open(part, _FOLDER, dir_fd=folder)
                opened.append(folder)
            yield folder, parts[-1]
        except OSError as error:
            raise _told(error, path) from error
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _prune(self, path: str) -> None:
        """Removes folders that are empty now."""
        parts = path.split("/")[:-1]
        while parts:
            with suppress(HoldfastError), self._within("/".join(parts)) as (above, name):
                os.rmdir(name, dir_fd=above)
            parts.pop()

    def _walk(self, folder: int, prefix: str, listing: Listing) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = f"{prefix}{entry.name}"
                if entry.name.startswith("."):
                    if _LEFTOVER.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                        listing.leftovers.append(path)
                    continue
                if is_index(path):
                    with suppress(FileNotFoundError):
                        listing.index.append(seen_as(path, entry.stat(follow_symlinks=False)))
                    continue
                if len(listing.files) + len(listing.left_alone) >= MOST_ENTRIES:
                    raise TooLong(f"{self.path} has over {MOST_ENTRIES:,} files: is it the right directory?")
                if reason := _wrong_entry(entry, prefix):
                    listing.left_alone[path] = reason
                elif entry.is_dir(follow_symlinks=False):
                    self._descend(folder, entry.name, prefix, listing)
                else:
                    with suppress(FileNotFoundError):  # gone since it was listed
                        listing.files[path] = seen_as(path, entry.stat(follow_symlinks=False))

    def _descend(self, above: int, name: str, prefix: str, listing: Listing) -> None:
        try:
            folder = os.open(name, _FOLDER, dir_fd=above)
        except OSError:  # gone, replaced by a link, or closed to us since it was listed
            return
        try:
            self._walk(folder, f"{prefix}{name}/", listing)
        finally:
            os.close(folder)


def _wrong_entry(entry: "os.DirEntry[str]", prefix: str) -> str | None:
    if entry.is_symlink():
        return "it is a symbolic link, which is not followed"
    if reason := wrong_name(entry.name):
        return reason
    if entry.is_dir(follow_symlinks=False):
        return "it is nested too deeply" if prefix.count("/") >= MOST_FOLDERS else None
    return None if entry.is_file(follow_symlinks=False) else "it is not a regular file"


@contextmanager
def _held(name: str, folder: int) -> Iterator[Callable[[FileStamp | None], bytes | None]]:
    """Holds the current file open, so that it can be read after its name is gone."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        # A link, or what can't be read, is replaced or removed itself; what it leads to is left alone.
        if error.errno not in (errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.EACCES, errno.ENXIO):
            raise
        yield lambda _: None
        return
    before = os.fstat(descriptor)

    def displaced(expected: FileStamp | None) -> bytes | None:
        # Its time of change moved as its name went; size and time of writing tell whether it was written to.
        now = os.fstat(descriptor)
        known = expected is not None and expected.state == state_of(before)
        same = (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        if not stat.S_ISREG(now.st_mode) or (known and same):
            return None
        return _read(descriptor, now.st_size)

    try:
        yield displaced
    finally:
        os.close(descriptor)


def _regular(name: str, folder: int, path: str) -> None:
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise Invalid(f"{path!r} is not a regular file: skipped", field="path")


def _read(descriptor: int, most: int) -> bytes:
    pieces = []
    while most > 0 and (piece := os.read(descriptor, min(most, 1 << 20))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _write(descriptor: int, content: bytes) -> None:
    while content:  # a disk that is nearly full takes a part
        content = content[os.write(descriptor, content) :]


def _told(error: OSError, path: str) -> Invalid | NotFound | Unavailable:
    if error.errno == errno.ENOENT:
        return NotFound(f"there is no {path!r}")
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return Invalid(f"{path!r} is behind a symbolic link, which is not followed", field="path")
    if error.errno in (errno.ENOTDIR, errno.EISDIR):
        return Invalid(f"{path!r} is a folder where a file is expected, or the reverse", field="path")
    if error.errno == errno.ENAMETOOLONG:
        return Invalid(f"{path!r} is too long for this file system", field="path")
    return Unavailable(f"{path}: {error.strerror}")
