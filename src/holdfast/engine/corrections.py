"""Which memories a message makes untrue: the nearest ones, read by our finder beside what was said."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.memory import Draft, Memory
from holdfast.domain.query import Filter, admits
from holdfast.engine.candidates import TextVector, by_meaning, vector_of
from holdfast.engine.model_judge import Opinion
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.news import News

_NEAR = 2  # memories that are read: what is corrected is nearly always the nearest
_LEAST = 0.3  # cosine
_LOOKED_AT = 40  # the nearest of the space, of which some are of other projects
# Fitted on the validation part of the training data; see training/README.md.
REPLACED_FROM = 0.5
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
        said = ctx.reader.replaced([memory.content for memory in known], news.told())
    except Unavailable as trouble:
        _log.warning("space %s: corrections are not looked for: %s", ctx.space, trouble)
        return []
    sure = sorted(zip(said, known, strict=True), key=lambda pair: -pair[0])
    return [memory for probability, memory in sure if probability >= REPLACED_FROM]


def _near(meaning: TextVector | None, project: str | None, tx: Transaction) -> Sequence[Memory]:
    """What is known here and sounds near what was said; without vectors, what is newest."""
    where = Filter(project=project, other_projects=False)
    if meaning is None:
        return tx.memories.find(where, order="recent", limit=_NEAR)
    near = [known for known, cosine in by_meaning(tx, meaning, _LOOKED_AT).items() if cosine >= _LEAST]
    return [memory for memory in tx.memories.many(near) if admits(where, memory)][:_NEAR]
