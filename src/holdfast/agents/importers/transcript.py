"""Shared by all readers of transcripts: JSON lines, access to untrusted fields, and the sessions read."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PureWindowsPath
from typing import IO, Any, Final, Literal

from holdfast.app import paths
from holdfast.language.injected_text import typed

Role = Literal["user", "assistant"]
#: Characters of one message. What is longer was pasted, and no space keeps it.
MOST_TEXT: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """A message of a person or an agent. Its id is the same whenever it is read."""

    id: str
    role: Role
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSession:
    """The part of an agent's session that was read."""

    session: str  # the host's id
    client: str
    directory: str | None = None
    project: str | None = None
    name: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None  # of the last line so far; the session may go on
    messages: tuple[TranscriptMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPart:
    """The content of a transcript from an offset on, and the offset to continue from.

    `skipped` counts ignored lines by kind, `broken` unreadable ones. A last line that is still being written
    is neither: `next_offset` is before it. `unfinished`: there is more to read.
    """

    conversations: tuple[TranscriptSession, ...]
    next_offset: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    broken: int = 0
    unfinished: bool = False

    @property
    def messages(self) -> int:
        return sum(len(one.messages) for one in self.conversations)


class Collector:
    """Collects messages by session, in the order in which the sessions begin."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._found: dict[str, TranscriptSession] = {}
        self._said: dict[str, dict[str, TranscriptMessage]] = {}
        self.skipped: Counter[str] = Counter()
        self.broken = 0

    def note(
        self,
        session: str,
        *,
        directory: str | None = None,
        project: str | None = None,
        name: str | None = None,
        at: datetime | None = None,
    ) -> None:
        """Adds facts about a session: the first directory and the last name count, and the widest times."""
        known = self._found.get(session) or TranscriptSession(session=session, client=self._client)
        times = [moment for moment in (known.started_at, known.ended_at, at) if moment is not None]
        self._found[session] = replace(
            known,
            directory=known.directory or directory,
            project=known.project if known.directory else known.project or project,
            name=name or known.name,
            started_at=min(times, default=None),
            ended_at=max(times, default=None),
        )

    def say(
        self,
        session: str,
        message_id: str,
        role: Role,
        texts: Sequence[str],
        at: datetime | None,
        *,
        empty: str = "injected",
    ) -> bool:
        """Adds a message, in place of an earlier one with the same id; false when it has no text.

        Of a user's texts only what a person typed counts; `empty` is the reason when nothing of it is left.
        """
        if role == "user":
            texts = [typed(text) for text in texts]
        text = "\n\n".join(text.strip() for text in texts if text.strip())
        if not text:
            self.skip(empty if role == "user" else "no text")
        elif len(text) > MOST_TEXT:
            self.skip("too long")
        else:
            message = TranscriptMessage(id=message_id, role=role, text=text, said_at=at)
            self._said.setdefault(session, {})[message_id] = message
        return bool(text)

    def skip(self, kind: str) -> None:
        self.skipped[kind] += 1

    def part(self, next_offset: int, *, unfinished: bool = False) -> TranscriptPart:
        """Everything that was collected, and the offset to continue from."""
        whole = (
            replace(one, messages=tuple(self._said.get(session, {}).values()))
            for session, one in self._found.items()
        )
        return TranscriptPart(
            conversations=tuple(whole),
            next_offset=next_offset,
            skipped=dict(self.skipped.most_common()),
            broken=self.broken,
            unfinished=unfinished,
        )


#: Longer lines contain pasted files and pictures.
MAX_LINE: Final = 16 * 1024 * 1024
_CHUNK: Final = 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9][\w.:@/+-]{0,150}", re.ASCII)

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line: its offsets, and the object on it; `broken` if it is not a JSON object."""

    offset: int
    end: int
    object: Object | None
    broken: bool = False


def start_in(path: Path, offset: int) -> int:
    """The offset to continue at: `offset`, or 0 if the file has become shorter. Raises: OSError."""
    return offset if 0 <= offset <= path.stat().st_size else 0


def lines_from(path: Path, offset: int = 0) -> Iterator[TranscriptLine]:
    """The complete lines of a file, from `offset` on.

    The last line is complete even without a newline if it is a whole object, because nothing can follow it.
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


def read_lines(
    path: Path,
    offset: int,
    most: int | None,
    collector: Collector,
    take: Callable[[TranscriptLine, Object], None],
) -> TranscriptPart:
    """Gives every object from `offset` on to `take`; stops after `most` bytes. Raises: OSError."""
    start = next_offset = start_in(path, offset)
    for line in lines_from(path, start):
        if most is not None and next_offset - start >= most:
            return collector.part(next_offset, unfinished=True)
        next_offset = line.end
        collector.broken += line.broken
        if line.object is not None:
            take(line, line.object)
    return collector.part(next_offset)


def _line(file: IO[bytes]) -> bytes:
    """The next line; one that is too long is skipped without holding it in memory."""
    raw = file.readline(MAX_LINE)
    while len(raw) >= MAX_LINE and not raw.endswith(b"\n"):
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
    """The first objects of a file, to detect its format. Raises: OSError."""
    found: list[Object] = []
    for number, line in enumerate(lines_from(path)):
        if number >= most:
            break
        if line.object is not None:
            found.append(line.object)
    return found


def first_lines(text: str, most: int = 5) -> list[str]:
    """The first lines of a text that are not blank, to detect its format."""
    return [line for line in text[:100_000].split("\n") if line.strip()][:most]


def text_of(found: Object, name: str) -> str | None:
    """A field, if it is a text that is not blank."""
    value = found.get(name)
    return value if isinstance(value, str) and value.strip() else None


def object_of(found: Object, name: str) -> Object:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def id_of(found: Object, name: str) -> str | None:
    """A field, if it can be an id."""
    value = found.get(name)
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def moment_of(found: Object, name: str = "timestamp") -> datetime | None:
    """A field, if it is a time in ISO 8601; without a zone it is UTC."""
    value = found.get(name)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def texts_of(content: Any, kinds: tuple[str | None, ...] = ("text",)) -> list[str]:
    """The texts of a message: the content itself, or its blocks of these kinds."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") in kinds and isinstance(block.get("text"), str)
    ]


@lru_cache(maxsize=1_000)
def project_of(directory: str | None) -> str | None:
    """The name of the git repository that contains `directory`; None outside of one.

    For a directory that no longer exists, its own name.
    """
    if not directory or "\0" in directory:
        return None
    foreign = PureWindowsPath(directory)
    if not os.path.isabs(directory) and not foreign.is_absolute():
        return None
    if os.path.isdir(directory):
        return paths.project_of(directory)
    return (foreign.name if "\\" in directory else os.path.basename(directory.rstrip("/"))) or None
