"""How pages put numbers, times and stored texts into words. Escaping is the templates' own."""

from datetime import UTC, datetime
from typing import Final

MOST_LISTED: Final = 320  # characters of a text in a list
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
    """How long ago, in one step: `just now`, `5 min ago`, `3 d ago`, `in 2 h`; a date when it is long."""
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
    """A text as it stands in a list: one line, and not too much of it."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LISTED else f"{line[:MOST_LISTED].rstrip()} …"


def percent(value: float) -> int:
    return round(value * 100)
