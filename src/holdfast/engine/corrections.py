"""Finds memories that a message makes outdated: the built-in finder checks the nearest ones."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from math import log, log1p

from holdfast.domain.memory import Draft, Memory
from holdfast.domain.query import Filter, admits
from holdfast.domain.ranking import log_odds, logistic
from holdfast.engine.draft_vectors import TextVector, by_meaning, vector_of
from holdfast.engine.model_judge import Opinion
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.news import News

_NEAR = 3  # memories that are checked: nearly always the nearest one is corrected
_LEAST = 0.3  # cosine
_LOOKED_AT = 40  # nearest memories of the space, some of other projects
# Fitted on the fortnights of the validation part by `python -m training capture_fit`.
REPLACED_FROM = 0.3
#: Features: the finder's probability (log odds), how many memories are nearer (log), whether an agent
#: said it, whether an agent said the known memory, and the number of words of the message (log).
REPLACED_BIAS = -4.27
REPLACED_WEIGHTS = (0.89, -2.64, -1.68, -0.34, 1.51)
_log = logging.getLogger(__name__)


def corrected(
    draft: Draft, news: News, meaning: TextVector | None, ctx: SpaceContext
) -> tuple[Draft, tuple[Opinion, ...]]:
    """A captured draft, and the memories that it supersedes.

    If those are global, the draft is global, too.
    """
    found = _replaced(news, meaning, draft.project, ctx)
    if found and all(known.project is None for known in found):
        draft = replace(draft, project=None)
    return draft, tuple(Opinion(relation="contradicts", memory=known.id) for known in found)


def retracted(news: News, project: str | None, ctx: SpaceContext) -> list[Memory]:
    """The memories that a message retracts without a replacement."""
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
    """The features of the regression, in the order of `REPLACED_WEIGHTS`."""
    by_agents = [float(who == "assistant") for who in (news.role, known.source.origin)]
    return log_odds(said), log1p(nearer), *by_agents, log(max(len(news.part.split()), 1))


def _near(meaning: TextVector | None, project: str | None, tx: Transaction) -> Sequence[Memory]:
    """The memories nearest to a message; without vectors, the newest ones."""
    where = Filter(project=project, other_projects=False)
    if meaning is None:
        return tx.memories.find(where, order="recent", limit=_NEAR)
    near = [known for known, cosine in by_meaning(tx, meaning, _LOOKED_AT).items() if cosine >= _LEAST]
    return [memory for memory in tx.memories.many(near) if admits(where, memory)][:_NEAR]
