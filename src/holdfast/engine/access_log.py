"""The access log: in a space that keeps one, each read is recorded before its result is handed out.

A read that can't be recorded is refused. It holds who, when, by which door, and ids; never texts.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack

from holdfast.domain.history import ReceiptItem
from holdfast.domain.memory import Memory, Message, Repetition, Version
from holdfast.domain.space import Access
from holdfast.engine.brief import Brief
from holdfast.engine.dialogues import ProxyContext
from holdfast.engine.doors import DOOR, DOORS
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid

MOST: Final = 1_000


class AccessFields(TypedDict, total=False):
    """What narrows a list of the access log."""

    memory: str | None  # that was shown
    token: str | None
    door: str | None
    since: datetime | None
    limit: int


def record(ctx: SpaceContext, verb: str, session: str | None, result: object) -> None:
    """Records a read.

    Raises: Unavailable, if that is not possible; then nobody may see the result.
    """
    with ctx.store.write(ctx.space, urgent=True) as tx:
        shown = _seen_in(result, session, tx)
        tx.accesses.add(
            Access(
                id=ctx.new_id(),
                at=ctx.now(),
                token=ctx.token,
                door=DOOR.get(),
                verb=verb,
                session=session,
                memories=tuple(dict.fromkeys(shown.memories)),
                messages=tuple(dict.fromkeys(shown.messages)),
            )
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    memories: list[str]
    messages: list[str]


def _seen_in(result: object, session: str | None, tx: Transaction) -> _Seen:
    """The ids of all memories and messages in a result.

    Of a text alone it is what its session was given so far: the receipts know.
    """
    if isinstance(result, ProxyContext):
        session, result = result.session, ""
    if isinstance(result, str):
        return _Seen(sorted(tx.receipts.shown_in(session)) if session is not None else [], [])
    seen = _Seen([], [])
    for one in _parts(result):
        match one:
            case Memory():
                seen.memories.append(one.id)
            case Message():
                seen.messages.append(one.id)
            case Version() | Repetition():
                seen.memories.append(one.memory)
            case Brief():
                seen.memories.extend(one.included)
            case ReceiptItem():
                seen.memories.extend([one.memory] if one.memory else [])
                seen.messages.extend([one.message] if one.message else [])
    return seen


def _parts(result: object) -> Iterator[object]:
    """A value and all values in it, but for what is inside of a memory or a message."""
    left: list[object] = [result]
    while left:
        one = left.pop()
        yield one
        if isinstance(one, Memory | Message | str):
            continue
        if is_dataclass(one):
            left.extend(getattr(one, each.name) for each in fields(one))
        elif isinstance(one, Mapping):
            left.extend(one.values())
        elif isinstance(one, Sequence | Set):
            left.extend(reversed(list(one)))  # taken from the end, so that they come in their order


def listed(*, ctx: SpaceContext, **wanted: Unpack[AccessFields]) -> list[Access]:
    """What was recorded, newest first.

    Raises: Invalid.
    """
    limit, door = wanted.get("limit", 100), wanted.get("door")
    if not 1 <= limit <= MOST:
        raise Invalid(f"limit must be 1 to {MOST:,}, not {limit}", field="limit")
    if door is not None and door not in DOORS:
        raise Invalid(f"unknown door {door!r:.60}: use one of {', '.join(DOORS)}", field="door")
    with ctx.read() as tx:
        return tx.accesses.latest(
            limit,
            memory=wanted.get("memory"),
            token=wanted.get("token"),
            door=door,
            since=wanted.get("since"),
        )


def drop_old(ctx: SpaceContext, now: datetime) -> None:
    """Removes what is older than the space keeps it."""
    with ctx.read() as tx:
        moment = now - timedelta(days=tx.space.access_log_days)
        if not tx.accesses.any_before(moment):
            return
    with ctx.write() as tx:
        tx.accesses.drop_before(moment)
