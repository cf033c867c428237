"""context: a small block of memories that help with the newest message; each session gets a memory once."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from typing import Literal, TypedDict

from holdfast.domain.budget import CONTEXT_LINES, CONTEXT_TOKENS
from holdfast.domain.history import Receipt
from holdfast.domain.memory import Source
from holdfast.domain.query import Filter
from holdfast.domain.ranking import FRESH, PROMPT_FLOOR, Hit, MemoryHit, owner, receipt_items
from holdfast.domain.render import HitBlock, is_anothers, render_hits
from holdfast.domain.terms import says_something
from holdfast.domain.text import clean
from holdfast.engine.intake import checked_role, safe
from holdfast.engine.memory_search import FoundMemory
from holdfast.engine.message_search import FoundMessage
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import ask
from holdfast.engine.quote_rules import Quotations
from holdfast.engine.recall import Candidate, Ranking, best, search
from holdfast.engine.sessions import NewMessage, known_session
from holdfast.engine.space_context import SpaceContext, project_of, without_receipt
from holdfast.engine.supersession import as_said
from holdfast.errors import Invalid
from holdfast.language.question import asks_what_was_said, refers_back

NEARLY = 5  # hits below the threshold that are reported
_ASKED_WITH = 3  # messages: the newest and those that it may refer to
_MOST_TEXT = 1_000  # characters of a message that are searched with: its beginning and end
_MOST_BEFORE = 300  # of an earlier message
_SPOKEN = ("user", "assistant")

Place = Literal[
    "in the block", "no room", "shown already", "superseded", "marked as not helpful", "below the floor"
]


class ContextFields(TypedDict, total=False):
    """The options of `context`."""

    project: str | None
    budget: int
    limit: int
    explain: bool


@dataclass(frozen=True, slots=True)
class BlockCandidate:
    """A hit that was considered for a block: whether it is in it or why not, and the query that found it."""

    hit: Hit
    place: Place
    asked: str


@dataclass(frozen=True, slots=True)
class Context:
    """A block of text for a prompt, and its contents; empty if nothing helps."""

    text: str = ""
    tokens: int = 0
    hits: tuple[Hit, ...] = ()
    left_out: int = 0  # relevant and new, but over the budget
    candidates: tuple[BlockCandidate, ...] = ()  # with `explain`: all that was found

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def context(
    said: Sequence[NewMessage | str],
    *,
    ctx: SpaceContext,
    session: str | None = None,
    project: str | None = None,
    budget: int = CONTEXT_TOKENS,
    limit: int = CONTEXT_LINES,
    explain: bool = False,
    receipt_id: str | None = None,
    keeps_question: bool = True,
    wanted: Callable[[], bool] = lambda: True,
) -> Context:
    """The memories that help with the newest message. Messages come oldest first; a plain string is the
    user's.

    Earlier messages, also stored ones, only resolve what the newest refers to. What the session was already
    shown is left out; what is returned counts as shown and leaves a receipt, with `receipt_id` if given.
    Nothing is returned or recorded if it is no longer `wanted`. With `explain`, a person gets the reasons,
    and nothing is recorded.
    Raises: Invalid.
    """
    for name, value in (("budget", budget), ("limit", limit)):
        if value < 0:
            raise Invalid(f"{name} must be 0 or more, not {value}", field=name)
    ctx = ctx.for_prompts()
    texts = _texts(said, session, ctx)
    found = partial(_found, ctx=ctx, session=session, project=project, budget=budget, limit=limit)
    made = Context()
    for query in _queries(texts):
        made = found(query)
        if any(each.place != "below the floor" for each in made.candidates):
            break
    if explain:
        return made
    made = replace(made, candidates=())
    if not made.hits:
        return made
    receipt = _receipt(receipt_id or ctx.new_id(), texts[0] if keeps_question else None, made, session, ctx)
    return _noted(made, receipt, wanted, ctx)


def for_prompt(
    above: Sequence[Candidate], query: str, ranking: Ranking, tx: Transaction, session: str | None = None
) -> list[Hit]:
    """The hits that a prompt may contain, best first; memories come before quoted messages.

    Messages are quoted only if the query asks what was said and no memory answers it.
    """
    memories = [each for each in above if isinstance(each, FoundMemory) and _strong(each)]
    said = [each for each in above if isinstance(each, FoundMessage)] if asks_what_was_said(query) else []
    found = memories or said
    return best(found, ranking, len(found), tx, session) if says_something(query) else []


def _strong(found: FoundMemory) -> bool:
    return found.relevance >= PROMPT_FLOOR or not found.by_meaning


def rendered(
    hits: Sequence[Hit], ranking: Ranking, tx: Transaction, ctx: SpaceContext, budget: int, limit: int
) -> HitBlock:
    """The block of the first `limit` hits that fit; old and superseding memories get a date."""
    memories = as_said([hit.memory for hit in hits if isinstance(hit, MemoryHit)], tx)
    leading = tx.links.superseding([each.id for each in memories]) if memories else []
    aging = {link.from_id for link in leading}
    aging |= {each.id for each in memories if ranking.now - each.updated_at > FRESH}
    dated = {each.id: each.updated_at for each in memories if each.id in aging}
    others = {each.id for each in memories if is_anothers(each, ctx.profile, ctx.person)}
    return render_hits(
        hits,
        wanted=ranking.terms,
        budget=budget,
        most=limit,
        dated=dated,
        others=others,
        estimate=ctx.estimate,
    )


def _found(
    query: str, *, ctx: SpaceContext, session: str | None, project: str | None, budget: int, limit: int
) -> Context:
    """The block for one query, with all that was found for it."""
    quotes = asks_what_was_said(query)
    [asked] = ask([query], ctx=ctx, asked_at=ctx.now(), messages=quotes)
    with ctx.read() as tx:
        where = Filter(project=project or project_of(session, tx), other_projects=False)
        shown = tx.receipts.shown_in(session) if session is not None else set()
        quotations = Quotations(ctx.profile.policy, tx)
        found = search(asked, where, tx, quotations, limit=limit, session=session, messages=quotes)
        above, _ = found.above_floor()
        ranking = Ranking(ctx.profile.policy, ctx.now(), asked.question.terms, quotations)
        ranking = ranking.with_feedback(asked, above, tx)
        hits = for_prompt(above, query, ranking, tx, session)
        block = rendered([hit for hit in hits if not left_out(hit, shown)], ranking, tx, ctx, budget, limit)
        strong = set(map(owner, hits))
        weak = [each for each in found.memories if each.memory.id not in strong]
        nearly = best(nlargest(NEARLY, weak, key=lambda one: one.relevance), ranking, NEARLY, tx)
    chosen = set(map(owner, block.included))
    places: list[tuple[Hit, Place]] = [
        (hit, "in the block" if owner(hit) in chosen else left_out(hit, shown) or "no room") for hit in hits
    ]
    no_room = sum(place == "no room" for _, place in places)
    places += [(hit, "below the floor") for hit in nearly if owner(hit) not in strong]
    told = tuple(BlockCandidate(hit, place, query) for hit, place in places)
    return Context(block.text, block.tokens, block.included, no_room, told)


def left_out(hit: Hit, shown: Collection[str] = ()) -> Place | None:
    """Why a prompt does not get a hit; None if it does."""
    if isinstance(hit, MemoryHit) and hit.memory.superseded_by:
        return "superseded"
    if "feedback" in hit.parts:
        return "marked as not helpful"
    return "shown already" if owner(hit) in shown else None


def _queries(texts: Sequence[str]) -> Iterator[str]:
    """The queries to try until one has an answer: the newest message, then that with what it refers to.

    Nothing, if the newest message says nothing.
    """
    if not texts or not says_something(texts[0]):
        return
    yield texts[0]
    if len(texts) > 1 and refers_back(texts[0]):
        yield " ".join([*(_shortened(text, _MOST_BEFORE) for text in texts[:0:-1]), texts[0]])


def _texts(said: Sequence[NewMessage | str], session: str | None, ctx: SpaceContext) -> list[str]:
    """The texts of the messages, newest first."""
    given = [NewMessage(role="user", content=one) if isinstance(one, str) else one for one in said]
    spoken = [one.content for one in given if checked_role(one.role) in _SPOKEN or one.speaker is not None]
    if spoken and session is not None and len(spoken) < _ASKED_WITH:
        with ctx.read() as tx:
            before = [text for text in _said_before(session, tx) if text not in spoken]
        spoken = [*before, *spoken]
    texts = [_shortened(safe(text), _MOST_TEXT) for text in spoken if clean(text).strip()]
    return texts[: -_ASKED_WITH - 1 : -1]


def _said_before(session: str, tx: Transaction) -> list[str]:
    last = tx.sessions.last_number(session)
    places = [(session, last - back) for back in range(_ASKED_WITH - 1) if last > back]
    return [message.content or "" for message in tx.sessions.around(places) if message.findable]


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text: what people want is there, what they paste is between."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} {text[-half:]}"


def _noted(made: Context, receipt: Receipt, wanted: Callable[[], bool], ctx: SpaceContext) -> Context:
    """Stores the receipt, and returns the block; empty if it came too late."""
    with without_receipt(ctx.space), ctx.write() as tx:
        if not wanted():  # checked here, because waiting for other writers takes longest
            return Context()
        given = tx.receipts.texts([receipt.id])
        if receipt.id in given:  # by a concurrent request
            return Context(given[receipt.id] or "")
        tx.memories.touch(
            [hit.memory.id for hit in made.hits if isinstance(hit, MemoryHit)], receipt.created_at
        )
        if receipt.session is not None:
            known_session(tx, Source(session=receipt.session, person=ctx.person), receipt.created_at)
            tx.receipts.add(receipt)
    return made


def _receipt(
    receipt_id: str, query: str | None, made: Context, session: str | None, ctx: SpaceContext
) -> Receipt:
    return Receipt(
        id=receipt_id,
        kind="recall",
        session=session,
        query=query,
        text=made.text,
        sha256=made.sha256,
        tokens=made.tokens,
        left_out=made.left_out,
        created_at=ctx.now(),
        items=receipt_items(made.hits),
    )
