"""Parameter types beyond click's own: times, and texts that may be piped in."""

import sys
from datetime import UTC, datetime

import click

_MOST = 8_000_000  # bytes on standard input; far above what any profile takes, so that an endless pipe ends


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """An ISO 8601 date or time as an aware datetime; without a zone it is UTC."""
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        right = "use for example 2026-03-01 or 2026-03-01T14:30:00Z"
        raise click.BadParameter(f"{value!r} is not a valid time: {right}", ctx, param) from None


def text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A text; `-` reads standard input."""
    if value != "-":
        return value
    given = read_input(_MOST + 1)
    if len(given) > _MOST:
        raise click.BadParameter(f"standard input is larger than {_MOST:,} bytes: shorten it", ctx, param)
    return given.decode("utf-8-sig", "replace")


def read_input(most: int = -1) -> bytes:
    """Standard input, at most so many bytes of it; empty when there is none."""
    return sys.stdin.buffer.read(most) if sys.stdin is not None else b""
