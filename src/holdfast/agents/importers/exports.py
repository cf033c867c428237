"""Exports of chat services: a list of conversations in conversations.json, plain or inside a zip file.

Knows where the lists are and goes through them, and knows nothing of what stands in them.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Final

from holdfast.agents.importers.conversation import Gathering, TranscriptPart
from holdfast.agents.importers.json_list import MOST_ELEMENT, elements
from holdfast.agents.importers.lines import Object
from holdfast.errors import Invalid

ZIP: Final = b"PK\x03\x04"
_MOST_RATIO: Final = 200  # text is packed to a tenth or so of its size
_LOOKED_AT: Final = 3  # elements that tell the format


def is_export(path: Path) -> bool:
    """Whether a file may be one: a zip file, or JSON that begins with a list.

    Raises: OSError.
    """
    if path.suffix not in (".zip", ".json"):
        return False
    with path.open("rb") as file:
        first = file.read(4096)
    return first.startswith(ZIP) or first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def first_of(path: Path) -> list[Object]:
    """The first objects of an export, to know it by; none, when it can't be read.

    Raises: OSError.
    """
    found: list[Object] = []
    try:
        for _, value in conversations(path):
            if not isinstance(value, dict) or len(found) >= _LOOKED_AT:
                break
            found.append(value)
    except Invalid:
        pass  # what could be read tells enough, and whoever reads it all says what is wrong
    return found


def check_export(path: Path) -> None:
    """Raises: Invalid, with what is wrong with a zip file that is to be an export; OSError."""
    next(conversations(path), None)


def gathered(
    path: Path,
    offset: int,
    client: str,
    *,
    fits: Callable[[Object], bool],
    take: Callable[[Object, Gathering], None],
) -> TranscriptPart:
    """All conversations of an export that `fits`, each by `take`; nothing, when it was read before.

    Raises: Invalid, with the line; OSError.
    """
    gathering = Gathering(client)
    size = path.stat().st_size
    if size == offset:
        return gathering.reading(offset)
    for _, found in conversations(path):
        if isinstance(found, dict) and fits(found):
            take(found, gathering)
        else:
            gathering.broken += 1
    return gathering.reading(size)


def conversations(path: Path) -> Iterator[tuple[int, Any]]:
    """The line and the value of every element of every list of conversations in an export.

    Raises: Invalid, naming file and line; OSError.
    """
    with path.open("rb") as file:
        packed = file.read(4).startswith(ZIP)
    if not packed and path.suffix == ".zip":
        raise Invalid(f"{path.name!r} is not a zip file: nothing was imported")
    if not packed:
        with path.open("rb") as file:
            yield from elements(file, path.name)
        return
    with _unpacked(path) as archive:
        names = [name for name in archive.namelist() if _holds_conversations(name)]
        if not names:
            raise Invalid(f"{path.name!r} has no conversations.json: nothing was imported")
        for name in sorted(names):
            _refuse_bomb(archive.getinfo(name), path)
            with archive.open(name) as member:
                yield from elements(member, f"{path.name}: {name}")


@contextmanager
def _unpacked(path: Path) -> Iterator[zipfile.ZipFile]:
    """Raises: Invalid, for whatever is wrong with the zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError: it is encrypted; NotImplementedError: it is packed in a way that nobody uses.
        raise Invalid(f"{path.name!r} can't be unpacked ({error}): nothing was imported") from None


def _refuse_bomb(member: zipfile.ZipInfo, path: Path) -> None:
    """By what the file says of itself; no more than that is unpacked.

    Raises: Invalid.
    """
    if member.file_size > max(MOST_ELEMENT, _MOST_RATIO * member.compress_size):
        raise Invalid(
            f"{path.name!r}: {member.filename} unpacks to more than {_MOST_RATIO} times its size: "
            "nothing was imported"
        )


def _holds_conversations(name: str) -> bool:
    """conversations.json, in whatever folder, and its parts where a service writes several."""
    file = PurePosixPath(name).name
    return file.startswith("conversations") and file.endswith(".json")
