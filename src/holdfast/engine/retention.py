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
from holdfast.engine.space_context import SpaceContext

_AT_A_TIME = 25  # memories that are looked at, or changed, in one transaction
Item = TypeVar("Item")
_UPKEEP = Source(origin="operator")


def overdue(ctx: SpaceContext, now: datetime) -> Iterator[list[Due]]:
    """What the profile's rules would archive now, after empty lists for the small steps of looking."""
    if not has_rules(ctx.profile):
        return
    active: list[Memory] = []
    for page in memory_pages(ctx, Filter(created_before=_youngest(ctx, now))):
        active += page
        yield []
    shown: dict[str, datetime] = {}
    for batch in _batches(maybe_due(active, ctx.profile, now)):
        with ctx.store.read(ctx.space) as tx:
            uses = {memory.id: tx.receipts.uses(memory.id) for memory in batch}
        shown |= {each: max(use.created_at for use in found) for each, found in uses.items() if found}
        yield []
    yield due(active, ctx.profile, now, shown)


def _youngest(ctx: SpaceContext, now: datetime) -> datetime | None:
    """What came later can't be due; none where a category counts, for then every memory matters."""
    categories = ctx.profile.categories
    if any(each.keep_most for each in categories):
        return None
    rules = [ctx.profile.policy.unused_days]
    rules += [days for each in categories for days in (each.unused_days, each.keep_days)]
    return now - timedelta(days=min(days for days in rules if days)) + timedelta(microseconds=1)


def archive(ctx: SpaceContext, now: datetime) -> Iterator[list[tuple[Memory, str]]]:
    """Archives what is overdue, in small steps; each tells the memories as they are now, and why."""
    for found in overdue(ctx, now):
        yield []
        for batch in _batches(found):
            with ctx.store.write(ctx.space) as tx:
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
