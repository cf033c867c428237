"""cache_report: whether the block that sessions were given stayed byte-identical.

Reads receipts, messages and what agents reported at their end. It covers what Holdfast gave out; whether the
host's prompt cache held, only the host's usage figures tell.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from holdfast.domain.history import Receipt
from holdfast.domain.memory import Session
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, NotFound

Why = Literal["erased", "damaged", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBlock:
    """A block that a session was given, used from `given_at` until another one replaced it."""

    sha256: str
    tokens: int  # by our estimate
    memories: int
    given_at: datetime
    intact: bool | None  # whether the stored text still has this hash; None: the text was erased


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockChange:
    """A change of a session's block."""

    at: datetime
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How a session's block differs from that of the previous session of the project."""

    session: str  # the previous session
    same: bool
    added: int = 0
    reworded: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """The blocks of one session, as a prompt cache sees them."""

    session: Session
    blocks: tuple[GivenBlock, ...]
    changes: tuple[BlockChange, ...]
    trailing_blocks: int  # recall and delta blocks: they come after the brief and don't change it
    trailing_tokens: int
    answers: int | None  # number of model calls, as far as is known
    cacheable_tokens: int | None  # of the blocks, over all answers but the first of each; None: unknown
    reported: Mapping[str, int]  # cache reads, cache writes and cost, as reported by the agent
    before: Difference | None

    @property
    def held(self) -> bool:
        """Whether the block stayed byte-identical."""
        return len({block.sha256 for block in self.blocks}) <= 1 and not self.changes


@dataclass(frozen=True, slots=True)
class CacheReport:
    """The report on each session, latest first."""

    sessions: tuple[SessionReport, ...]
    without_brief: int  # sessions that were given no block


_REPORTED = ("cache_read_tokens", "cache_write_tokens", "input_tokens")


def cache_report(session_ids: Sequence[str], *, ctx: SpaceContext, limit: int = 20) -> CacheReport:
    """Reports on these sessions, or on the latest `limit` ones.

    Raises: NotFound, Invalid.
    """
    if limit < 1:
        raise Invalid(f"limit must be 1 or more, not {limit}", field="limit")
    with ctx.read() as tx:
        sessions = _asked_for(session_ids, tx, ctx) if session_ids else tx.sessions.latest(limit)
        reports = [_report(session, tx) for session in sessions]
    found = [report for report in reports if report is not None]
    return CacheReport(tuple(found), len(reports) - len(found))


def _asked_for(session_ids: Sequence[str], tx: Transaction, ctx: SpaceContext) -> list[Session]:
    found = tx.sessions.many(list(dict.fromkeys(session_ids)))
    missing = set(session_ids) - {session.id for session in found}
    if missing:
        raise NotFound(f"there is no session {min(missing)!r} in space {ctx.space!r}")
    return found


def _report(session: Session, tx: Transaction) -> SessionReport | None:
    receipts = tx.receipts.of_session(session.id)
    briefs = [receipt for receipt in receipts if receipt.kind == "brief"]
    if not briefs:
        return None
    trailing = [receipt for receipt in receipts if receipt.kind != "brief"]
    answers, cacheable = _answers(session, briefs, tx)
    usage = session.usage or {}
    return SessionReport(
        session=session,
        blocks=tuple(map(_block, briefs)),
        changes=tuple(_changes(briefs)),
        trailing_blocks=len(trailing),
        trailing_tokens=sum(receipt.tokens for receipt in trailing),
        answers=answers,
        cacheable_tokens=cacheable,
        reported={name: usage[name] for name in _REPORTED if isinstance(usage.get(name), int)},
        before=_difference(session, briefs[0], tx),
    )


def _block(receipt: Receipt) -> GivenBlock:
    return GivenBlock(
        sha256=receipt.sha256,
        tokens=receipt.tokens,
        memories=len(receipt.items),
        given_at=receipt.created_at,
        intact=None if receipt.text is None else _hash(receipt.text) == receipt.sha256,
    )


def _changes(briefs: Sequence[Receipt]) -> list[BlockChange]:
    changes = []
    for old, new in pairwise(briefs):
        if old.sha256 != new.sha256:
            # Erasing a memory removes the text of every block that contained it: the next one is new.
            changes.append(BlockChange(at=new.created_at, why="erased" if old.text is None else "unknown"))
    last = briefs[-1]
    if last.text is not None and _hash(last.text) != last.sha256:
        changes.append(BlockChange(at=last.created_at, why="damaged"))
    return changes


def _answers(session: Session, briefs: Sequence[Receipt], tx: Transaction) -> tuple[int | None, int | None]:
    """The number of the model's answers, and how many tokens of blocks came before them in total."""
    told = (session.usage or {}).get("turns")
    if isinstance(told, int) and told > 0:
        # The turn at which a block changed is not recorded.
        return told, (told - 1) * briefs[0].tokens if len(briefs) == 1 else None
    times = [message.said_at for message in tx.sessions.messages(session.id) if message.role == "assistant"]
    if not times:
        return None, None
    ends = [receipt.created_at for receipt in briefs[1:]]
    cacheable = 0
    for number, receipt in enumerate(briefs):
        begin = receipt.created_at if number else None
        end = ends[number] if number < len(ends) else None
        within = [at for at in times if (begin is None or at >= begin) and (end is None or at < end)]
        cacheable += max(0, len(within) - 1) * receipt.tokens
    return len(times), cacheable


def _difference(session: Session, brief: Receipt, tx: Transaction) -> Difference | None:
    earlier = tx.receipts.brief_before(session)
    if earlier is None or earlier.session is None:
        return None
    if earlier.sha256 == brief.sha256:
        return Difference(session=earlier.session, same=True)
    then = {item.memory: item.version for item in earlier.items if item.memory is not None}
    now = {item.memory: item.version for item in brief.items if item.memory is not None}
    return Difference(
        session=earlier.session,
        same=False,
        added=len(now.keys() - then.keys()),
        reworded=sum(then[each] != now[each] for each in now.keys() & then.keys()),
        gone=len(then.keys() - now.keys()),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
