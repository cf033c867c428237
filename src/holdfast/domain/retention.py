"""Retention: which memories to archive, by the profile's rules: unused, old, or too many of a kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory
from holdfast.domain.profile import Category, Profile


@dataclass(frozen=True, slots=True)
class Due:
    """A memory to archive, and the rule for it."""

    memory: Memory
    reason: str


def has_rules(profile: Profile) -> bool:
    """Whether anything is ever due."""
    return profile.policy.unused_days > 0 or any(
        each.unused_days or each.keep_days or each.keep_most for each in profile.categories
    )


def maybe_due(memories: Iterable[Memory], profile: Profile, now: datetime) -> list[Memory]:
    """The memories that may be due, before the time of their last use is known."""
    categories = {each.name: each for each in profile.categories}
    counts: dict[str, int] = {}
    found = [memory for memory in memories if memory.active and not memory.pinned]
    for memory in found:
        counts[memory.category] = counts.get(memory.category, 0) + 1
    return [
        memory
        for memory in found
        if _overdue(memory, categories.get(memory.category), profile, now, None) is not None
        or _crowded(categories.get(memory.category), counts[memory.category])
    ]


def due(
    memories: Iterable[Memory], profile: Profile, now: datetime, shown: Mapping[str, datetime]
) -> list[Due]:
    """The memories to archive now, least recently used first; pinned ones are exempt and not counted."""
    categories = {each.name: each for each in profile.categories}
    found: list[Due] = []
    staying: dict[str, list[Memory]] = {}
    for memory in memories:
        if not memory.active or memory.pinned:
            continue
        category = categories.get(memory.category)
        reason = _overdue(memory, category, profile, now, shown.get(memory.id))
        if reason is not None:
            found.append(Due(memory, reason))
        elif category is not None and category.keep_most:
            staying.setdefault(category.name, []).append(memory)
    for name, kept in staying.items():
        most = categories[name].keep_most
        kept.sort(key=lambda one: (one.last_used(shown.get(one.id)), one.importance, one.id), reverse=True)
        reason = f"{name} keeps only the {most:,} most recently used or confirmed"
        found += [Due(memory, reason) for memory in kept[most:]]
    return sorted(found, key=lambda each: (each.memory.last_used(shown.get(each.memory.id)), each.memory.id))


def archived(memory: Memory, profile: Profile) -> bool:
    """Whether it was archived by retention, not by low confidence."""
    return memory.state == "inactive" and memory.confidence >= profile.policy.floor


def _overdue(
    memory: Memory, category: Category | None, profile: Profile, now: datetime, shown: datetime | None
) -> str | None:
    unused = (category.unused_days if category else 0) or profile.policy.unused_days
    if unused and now - memory.last_used(shown) >= timedelta(days=unused):
        return f"not used for {unused:,} days"
    keep = category.keep_days if category else 0
    if keep and memory.unconfirmed_for(now) >= timedelta(days=keep):
        return f"not confirmed for {keep:,} days"
    return None


def _crowded(category: Category | None, count: int) -> bool:
    return category is not None and 0 < category.keep_most < count
