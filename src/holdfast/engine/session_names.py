"""What sessions are called: by the name that they were given, or by how their first prompt begins."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from holdfast.domain.memory import Session
from holdfast.engine.intake import safe
from holdfast.engine.space_context import SpaceContext, existing_session
from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.language.injected_text import typed

LAST: Final = "last"
_MOST: Final = 120  # characters
_LOOKED_AT: Final = 200  # sessions, the latest, among which a name is looked for


def titles(session_ids: Collection[str], *, ctx: SpaceContext) -> dict[str, str]:
    """The titles of sessions; none of one without a name in which nobody said anything on record."""
    with ctx.read() as tx:
        found = tx.sessions.openings(session_ids)
    said = {each: name or " ".join(typed(opening or "").split()) for each, name, opening in found}
    return {each: _shortened(title) for each, title in said.items() if title}


def name_session(session_id: str, name: str, *, ctx: SpaceContext) -> Session:
    """Gives a session a name. Raises: NotFound, Invalid."""
    kept = " ".join(safe(name).split())
    if not kept or len(kept) > _MOST:
        raise Invalid(f"a name has 1 to {_MOST} characters", field="name")
    with ctx.write() as tx:
        named = replace(existing_session(tx, session_id), name=kept)
        tx.sessions.save(named)
    return named


def find_session(words: str, *, ctx: SpaceContext) -> str:
    """The id of the session that a person means: its id, its title, the beginning of either, or "last".

    Raises: NotFound, Conflict.
    """
    with ctx.read() as tx:
        if tx.sessions.get(words) is not None:
            return words
        latest = tx.sessions.latest(_LOOKED_AT, not_of="tend")
    if words == LAST and latest:
        return latest[0].id
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


def _shortened(title: str) -> str:
    return title if len(title) <= _MOST else f"{title[: _MOST - 1].rstrip()}…"
