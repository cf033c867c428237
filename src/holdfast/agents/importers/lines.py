"""JSON lines of a file that somebody else may be writing: from an offset on, without trusting any of them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

#: Longer lines hold pasted files and pictures, and would be no message that anybody reads again.
MOST_LINE: Final = 16 * 1024 * 1024
_CHUNK: Final = 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9][\w.:@/+-]{0,150}", re.ASCII)

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line: from where to where, and the object on it; `broken` where something else stands."""

    offset: int
    end: int
    object: Object | None
    broken: bool = False


def start_in(path: Path, offset: int) -> int:
    """Where to go on in a file: at `offset`, or at its beginning if it has become shorter.

    Raises: OSError.
    """
    return offset if 0 <= offset <= path.stat().st_size else 0


def lines_from(path: Path, offset: int = 0) -> Iterator[TranscriptLine]:
    """The lines of a file that are complete, from `offset` on.

    The last line counts as complete without its newline too, once it is a whole object: then nothing more
    can be written to it.
    Raises: OSError.
    """
    start = offset
    with path.open("rb") as file:
        file.seek(start)
        while raw := _line(file):
            end = file.tell()
            found = _object(raw)
            if not raw.endswith(b"\n") and found is None:
                return
            yield TranscriptLine(start, end, found, broken=found is None and bool(raw.strip()))
            start = end


def _line(file: IO[bytes]) -> bytes:
    """The next line; of one that is too long only the end, so that it costs no memory."""
    raw = file.readline(MOST_LINE)
    while len(raw) >= MOST_LINE and not raw.endswith(b"\n"):
        more = file.readline(_CHUNK)
        if not more:
            return b"{"  # too long and not yet ended: no object, no newline
        if more.endswith(b"\n"):
            return b"too long\n"
    return raw


def _object(raw: bytes) -> Object | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return None
    return found if isinstance(found, dict) else None


def first_objects(path: Path, most: int = 20) -> list[Object]:
    """The first objects of a file, to know its format by.

    Raises: OSError.
    """
    found: list[Object] = []
    for number, line in enumerate(lines_from(path)):
        if number >= most:
            break
        if line.object is not None:
            found.append(line.object)
    return found


def text_of(found: Object, name: str) -> str | None:
    """A field that is a text and says something."""
    value = found.get(name)
    return value if isinstance(value, str) and value.strip() else None


def object_of(found: Object, name: str) -> Object:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def id_of(found: Object, name: str) -> str | None:
    """A field that can be an id."""
    value = found.get(name)
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def moment_of(found: Object, name: str = "timestamp") -> datetime | None:
    """A field that is a time in ISO 8601; without a zone it is UTC."""
    value = found.get(name)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def texts_of(content: Any, kinds: tuple[str | None, ...] = ("text",)) -> list[str]:
    """The texts of a message: of a plain one, or of its blocks of these kinds."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") in kinds and isinstance(block.get("text"), str)
    ]
