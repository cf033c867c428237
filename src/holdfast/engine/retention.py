"""Archives what has had its time, as the profile says: out of sight, listed, restorable; never deleted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter
from holdfast.domain.retention import Due, due, has_rules, maybe_due
from holdfast.engine import changes
from holdfast.engine.memory_pages import memory_pages
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import Desk

_AT_A_TIME = 25  # memories that are looked at, or changed, in one transaction
Item = TypeVar("Item")
_UPKEEP = Source(origin="operator")


def overdue(desk: Desk, now: datetime) -> Iterator[list[Due]]:
    """What the profile's rules would archive now, after empty lists for the small steps of looking."""
    if not has_rules(desk.profile):
        return
    active: list[Memory] = []
    for page in memory_pages(desk, Filter(created_before=_youngest(desk, now))):
        active += page
        yield []
    shown: dict[str, datetime] = {}
    for batch in _batches(maybe_due(active, desk.profile, now)):
        with desk.store.read(desk.space) as tx:
            uses = {memory.id: tx.receipts.uses(memory.id) for memory in batch}
        shown |= {each: max(use.created_at for use in found) for each, found in uses.items() if found}
        yield []
    yield due(active, desk.profile, now, shown)


def _youngest(desk: Desk, now: datetime) -> datetime | None:
    """What came later can't be due; none where a category counts, for then every memory matters."""
    categories = desk.profile.categories
    if any(each.keep_most for each in categories):
        return None
    rules = [desk.profile.policy.unused_days]
    rules += [days for each in categories for days in (each.unused_days, each.keep_days)]
    return now - timedelta(days=min(days for days in rules if days)) + timedelta(microseconds=1)


def archive(desk: Desk, now: datetime) -> Iterator[list[tuple[Memory, str]]]:
    """Archives what is overdue, in small steps; each tells the memories as they are now, and why."""
    for found in overdue(desk, now):
        yield []
        for batch in _batches(found):
            with desk.store.write(desk.space) as tx:
                done = [_archived(tx, each, now) for each in batch]
            yield [each for each in done if each is not None]


def _archived(tx: Transaction, each: Due, now: datetime) -> tuple[Memory, str] | None:
    if tx.memories.get(each.memory.id) != each.memory:
        return None  # it changed meanwhile, and is looked at the next time
    after = replace(each.memory, state="inactive")
    changes.change(tx, each.memory, after, "archived", source=_UPKEEP, now=now, note=each.reason)
    return after, each.reason


def _batches(found: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (found[start : start + _AT_A_TIME] for start in range(0, len(found), _AT_A_TIME))
