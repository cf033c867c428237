"""Titles of sessions (their name or first prompt), and their total usage."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from holdfast.domain.memory import Session, Source
from holdfast.domain.query import SessionFilter
from holdfast.engine.intake import safe
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, existing_session
from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.language.injected_text import typed

LAST: Final = "last"
_MOST: Final = 120  # characters
#: The stored name of a session of upkeep about two memories; their texts may be erased, so it has ids.
_PAIR: Final = re.compile(r"(\w+) and (\w+) (as one|kept apart)")
_DECIDED: Final = {"as one": "Merge", "kept apart": "Kept apart"}
_LOOKED_AT: Final = 200  # latest sessions whose titles are searched


@dataclass(frozen=True, slots=True)
class SessionTotals:
    """The total usage of sessions, as reported by agents."""

    sessions: int
    tokens: int
    dollars: float


def totals(where: SessionFilter, *, ctx: SpaceContext) -> SessionTotals:
    with ctx.read() as tx:
        count, usages = tx.sessions.usages(where)
    tokens = (usage_number(each, name) for each in usages for name in ("input_tokens", "output_tokens"))
    costs = (usage_number(each, "cost_usd") for each in usages)
    return SessionTotals(count, int(sum(filter(None, tokens))), sum(filter(None, costs)))


def usage_number(usage: Mapping[str, Any] | None, name: str) -> float | None:
    """A number that the agent reported; None if it is not a number."""
    value = (usage or {}).get(name)
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return value if sound else None


def titles(session_ids: Collection[str], *, ctx: SpaceContext) -> dict[str, str]:
    """The titles of sessions; without those that have no name and no message on record."""
    with ctx.read() as tx:
        found = tx.sessions.openings(session_ids)
        said = {each: name or " ".join(typed(opening or "").split()) for each, name, opening in found}
        said |= _pair_titles(said, tx)
    return {each: _shortened(title) for each, title in said.items() if title}


def _pair_titles(names: Mapping[str, str], tx: Transaction) -> dict[str, str]:
    """The titles of sessions of upkeep about two memories: with their texts instead of their ids."""
    pairs = {each: found for each, name in names.items() if (found := _PAIR.fullmatch(name))}
    ids = {memory_id for found in pairs.values() for memory_id in found.groups()[:2]}
    texts = {memory.id: f"“{_shortened(memory.content, 40)}”" for memory in tx.memories.many(list(ids))}
    return {
        each: f"{_DECIDED[found[3]]}: {texts.get(found[1], found[1])} and {texts.get(found[2], found[2])}"
        for each, found in pairs.items()
    }


def name_session(session_id: str, name: str, *, ctx: SpaceContext) -> Session:
    """Names a session. Raises: NotFound, Invalid."""
    kept = " ".join(safe(name).split())
    if not kept or len(kept) > _MOST:
        raise Invalid(f"a name has 1 to {_MOST} characters", field="name")
    with ctx.write() as tx:
        named = replace(existing_session(tx, session_id), name=kept)
        tx.sessions.save(named)
        # So that another store, which has the session too, takes the newer name.
        source = Source(origin="operator", session=session_id)
        tx.journal.write("renamed", source=source, now=ctx.now(), note=kept)
    return named


def find_session(words: str, *, ctx: SpaceContext, wrote: bool = False) -> str:
    """The id of the session with this id or title, or the beginning of one; "last" is the latest, or with
    `wrote` the latest that changed a memory.

    Raises: NotFound, Conflict.
    """
    with ctx.read() as tx:
        if tx.sessions.get(words) is not None:
            return words
        latest = tx.sessions.latest(_LOOKED_AT, where=SessionFilter(upkeep=False))
        if words == LAST:
            fitting = (each.id for each in latest if not wrote or tx.journal.of_session(each.id))
            if last := next(fitting, None):
                return last
            which = "has changed a memory" if wrote else "is known"
            raise NotFound(f"no session {which} in space {ctx.space!r} yet")
    called = titles([each.id for each in latest], ctx=ctx)
    wanted = words.casefold()
    names = {each.id: (called.get(each.id, "").casefold(), each.id.casefold()) for each in latest}
    exact = [each for each, both in names.items() if wanted in both]
    found = exact or [each for each, both in names.items() if any(one.startswith(wanted) for one in both)]
    if not wanted or not found:
        raise NotFound(
            f"there is no session {words!r} in space {ctx.space!r}",
            command="`holdfast sessions` lists them",
        )
    if len(found) > 1:
        ids = ", ".join(found[:3])
        raise Conflict(f"{len(found)} sessions are called {words!r}: give an id, such as {ids}")
    return found[0]


def _shortened(title: str, most: int = _MOST) -> str:
    return title if len(title) <= most else f"{title[: most - 1].rstrip()}…"
