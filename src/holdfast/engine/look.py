"""look: what a query would find and why, for a person who tries it out.

Searches as `recall` and renders as `context` does, with the same functions, but counts no access and leaves
no receipt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.budget import CONTEXT_LINES, CONTEXT_TOKENS
from holdfast.domain.query import Filter, Query
from holdfast.domain.ranking import Hit, bounded, owner
from holdfast.domain.render import HitBlock
from holdfast.engine import context
from holdfast.engine.memory_search import FoundMemory
from holdfast.engine.query_prepare import ask
from holdfast.engine.quote_rules import Quotations
from holdfast.engine.recall import Candidate, Ranking, Recall, RecallCandidates, best, checked, search
from holdfast.engine.space_context import SpaceContext


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a recall, the nearest misses, and the block for a prompt."""

    recall: Recall
    more: tuple[Hit, ...]  # that reach the threshold, but rank after the limit; those in the block first
    nearly: tuple[Hit, ...]  # below the threshold, best first
    #: By id of a memory or message: the part of its relevance that is compared with the floor, and the floor.
    held: dict[str, tuple[float, float]]
    block: HitBlock
    budget: int  # most tokens of the block


def look(query: Query, *, ctx: SpaceContext, budget: int = CONTEXT_TOKENS) -> Look:
    """What `query` would find, now or as of a past moment.

    Raises: Invalid.
    """
    text, limit, as_of = checked(query.text, query.limit), query.limit, query.as_of
    policy, now = ctx.profile.policy, as_of or ctx.now()
    [asked] = ask([text], ctx=ctx, asked_at=now, messages=True, waits=False)
    with ctx.read() as tx:
        where = Filter(project=query.project, other_projects=query.project is None)
        quotations = Quotations(policy, tx, everything=as_of is not None)
        found = search(asked, where, tx, quotations, limit=max(limit, CONTEXT_LINES), as_of=as_of)
        above, below = found.above_floor()
        # What a memory was taken from is known with it: it is no weaker match beside it.
        cited = {each.memory.source.message for each in above if isinstance(each, FoundMemory)}
        below = [each for each in below if isinstance(each, FoundMemory) or each.message.id not in cited]
        ranking = Ranking(policy, now, asked.question.terms, quotations, as_of)
        ranking = ranking.with_feedback(asked, above, tx)
        hits = best(above, ranking, limit, tx)
        listed = set(map(owner, hits))
        more = [hit for hit in best(above, ranking, max(len(above), 1), tx) if owner(hit) not in listed]
        nearly = best(below, ranking, max(len(below), 1), tx)
        given = [hit for hit in context.for_prompt(above, text, ranking, tx) if not context.left_out(hit)]
        block = context.rendered(given, ranking, tx, ctx, budget, CONTEXT_LINES)
    inside = set(map(owner, block.included))
    more.sort(key=lambda hit: owner(hit) not in inside)
    held = _held(found, (*hits, *more))
    weak = {each.memory.id if isinstance(each, FoundMemory) else each.message.id for each in below}
    nearly = [hit for hit in nearly if owner(hit) in weak]
    # Not by a ratio: the floor is 0 if a memory answers.
    nearly.sort(key=lambda hit: held[owner(hit)][1] - held[owner(hit)][0])
    return Look(
        Recall(tuple(hits), len(below), found.matched(asked)),
        tuple(more[: context.NEARLY]),
        tuple(nearly[: context.NEARLY]),
        held,
        block,
        budget,
    )


def _held(found: RecallCandidates, listed: Sequence[Hit]) -> dict[str, tuple[float, float]]:
    held = {each.memory.id: (_bounded(each.relevance, each), each.floor) for each in found.memories}
    held |= {each.message.id: (_bounded(each.own, each), each.floor) for each in found.messages}
    least = min((each.floor for each in found.memories), default=0.0)  # for successors that were not found
    return {owner(hit): (hit.parts["relevance"], least) for hit in listed} | held


def _bounded(evidence: float, found: Candidate) -> float:
    return bounded(evidence, by_meaning=found.by_meaning)
