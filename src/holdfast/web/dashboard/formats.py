"""Formats numbers, times, texts, differences and cursors for pages. The templates escape."""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from difflib import SequenceMatcher
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field, TypeAdapter

from holdfast.domain.memory import Memory
from holdfast.domain.query import MemoryCursor, TimeCursor
from holdfast.errors import Invalid

MAX_LISTED: Final = 320  # characters of a text in a list
_STEPS: Final = ((60, "min"), (24, "h"), (30, "d"))


def number(value: float) -> str:
    """A confidence or score without trailing zeros: 0.7, 0.85, 1."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def short(value: float) -> str:
    """A part of a score, in hundredths: 0.81, 1, 0.05."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """`1 memory`, `1,200 memories`."""
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


def memories(amount: int) -> str:
    return count(amount, "memory", "memories")


def ago(moment: datetime, now: datetime) -> str:
    """The time since `moment` in one unit: `just now`, `5 min ago`, `3 d ago`, `in 2 h`; a date if it is
    long.
    """
    seconds = (now - moment).total_seconds()
    past, amount = seconds >= 0, abs(seconds) / 60
    if amount < 1:
        return "just now" if past else "in a moment"
    for most, unit in _STEPS:
        if amount < most:
            return f"{int(amount)} {unit} ago" if past else f"in {int(amount)} {unit}"
        amount /= most
    return day(moment)


def day(moment: datetime) -> str:
    """`3 Mar 2026`"""
    there = moment.astimezone(UTC)
    return f"{there.day} {there:%b %Y}"


def exact(moment: datetime) -> str:
    """`2026-03-01 12:00:00 UTC`"""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def machine(moment: datetime) -> str:
    """For the `datetime` of a <time>."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def listed(text: str) -> str:
    """A text in a list: one line, truncated."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_LISTED else f"{line[:MAX_LISTED].rstrip()} …"


def percent(value: float) -> int:
    return round(value * 100)


def clock(moment: datetime) -> str:
    """The time of day in UTC: `14:05`."""
    return f"{moment.astimezone(UTC):%H:%M}"


Day = date | Literal[""]  # of a form, empty if none is chosen


def day_begins(chosen: Day, later: int = 0) -> datetime | None:
    """The beginning of a chosen day (UTC), or of the day that comes so many days later."""
    return datetime.combine(chosen, time.min, UTC) + timedelta(days=later) if chosen else None


After = Annotated[str, Field(max_length=1_000)]
Place = TypeVar("Place", MemoryCursor, TimeCursor)
_FORMS: Final[dict[type, TypeAdapter[Any]]] = {kind: TypeAdapter(kind) for kind in (MemoryCursor, TimeCursor)}


def cursor_text(place: MemoryCursor | TimeCursor) -> str:
    """A cursor as a text for a URL."""
    return base64.urlsafe_b64encode(_FORMS[type(place)].dump_json(place)).decode().rstrip("=")


def read_cursor(kind: type[Place], text: str) -> Place | None:
    """Decodes a cursor; None for the first page. Raises: Invalid."""
    if not text:
        return None
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        place: Place = _FORMS[kind].validate_json(base64.b64decode(padded, altchars=b"-_", validate=True))
    except ValueError:
        raise _invalid_cursor() from None
    if not all(_sound(getattr(place, field.name)) for field in fields(place)):
        raise _invalid_cursor()
    return place


def _sound(value: object) -> bool:
    """Whether both databases accept it: times with a zone, texts without a null character."""
    if isinstance(value, datetime):
        return value.tzinfo is not None
    return not isinstance(value, str) or "\0" not in value


def mark(*things: object) -> str:
    """The same mark, the same list."""
    return hashlib.sha256(repr(things).encode("utf-8", "replace")).hexdigest()[:16]


def _invalid_cursor() -> Invalid:
    return Invalid("invalid page cursor: go back to the first page", field="after")


_PIECES: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MAX_PIECES: Final = 4_000  # of a wording; longer ones are compared line by line


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text that both wordings share, or that this one has alone."""

    text: str
    changed: bool


def compared(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """The earlier and the later wording in pieces that, put together, are the wordings."""
    old, new = _split(before), _split(after)
    if max(len(old), len(new)) > _MAX_PIECES:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        changed = kind != "equal"
        if b > a:
            left.append(Piece("".join(old[a:b]), changed))
        if d > c:
            right.append(Piece("".join(new[c:d]), changed))
    return left, right


def _split(text: str) -> list[str]:
    return _PIECES.findall(text)


def shared(pieces: Sequence[Piece]) -> float:
    """The share of a text that the other one has too, from 0 to 1, without white space."""
    lengths = [(len("".join(piece.text.split())), piece.changed) for piece in pieces]
    whole = sum(length for length, _ in lengths)
    return sum(length for length, changed in lengths if not changed) / whole if whole else 0.0


def named(text: str, memories: Iterable[Memory]) -> list[tuple[str, Memory | None]]:
    """A sentence in pieces: each id of these memories is a piece of its own, with its memory."""
    known = {memory.id: memory for memory in memories}
    if not known:
        return [(text, None)]
    either = "|".join(map(re.escape, known))
    pieces = re.split(rf"(?<!\w)({either})(?!\w)", text)
    return [(piece, known.get(piece)) for piece in pieces if piece]
