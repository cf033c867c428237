"""Events of services, and actions with a cooldown. They are records: not compared, not recalled."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.profile import Cooldown
from holdfast.domain.subjects import subject_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a service, as seen by an agent or a person."""

    id: str
    level: str
    service: str | None
    content: str
    session: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An action that was taken on a service, successful or not."""

    id: str
    action: str
    service: str
    succeeded: bool
    content: str | None
    session: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CooldownStatus:
    """The state of an action on a service: the attempts within its window, and when it is allowed again."""

    service: str
    cooldown: Cooldown
    free_at: datetime | None  # None: allowed now
    attempts: tuple[Attempt, ...]  # within the window, newest first

    @property
    def allowed(self) -> bool:
        return self.free_at is None


def window(cooldown: Cooldown) -> timedelta:
    """The period in which attempts count."""
    return timedelta(hours=cooldown.hours)


def cooldown_statuses(
    attempts: Iterable[Attempt], cooldowns: Iterable[Cooldown], now: datetime
) -> list[CooldownStatus]:
    """The status of each service and action with an attempt within its window, by name."""
    by_name = {cooldown.name: (place, cooldown) for place, cooldown in enumerate(cooldowns)}
    groups: dict[tuple[str, int], list[Attempt]] = {}
    spelt: dict[str, str] = {}
    for attempt in sorted(attempts, key=lambda attempt: (attempt.created_at, attempt.id)):
        if attempt.action in by_name:
            place, cooldown = by_name[attempt.action]
            if attempt.created_at > now - window(cooldown):
                key = subject_key(attempt.service)
                spelt.setdefault(key, attempt.service)
                groups.setdefault((key, place), []).append(attempt)
    known = [cooldown for _, cooldown in by_name.values()]
    return [_status(spelt[key], known[place], group) for (key, place), group in sorted(groups.items())]


def _status(service: str, cooldown: Cooldown, group: list[Attempt]) -> CooldownStatus:
    newest = group[::-1]
    free_at = None
    if len(newest) >= cooldown.most:
        # Allowed again when so many have left the window that one more fits.
        free_at = newest[cooldown.most - 1].created_at + window(cooldown)
    return CooldownStatus(service=service, cooldown=cooldown, attempts=tuple(newest), free_at=free_at)
