"""Which memories a message makes untrue: the nearest ones, read by our finder beside what was said."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from math import log, log1p

from holdfast.domain.memory import Draft, Memory
from holdfast.domain.query import Filter, admits
from holdfast.domain.ranking import log_odds, logistic
from holdfast.engine.candidates import TextVector, by_meaning, vector_of
from holdfast.engine.model_judge import Opinion
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.news import News

_NEAR = 3  # memories that are read: what is corrected is nearly always the nearest
_LEAST = 0.3  # cosine
_LOOKED_AT = 40  # the nearest of the space, of which some are of other projects
# Fitted on the fortnights of the validation part by `python -m training capture_fit`.
REPLACED_FROM = 0.3
#: What each says: the finder's word (log odds), how many memories are nearer (a logarithm), whether an agent
#: speaks, whether an agent said what is known, and how many words the news has (a logarithm).
REPLACED_BIAS = -4.27
REPLACED_WEIGHTS = (0.89, -2.64, -1.68, -0.34, 1.51)
_log = logging.getLogger(__name__)


def corrected(
    draft: Draft, news: News, meaning: TextVector | None, ctx: SpaceContext
) -> tuple[Draft, tuple[Opinion, ...]]:
    """A captured draft, and what it supersedes; it holds wherever the memory held that it replaces."""
    found = _replaced(news, meaning, draft.project, ctx)
    if found and all(known.project is None for known in found):
        draft = replace(draft, project=None)
    return draft, tuple(Opinion(relation="contradicts", memory=known.id) for known in found)


def retracted(news: News, project: str | None, ctx: SpaceContext) -> list[Memory]:
    """The memories that somebody takes back without saying what is true instead."""
    return _replaced(news, vector_of(news.part, ctx), project, ctx)


def _replaced(news: News, meaning: TextVector | None, project: str | None, ctx: SpaceContext) -> list[Memory]:
    with ctx.read() as tx:
        known = _near(meaning, project, tx)
    if not known:
        return []
    try:
        said = ctx.builtin_model.replaced([memory.content for memory in known], news.told())
    except Unavailable as trouble:
        _log.warning("space %s: corrections are not detected: %s", ctx.space, trouble)
        return []
    found = [
        evidence(each, nearer if meaning is not None else 0, news, memory)
        for nearer, (each, memory) in enumerate(zip(said, known, strict=True))
    ]
    sure = [logistic(REPLACED_BIAS, REPLACED_WEIGHTS, each) for each in found]
    likeliest = sorted(zip(sure, known, strict=True), key=lambda pair: -pair[0])
    return [memory for probability, memory in likeliest if probability >= REPLACED_FROM]


def evidence(said: float, nearer: int, news: News, known: Memory) -> tuple[float, ...]:
    """What speaks for a known memory being no longer true after some news, in the order of the weights."""
    by_agents = [float(who == "assistant") for who in (news.role, known.source.origin)]
    return log_odds(said), log1p(nearer), *by_agents, log(max(len(news.part.split()), 1))


def _near(meaning: TextVector | None, project: str | None, tx: Transaction) -> Sequence[Memory]:
    """What is known here and sounds near what was said; without vectors, what is newest."""
    where = Filter(project=project, other_projects=False)
    if meaning is None:
        return tx.memories.find(where, order="recent", limit=_NEAR)
    near = [known for known, cosine in by_meaning(tx, meaning, _LOOKED_AT).items() if cosine >= _LEAST]
    return [memory for memory in tx.memories.many(near) if admits(where, memory)][:_NEAR]
