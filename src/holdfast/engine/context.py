"""context: what the memory has to add to what was just said, as a small block that no session gets twice."""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from holdfast.domain.history import Receipt
from holdfast.domain.memory import Source
from holdfast.domain.query import Filter
from holdfast.domain.ranking import Hit, MemoryHit
from holdfast.domain.render import render_hits
from holdfast.domain.text import clean
from holdfast.engine.intake import checked_role, safe
from holdfast.engine.memory_search import FoundMemory
from holdfast.engine.message_search import FoundMessage
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery, ask
from holdfast.engine.quote_rules import Quotations
from holdfast.engine.recall import Ranking, best, receipt_items, search
from holdfast.engine.sessions import NewMessage, known_session, project_of
from holdfast.engine.space_context import SpaceContext, without_receipt
from holdfast.errors import Invalid

BUDGET = 500  # tokens
#: What each of the last messages counts, the newest first: an older one had its turn when it was the newest.
WEIGHTS = (1.0, 0.85, 0.7)
MOST_HITS = 12
_MOST_TEXT = 1_000  # characters of a message that are asked with: its beginning and its end
_SPOKEN = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Context:
    """A block of text for a prompt, and what is in it; the empty text when nothing is relevant."""

    text: str = ""
    tokens: int = 0
    hits: tuple[Hit, ...] = ()
    left_out: int = 0  # relevant and new, but without room

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def context(
    said: Sequence[NewMessage | str],
    *,
    ctx: SpaceContext,
    session: str | None = None,
    project: str | None = None,
    budget: int = BUDGET,
    receipt_id: str | None = None,
    keeps_question: bool = True,
    wanted: Callable[[], bool] = lambda: True,
) -> Context:
    """What is relevant to the last three messages, oldest first; a plain text was said by the user.

    Where fewer are given, the session's own kept ones come before them. Each message asks by itself, the
    newest counts most. What this session was shown is left out, and what was said in it; what is given here
    counts as shown and leaves a receipt, under `receipt_id` where one is named. When nothing is `wanted` any
    more by then, nothing is given or noted.
    Raises: Invalid.
    """
    if budget < 0:
        raise Invalid(f"budget must be 0 or more tokens, not {budget}", field="budget")
    texts = _texts(said, session, ctx)
    if not texts:
        return Context()
    questions = ask(texts, ctx=ctx, asked_at=ctx.now(), messages=True)
    with ctx.store.read(ctx.space) as tx:
        where = Filter(project=project or project_of(session, tx), other_projects=False)
        shown = tx.receipts.shown_in(session) if session is not None else set()
        quotations = Quotations(ctx.profile.policy, tx)
        found = _relevant(questions, where, session, shown, tx, quotations)
        terms = list(dict.fromkeys(term for asked in questions for term in asked.question.terms))
        ranking = Ranking(ctx.profile.policy, ctx.now(), terms, quotations)
        hits = for_prompt(best(found, ranking, MOST_HITS, tx, session), shown)
    block = render_hits(hits, wanted=terms, budget=budget, estimate=ctx.estimate)
    made = Context(block.text, block.tokens, block.included, len(hits) - len(block.included))
    if made.hits:
        query = texts[0] if keeps_question else None
        receipt = _receipt(receipt_id or ctx.new_id(), query, made, session, ctx)
        return _noted(made, receipt, wanted, ctx)
    return made


def for_prompt(hits: Sequence[Hit], shown: Collection[str] = ()) -> list[Hit]:
    """Of the hits what a prompt should hold: nothing superseded, and no successor that it has already."""
    return [
        hit
        for hit in hits
        if not isinstance(hit, MemoryHit) or not (hit.memory.superseded_by or hit.memory.id in shown)
    ]


def _texts(said: Sequence[NewMessage | str], session: str | None, ctx: SpaceContext) -> list[str]:
    """What to ask with, the newest first."""
    given = [NewMessage(role="user", content=one) if isinstance(one, str) else one for one in said]
    spoken = [one.content for one in given if checked_role(one.role) in _SPOKEN or one.speaker is not None]
    if spoken and session is not None and len(spoken) < len(WEIGHTS):
        with ctx.store.read(ctx.space) as tx:
            before = [text for text in _said_before(session, tx) if text not in spoken]
        spoken = [*before, *spoken]
    texts = [_shortened(safe(text)) for text in spoken if clean(text).strip()]
    return texts[: -len(WEIGHTS) - 1 : -1]


def _said_before(session: str, tx: Transaction) -> list[str]:
    last = tx.sessions.last_number(session)
    places = [(session, last - back) for back in range(len(WEIGHTS) - 1) if last > back]
    return [message.content or "" for message in tx.sessions.around(places) if message.findable]


def _shortened(text: str) -> str:
    """People say first or last what they want; what they paste stands between."""
    half = _MOST_TEXT // 2
    return text if len(text) <= _MOST_TEXT else f"{text[:half]} {text[-half:]}"


def _relevant(
    questions: Sequence[PreparedQuery],
    where: Filter,
    session: str | None,
    shown: Collection[str],
    tx: Transaction,
    quotations: Quotations,
) -> list[FoundMemory | FoundMessage]:
    """What answers any of the messages and is new to the session, each by the message it answers best."""
    found: dict[str, FoundMemory | FoundMessage] = {}
    for asked, weight in zip(questions, WEIGHTS, strict=False):
        for each in search(asked, where, tx, quotations, limit=MOST_HITS, session=session).all:
            owner = each.memory.id if isinstance(each, FoundMemory) else each.message.id
            relevance = weight * each.relevance
            known = found.get(owner)
            if not each.answers(weight) or owner in shown or (known and known.relevance >= relevance):
                continue
            evidence = {name: weight * part for name, part in each.evidence.items()}
            found[owner] = replace(each, relevance=relevance, evidence=evidence)
    return list(found.values())


def _noted(made: Context, receipt: Receipt, wanted: Callable[[], bool], ctx: SpaceContext) -> Context:
    """`made`, once its receipt is kept; nothing, when it came too late."""
    with without_receipt(ctx.space), ctx.store.write(ctx.space) as tx:
        if not wanted():  # asked here, for the wait for other writers is the long one
            return Context()
        given = tx.receipts.texts([receipt.id])
        if receipt.id in given:  # by another who asked the same at the same time
            return Context(given[receipt.id] or "")
        tx.memories.touch(
            [hit.memory.id for hit in made.hits if isinstance(hit, MemoryHit)], receipt.created_at
        )
        if receipt.session is not None:
            known_session(tx, Source(session=receipt.session), receipt.created_at)
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
