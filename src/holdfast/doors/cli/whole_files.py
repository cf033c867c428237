"""Files that the command line writes: whole or not at all, for their owner only, never over a stranger's."""

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from holdfast.errors import Invalid

GZIP = b"\x1f\x8b"


def write_whole(path: Path, lines: Iterable[str], *, compressed: bool = False) -> str:
    """Writes `lines` beside `path`, onto the disk, then puts the file in its place; answers the last line.

    Raises: Invalid, when the file can't be written or something else stands there.
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


def read_text(path: str, given: bytes | None = None) -> tuple[str, bytes]:
    """The text of a file, unpacked if it is packed, and its bytes; `given` stands for the file's own.

    Raises: Invalid.
    """
    try:
        raw = Path(path).read_bytes() if given is None else given
        unpacked = gzip.decompress(raw) if raw.startswith(GZIP) else raw
        return unpacked.decode("utf-8-sig"), raw
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise Invalid(f"{path!r} is damaged or was cut short: nothing was taken") from None
    except UnicodeDecodeError:
        raise Invalid(f"{path!r} is no text in UTF-8: nothing was taken") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Invalid(f"{path!r} can't be read: {why}") from None


def _refuse_strangers(path: Path) -> None:
    """An older backup or export may be replaced; any other file is somebody else's."""
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
        raise Invalid(f"{str(path)!r} exists and is no archive of Holdfast: choose another name")


def _unwritable(path: Path, error: OSError) -> Invalid:
    return Invalid(f"{str(path)!r} can't be written: {error.strerror or error}")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
