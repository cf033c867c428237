"""Reads and writes files atomically; never overwrites a file that Holdfast did not write."""

import gzip
import hashlib
import io
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from holdfast.errors import Invalid

GZIP = b"\x1f\x8b"
MOST_TEXT = (
    64 * 1024 * 1024
)  # bytes of a file that is read whole; archives and transcripts may be of any length
_HEAD = 100_000  # characters
MOST_LINE = 16 * 1024 * 1024
_MOST_RATIO = 200  # text is packed to a tenth or so of its size
_SMALL = 1024 * 1024  # bytes of which it does not matter how well they are packed


def write_whole(path: Path, lines: Iterable[str], *, compressed: bool = False) -> str:
    """Writes `lines` to a temporary file, syncs it, and renames it to `path`; returns the last line.

    Raises: Invalid, when the file can't be written or is not one of ours.
    """
    _refuse_strangers(path)
    last = ""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # made with mode 0600
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            # No name and no time inside: the same store gives the same bytes.
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if compressed else None
            for last in lines:
                (packed or file).write(last.encode("utf-8", "surrogatepass"))
            if packed is not None:
                packed.close()
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        Path(name).unlink(missing_ok=True)
    return last


def digest(path: str, given: bytes | None = None) -> str:
    """A hash of the bytes of a file, or of those that are `given`. Raises: Invalid."""
    with _readable(path), Path(path).open("rb") if given is None else io.BytesIO(given) as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def read_head(path: str, given: bytes | None = None) -> str:
    """The first lines of a file, as many as a format is recognised by. Raises: Invalid."""
    found, size = [], 0
    for line in read_lines(path, given):
        found.append(line)
        size += len(line)
        if size > _HEAD:
            break
    return "".join(found)


def read_text(path: str, given: bytes | None = None) -> str:
    """The text of a file, uncompressed; `given` replaces the content of the file.

    Raises: Invalid.
    """
    with _readable(path):
        raw = _first(Path(path), MOST_TEXT + 1) if given is None else given
        unpacked = _unpacked(raw).read(MOST_TEXT + 1) if raw.startswith(GZIP) else raw
        if max(len(raw), len(unpacked)) > MOST_TEXT:
            raise Invalid(f"{path!r} is larger than {MOST_TEXT >> 20} MB: split it; nothing was changed")
        return unpacked.decode("utf-8-sig")


def read_lines(path: str, given: bytes | None = None) -> Iterator[str]:
    """The lines of a file of any length, uncompressed; only one of them is in memory.

    Raises: Invalid.
    """
    with _readable(path), Path(path).open("rb") if given is None else io.BytesIO(given) as raw:
        packed = raw.read(2) == GZIP
        raw.seek(0)
        file = _unpacked(raw) if packed else raw
        size = number = allowed = 0
        while line := file.readline(MOST_LINE + 1):
            number += 1
            size += len(line)
            if len(line) > MOST_LINE:
                raise Invalid(
                    f"{path!r}, line {number}: longer than {MOST_LINE >> 20} MB; nothing was changed"
                )
            if size > allowed and size > (allowed := max(_SMALL, _MOST_RATIO * raw.tell())):
                raise Invalid(
                    f"{path!r} unpacks to more than {_MOST_RATIO} times its size: nothing was changed"
                )
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")


def _first(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _unpacked(raw: bytes | IO[bytes]) -> io.BufferedReader:
    file = gzip.GzipFile(fileobj=io.BytesIO(raw) if isinstance(raw, bytes) else raw)
    return io.BufferedReader(file)  # whose lines are found faster


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Raises: Invalid, for whatever is wrong with the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise Invalid(f"{path!r} is damaged or truncated: nothing was changed") from None
    except UnicodeDecodeError:
        raise Invalid(f"{path!r} is not UTF-8 text: nothing was changed") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Invalid(f"{path!r} can't be read: {why}") from None


def _refuse_strangers(path: Path) -> None:
    """Refuses to overwrite anything but an older backup or export."""
    from holdfast.engine.archive import is_archive

    try:
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            return
        with path.open("rb") as file:
            packed = file.read(2) == GZIP
        with gzip.open(path) if packed else path.open("rb") as file:
            first = file.readline(100_000).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error):
        first = ""
    if not is_archive(first):
        raise Invalid(f"{str(path)!r} exists and is not a Holdfast archive: choose another name")


def _unwritable(path: Path, error: OSError) -> Invalid:
    return Invalid(f"{str(path)!r} can't be written: {error.strerror or error}")


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # where a folder can't be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
