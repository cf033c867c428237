"""The history of one session: its messages, what the agent was given, and what it changed.

Reads only. A long session is read in parts; receipts and changes belong to the part in whose time they
happened, and a memory to the part with the message that it cites.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.history import Entry, Receipt
from holdfast.domain.memory import Memory, Message, Session
from holdfast.domain.operations import Attempt, Event
from holdfast.domain.spend import Spent
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, existing_session
from holdfast.errors import Invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One change of the session, and the memory as it is now; None if that is gone."""

    entry: Entry
    memory: Memory | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStory:
    """One part of a session, in the order of time."""

    session: Session
    messages: tuple[Message, ...]
    said: int  # messages in all
    given: tuple[Receipt, ...]
    shown: dict[str, Memory]  # memories in the receipts of this part, by id, as they are now
    quoted: dict[str, Message]  # messages in those receipts, by id
    written: tuple[Written, ...]
    events: tuple[Event, ...]
    attempts: tuple[Attempt, ...]
    briefs: tuple[Receipt, ...]  # of the whole session
    writes: int  # changes to memories in all
    tokens_given: int  # in all, by our estimate
    spent: Spent  # cost of the models that captured it
    mark: str  # unchanged as long as nothing changed


def session_story(session_id: str, *, ctx: SpaceContext, first: int = 1, limit: int = 100) -> SessionStory:
    """At most `limit` messages from number `first` on, with what happened in that time.

    Raises: NotFound, Invalid.
    """
    if first < 1 or not 1 <= limit <= 1_000:
        raise Invalid("first must be 1 or more, and limit 1 to 1,000", field="first")
    with ctx.read() as tx:
        session = existing_session(tx, session_id)
        stretch = _Stretch.of(session_id, first, limit, tx)
        receipts = tx.receipts.of_session(session_id)
        entries = [entry for entry in tx.journal.of_session(session_id) if entry.memory is not None]
        given = tuple(one for one in receipts if stretch.holds(one.created_at))
        told = tx.events.find(session=session_id)
        return SessionStory(
            session=session,
            messages=stretch.messages,
            said=stretch.said,
            given=given,
            shown=_shown(given, tx),
            quoted=_quoted(given, tx),
            written=_written(entries, stretch, tx),
            events=tuple(one for one in reversed(told) if stretch.holds(one.created_at)),
            attempts=tuple(
                one for one in tx.cooldowns.of_session(session_id) if stretch.holds(one.created_at)
            ),
            briefs=tuple(one for one in receipts if one.kind == "brief"),
            writes=len(entries),
            tokens_given=sum(one.tokens for one in receipts),
            spent=tx.spend.total(session=session_id),
            mark=f"{stretch.said}-{len(receipts)}-{_marks(receipts)}-{len(told)}-{tx.journal.last()}-{session.ended_at}",
        )


def _marks(receipts: Sequence[Receipt]) -> int:
    return sum(item.unhelpful_at is not None for receipt in receipts for item in receipt.items)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Consecutive messages, and the time that belongs to them."""

    messages: tuple[Message, ...]
    said: int
    begin: datetime | None  # None: from the session's beginning
    end: datetime | None  # None: to its end

    @classmethod
    def of(cls, session_id: str, first: int, limit: int, tx: Transaction) -> "_Stretch":
        said = tx.sessions.last_number(session_id)
        last = min(first + limit - 1, said)
        numbers = range(first, last + 2)  # with the first one of the next part
        found = tx.sessions.around([(session_id, number) for number in numbers])
        here = tuple(one for one in found if one.number <= last)
        following = [one for one in found if one.number > last]
        begin = here[0].said_at if here and first > 1 else None
        return cls(here, said, begin, following[0].said_at if following else None)

    def holds(self, moment: datetime) -> bool:
        return (self.begin is None or moment >= self.begin) and (self.end is None or moment < self.end)


def _shown(given: Sequence[Receipt], tx: Transaction) -> dict[str, Memory]:
    named = dict.fromkeys(item.memory for receipt in given for item in receipt.items if item.memory)
    return {memory.id: memory for memory in tx.memories.many(list(named))}


def _quoted(given: Sequence[Receipt], tx: Transaction) -> dict[str, Message]:
    named = dict.fromkeys(item.message for receipt in given for item in receipt.items if item.message)
    return {message.id: message for message in tx.sessions.messages_by_id(list(named))}


def _written(entries: Sequence[Entry], stretch: _Stretch, tx: Transaction) -> tuple[Written, ...]:
    named = dict.fromkeys(entry.memory for entry in entries if entry.memory)
    known = {memory.id: memory for memory in tx.memories.many(list(named))}
    cited = {message.id for message in stretch.messages}
    found = []
    for entry in entries:
        memory = known.get(entry.memory or "")
        made = entry.action in ("added", "waiting") and memory is not None
        message = memory.source.message if made and memory is not None else None
        elsewhere = message is not None and tx.sessions.message(message) is not None
        if message in cited if elsewhere else stretch.holds(entry.created_at):
            found.append(Written(entry=entry, memory=memory))
    return tuple(found)
