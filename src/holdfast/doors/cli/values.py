"""Values that need more than click's own types: times, and texts that may come by a pipe."""

import sys
from datetime import UTC, datetime

import click

_MOST = 8_000_000  # bytes on standard input; far above what any profile takes, so that an endless pipe ends


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date or time in ISO 8601 as an aware one; without a zone it is UTC."""
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        right = "use for example 2026-03-01 or 2026-03-01T14:30:00Z"
        raise click.BadParameter(f"{value!r} is no time: {right}", ctx, param) from None


def text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A text; `-` stands for what comes on standard input."""
    if value != "-":
        return value
    given = read_input(_MOST + 1)
    if len(given) > _MOST:
        raise click.BadParameter(f"standard input holds more than {_MOST:,} bytes: give less", ctx, param)
    return given.decode("utf-8-sig", "replace")


def read_input(most: int = -1) -> bytes:
    """What stands on standard input, at most so many bytes of it; nothing when there is none."""
    return sys.stdin.buffer.read(most) if sys.stdin is not None else b""
