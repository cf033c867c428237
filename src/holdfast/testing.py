"""Stand-ins for tests of agents that use Holdfast; knows nothing of stores or doors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

DEFAULT_START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FixedClock:
    """A clock that stands still until it is told to move; calling it gives the time."""

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self.set(start)

    def __call__(self) -> datetime:
        return self._now

    def now(self) -> datetime:
        """The time it stands at, in UTC."""
        return self._now

    def advance(self, **by: float) -> datetime:
        """Move by `days=`, `hours=`, `minutes=` … (the arguments of `timedelta`) and give the new time."""
        self._now += timedelta(**by)
        return self._now

    def set(self, moment: datetime) -> None:
        """Jump to `moment`, forwards or back.

        Raises:
            ValueError: the moment has no time zone.
        """
        if moment.tzinfo is None:
            raise ValueError(
                f"{moment.isoformat()} has no time zone: use an aware datetime, for example in UTC"
            )
        self._now = moment.astimezone(UTC)
