"""Archives what has had its time, as the profile says: out of sight, listed, restorable; never deleted."""

from dataclasses import replace
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter
from holdfast.domain.retention import Due, due, has_rules, maybe_due
from holdfast.engine import changes
from holdfast.engine.desk import Desk
from holdfast.engine.ports import Transaction

_UPKEEP = Source(origin="operator")


def overdue(tx: Transaction, desk: Desk, now: datetime) -> list[Due]:
    """What the profile's rules would archive now."""
    if not has_rules(desk.profile):
        return []
    active = tx.memories.find(Filter(created_before=_youngest(desk, now)), order="created")
    shown: dict[str, datetime] = {}
    for memory in maybe_due(active, desk.profile, now):
        uses = tx.receipts.uses(memory.id)
        if uses:
            shown[memory.id] = max(use.created_at for use in uses)
    return due(active, desk.profile, now, shown)


def _youngest(desk: Desk, now: datetime) -> datetime | None:
    """What came later can't be due; none where a category counts, for then every memory matters."""
    categories = desk.profile.categories
    if any(each.keep_most for each in categories):
        return None
    rules = [desk.profile.policy.unused_days]
    rules += [days for each in categories for days in (each.unused_days, each.keep_days)]
    return now - timedelta(days=min(days for days in rules if days)) + timedelta(microseconds=1)


def archive(tx: Transaction, desk: Desk, now: datetime) -> list[tuple[Memory, str]]:
    """Archives what is overdue; answers each memory as it is now, and why."""
    done = []
    for each in overdue(tx, desk, now):
        after = replace(each.memory, state="inactive")
        changes.change(tx, each.memory, after, "archived", source=_UPKEEP, now=now, note=each.reason)
        done.append((after, each.reason))
    return done
