"""Which memory leads where two contradict: the newer one, and it stands above what it supersedes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from holdfast.domain.memory import Link, Memory

Item = TypeVar("Item")


def successors(links: Iterable[Link]) -> dict[str, str]:
    """Who leads in place of each superseded memory, by `supersedes` links, oldest first.

    The latest link counts: of several successors the last one, and of two that took turns the one that was
    said last.
    """
    latest = {frozenset((link.from_id, link.to_id)): link for link in links}
    ordered = sorted(latest.values(), key=lambda link: (link.created_at, link.from_id, link.to_id))
    return {link.to_id: link.from_id for link in ordered}


def successors_first(
    items: Sequence[Item],
    superseded: Mapping[str, str],
    owner: Callable[[Item], str],
    beside: Callable[[Item, Item], bool] = lambda older, newer: True,
) -> list[Item]:
    """The items in their order, but each successor right above the first that it supersedes.

    `beside` says which two may change places at all.
    """
    if not superseded:
        return list(items)
    found = {owner(item): item for item in items}
    placed: dict[str, Item] = {}
    for item in items:
        chain = {owner(item): item}
        older = item
        while (newer := found.get(superseded.get(owner(older), ""))) is not None:
            if owner(newer) in placed or owner(newer) in chain or not beside(older, newer):
                break
            chain[owner(newer)] = older = newer
        for name, one in reversed(chain.items()):
            placed.setdefault(name, one)
    return list(placed.values())


def newer_first(memories: Sequence[Memory]) -> list[Memory]:
    """A list with each superseded memory below the one that leads in its place."""
    superseded = {memory.id: memory.superseded_by for memory in memories if memory.superseded_by}
    return successors_first(memories, superseded, lambda memory: memory.id)
