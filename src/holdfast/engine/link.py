"""link and unlink: relations between memories of a space."""

from holdfast.domain.memory import LINK_KINDS, LinkKind, Source
from holdfast.engine import changes
from holdfast.engine.space_context import SpaceContext, existing
from holdfast.errors import Invalid, NotFound


def link(from_id: str, to_id: str, kind: LinkKind, *, ctx: SpaceContext, source: Source) -> bool:
    """Links two memories; returns False if they were linked already.

    Raises: NotFound, Invalid.
    """
    _check(from_id, to_id, kind)
    with ctx.write() as tx:
        now = ctx.now()
        from_memory = existing(tx, from_id)
        existing(tx, to_id)
        if not changes.connect(tx, from_id, to_id, kind, source=source, now=now):
            return False
        tx.journal.write(
            "linked", source=source, now=now, before=from_memory, after=from_memory, note=f"{kind} {to_id}"
        )
        return True


def unlink(from_id: str, to_id: str, kind: LinkKind | None, *, ctx: SpaceContext, source: Source) -> int:
    """Removes the links from one memory to another, of one kind or all; returns how many.

    Raises: NotFound, if there is none.
    """
    with ctx.write() as tx:
        from_memory = existing(tx, from_id)
        count = changes.disconnect(tx, from_memory, to_id, kind, source=source, now=ctx.now())
        if not count:
            raise NotFound(
                f"there is no such link from {from_id} to {to_id}",
                command=f"`holdfast show {from_id}` lists its links",
            )
        return count


def _check(from_id: str, to_id: str, kind: str) -> None:
    if kind not in LINK_KINDS:
        raise Invalid(f"unknown link kind {kind!r}: use one of {', '.join(LINK_KINDS)}", field="kind")
    if from_id == to_id:
        raise Invalid("a memory can't be linked to itself: give two ids", field="to_id")
