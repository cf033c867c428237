"""recall: memories and messages that answer a query, by meaning and words; empty if nothing does."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from holdfast import engine
from holdfast.domain.history import Receipt
from holdfast.domain.markers import marked
from holdfast.domain.memory import Memory, Source
from holdfast.domain.profile import Policy
from holdfast.domain.query import Filter, Query
from holdfast.domain.ranking import (
    Hit,
    Matched,
    MemoryHit,
    MessageHit,
    bounded,
    factors,
    listing_order,
    receipt_items,
    score,
)
from holdfast.domain.text import clean
from holdfast.engine import feedback, memory_search, message_search
from holdfast.engine.intake import safe
from holdfast.engine.memory_search import FoundMemory, MemoryCandidates
from holdfast.engine.message_search import FoundMessage, Within
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery, ask
from holdfast.engine.quote_rules import Quotations
from holdfast.engine.space_context import SpaceContext, project_of, without_receipt
from holdfast.engine.supersession import successors_of_hits
from holdfast.errors import Invalid

_ENOUGH = 40  # candidates to choose from, even for a small limit
_NO_TEXT = "0" * 64
_MOST_QUERY = 10_000
UNHELPFUL = 0.5  # the factor of a memory that did not help with a prompt like this one

Candidate = FoundMemory | FoundMessage


@dataclass(frozen=True, slots=True)
class Recall:
    """The hits, best first, and how many candidates were below the threshold."""

    hits: tuple[Hit, ...]
    below: int
    matched: Matched = "text"  # "meaning" if vectors could be searched, else "text"
    other_projects: int = 0  # relevant memories of other projects

    @property
    def memories(self) -> tuple[MemoryHit, ...]:
        """The memories among the hits."""
        return tuple(hit for hit in self.hits if isinstance(hit, MemoryHit))


@dataclass(frozen=True, slots=True)
class RecallCandidates:
    """Memories and messages that may answer a query."""

    memories: Sequence[FoundMemory]
    messages: Sequence[FoundMessage]
    near: MemoryCandidates | None = None  # None at a past moment

    @property
    def all(self) -> list[FoundMemory | FoundMessage]:
        return [*self.memories, *self.messages]

    def above_floor(self, threshold: float | None = None) -> tuple[list[Candidate], list[Candidate]]:
        """The candidates that count as an answer, and the others."""
        above = [each for each in self.all if _answers(each, threshold)]
        return above, [each for each in self.all if not _answers(each, threshold)]

    def matched(self, asked: PreparedQuery) -> Matched:
        """Whether vectors could be searched, or words alone."""
        found = self.all
        by_meaning = asked.meaning is not None and (not found or any(each.by_meaning for each in found))
        return "meaning" if by_meaning else "text"


def recall(query: Query, *, ctx: SpaceContext) -> Recall:
    """The memories and messages that answer `query`; empty if nothing does.

    Counts an access of each memory, and with a session leaves a receipt.
    Raises: Invalid.
    """
    text, threshold, as_of = checked(query.text, query.limit), query.threshold, query.as_of
    if threshold is not None and not math.isfinite(threshold):
        raise Invalid("threshold must be a number, for example 0.4", field="threshold")
    asked_at = as_of or query.asked_at or ctx.now()
    [asked] = ask([text], ctx=ctx, asked_at=asked_at, messages=query.messages)
    with ctx.read() as tx:
        where = query.where or Filter(
            project=query.project or project_of(query.session, tx), other_projects=False
        )
        quotations = Quotations(ctx.profile.policy, tx, everything=as_of is not None)
        asking = partial(search, limit=query.limit, threshold=threshold, as_of=as_of, session=query.session)
        found = asking(asked, where, tx, quotations, messages=query.messages)
        above, below = found.above_floor(threshold)
        ranking = Ranking(ctx.profile.policy, as_of or ctx.now(), asked.question.terms, quotations, as_of)
        ranking = ranking.with_feedback(asked, above, tx)
        hits = best(above, ranking, query.limit, tx, query.session)
        elsewhere = found.near.count_elsewhere(threshold) if found.near else 0
    answer = Recall(tuple(hits), len(below), found.matched(asked), elsewhere)
    if as_of is None and answer.hits:
        _note(text, answer, query.session, ctx)
    return answer


def checked(query: str, limit: int) -> str:
    """The sanitized text of a query.

    Raises: Invalid.
    """
    if not clean(query).strip():
        raise Invalid("the query is empty: enter what to search for", field="query")
    if limit < 1:
        raise Invalid(f"limit must be 1 or more, not {limit}", field="limit")
    return safe(query[:_MOST_QUERY])


def search(
    asked: PreparedQuery,
    where: Filter,
    tx: Transaction,
    quotations: Quotations,
    *,
    limit: int,
    threshold: float | None = None,
    as_of: datetime | None = None,
    session: str | None = None,
    messages: bool = True,
) -> RecallCandidates:
    """All candidates, with the evidence for each."""
    enough = max(limit, _ENOUGH)
    near = None
    if as_of is not None:
        memories = memory_search.search_past(asked, where, as_of, tx)
    else:
        near = memory_search.candidates(asked, where, tx, enough)
        memories = memory_search.best_of(near, asked, tx, enough)
    if not messages:
        return RecallCandidates(memories, (), near)
    within = Within(where, until=as_of, not_in=session if where.session is None else None)
    given = partial(_answers, threshold=threshold)
    said = message_search.search(asked, within, tx, enough, quotations, given=given, most=2 * limit)
    return RecallCandidates(memories, said, near)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The policy by which hits are ordered, and what may be quoted of messages."""

    policy: Policy
    now: datetime
    terms: Sequence[str]  # the policy of the space
    quotations: Quotations
    past: datetime | None = None  # the moment that is asked about; None: now
    unhelpful: frozenset[str] = frozenset()  # memories that did not help with a prompt like this one

    def with_feedback(self, asked: PreparedQuery, found: Sequence[Candidate], tx: Transaction) -> "Ranking":
        ids = [each.memory.id for each in found if isinstance(each, FoundMemory)]
        return replace(self, unhelpful=feedback.unhelpful(asked, ids, tx) if ids else frozenset())


def best(
    found: Sequence[FoundMemory | FoundMessage],
    ranking: Ranking,
    limit: int,
    tx: Transaction,
    session: str | None = None,
) -> list[Hit]:
    """The `limit` best hits, each memory together with the message that it was taken from.

    That message is not listed again, and messages are quoted only as far as allowed. A memory that is
    unchanged since its capture gets the place of its message: captured memories don't push back messages.
    """
    hits = [_hit(each, ranking) for each in found]
    said = {hit.message.id: hit for hit in hits if isinstance(hit, MessageHit)}
    places = _places([hit for hit in hits if isinstance(hit, MemoryHit)], said, session, tx)
    hits = [_placed(hit, places[hit.memory.id]) if isinstance(hit, MemoryHit) else hit for hit in hits]
    hits.sort(key=listing_order)
    hits = successors_of_hits(hits, tx, ranking.past)
    quotations = ranking.quotations
    while True:
        shown = hits[:limit]
        cited = {hit.memory.source.message for hit in shown if isinstance(hit, MemoryHit)}
        messages = [hit.message for hit in shown if isinstance(hit, MessageHit)]
        quotations.look_up(messages)
        out = cited | {each.id for each in messages if not quotations.answers(each, ranking.terms)}
        if out.isdisjoint(each.id for each in messages):
            return _complete(shown, quotations, tx)
        hits = [hit for hit in hits if not (isinstance(hit, MessageHit) and hit.message.id in out)]


def _complete(hits: Sequence[Hit], quotations: Quotations, tx: Transaction) -> list[Hit]:
    """The hits with what may be quoted of messages, and messages with their sessions."""
    sources = {hit.memory.source.message for hit in hits if isinstance(hit, MemoryHit)} - {None}
    wanted = {hit.message.session for hit in hits if isinstance(hit, MessageHit)}
    there = tx.sessions.messages_by_id(sorted(filter(None, sources))) if sources else []
    quotations.look_up(there)
    cited = {each.id: quotations.of(each) for each in there}
    sessions = {each.id: each for each in tx.sessions.many(sorted(wanted))} if wanted else {}
    return [
        replace(hit, cites=cited.get(hit.memory.source.message or ""))
        if isinstance(hit, MemoryHit)
        else replace(
            hit,
            message=quotations.of(hit.message) or hit.message,
            session=sessions.get(hit.message.session),
        )
        for hit in hits
    ]


def _answers(found: FoundMemory | FoundMessage, threshold: float | None) -> bool:
    bound = bounded(found.relevance, by_meaning=found.by_meaning)
    return found.answers() if threshold is None else bound >= threshold


def _hit(found: FoundMemory | FoundMessage, ranking: Ranking) -> Hit:
    evidence = {name: round(part, 4) for name, part in found.evidence.items()}
    matched: Matched = "meaning" if found.by_meaning else "text"
    relevance = bounded(found.relevance, by_meaning=found.by_meaning)
    if relevance < found.relevance:
        evidence["limit"] = round(relevance - found.relevance, 4)
    if isinstance(found, FoundMemory):
        parts = factors(found.memory, relevance, ranking.policy, ranking.now)
        if found.memory.id in ranking.unhelpful:
            parts = {**parts, "feedback": UNHELPFUL}
        return MemoryHit(found.memory, score(parts), parts, evidence, matched)
    # A message counts like a memory that nobody has confirmed. It does not age: a query names the days
    # that matter.
    parts = {"relevance": round(relevance, 4)}
    parts |= {"confidence": ranking.policy.confidence} if ranking.policy.weighs_confidence else {}
    return MessageHit(found.message, None, score(parts), parts, evidence, matched)


def _places(
    hits: Sequence[MemoryHit], said: Mapping[str, MessageHit], session: str | None, tx: Transaction
) -> dict[str, float]:
    """The score by which each memory is listed: the better of its own and its message's. If it is unchanged
    since its capture, its message's alone; if that was not found, it comes after all messages.
    """
    scores = {message_id: hit.score for message_id, hit in said.items()}
    places = {hit.memory.id: max(hit.score, scores.get(hit.memory.source.message or "", 0.0)) for hit in hits}
    alone = [hit for hit in hits if _only_said(hit.memory) and hit.memory.source.session != session]
    missed = {hit.memory.source.message or "" for hit in alone} - said.keys()
    there = tx.sessions.messages_by_id(sorted(missed)) if said and missed else []
    kept = {each.id: each for each in there if each.findable}
    kept |= {message_id: hit.message for message_id, hit in said.items()}
    for hit in alone:
        message = kept.get(hit.memory.source.message or "")
        # A memory from a marker was worded on purpose: it is more than its message.
        if message is not None and not marked(message.content or ""):
            places[hit.memory.id] = scores.get(message.id, min((hit.score, *scores.values())))
    return places


def _only_said(memory: Memory) -> bool:
    """Whether a memory is as it was captured; a repetition changes nothing about that."""
    return memory.source.message is not None and memory.version == 1 and not memory.pinned


def _placed(hit: MemoryHit, place: float) -> MemoryHit:
    """The hit with the score by which it is listed, and the share of its message."""
    own = math.prod(hit.parts.values())  # not the score, which is rounded
    if place == hit.score or not own:
        return hit
    return replace(hit, score=place, parts={"message": round(place / own, 4), **hit.parts})


def _note(query: str, found: Recall, session: str | None, ctx: SpaceContext) -> None:
    now = ctx.now()
    memories = [hit.memory.id for hit in found.memories]
    if session is None and not memories:
        return
    with without_receipt(ctx.space), ctx.write() as tx:
        tx.memories.touch(memories, now)
        if session is None:
            return
        engine.sessions.known_session(tx, Source(session=session, person=ctx.person), now)
        tx.receipts.add(
            Receipt(
                id=ctx.new_id(),
                kind="recall",
                session=session,
                query=query,
                text=None,
                sha256=_NO_TEXT,
                tokens=0,
                left_out=found.below,
                created_at=now,
                items=receipt_items(found.hits),
            )
        )
