"""Prepares a query: parses it with what is known of the space, and embeds it.

Recent texts are embedded first, up to a limit. Without an embedder the search is by words.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from holdfast.domain.calibration import Calibration, calibrated
from holdfast.domain.jobs import VectorModel
from holdfast.engine.embedder_calls import embedded, given
from holdfast.engine.embedding import caught_up, cosine, embed_missing, searched_with
from holdfast.engine.ports import BuiltinModel, Embedder, VectorRows
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.question import ParsedQuestion, question

MOST_READ = 2_000  # characters of a query that are compared with each candidate
EMBEDDED_FIRST = 2_000  # texts without a vector that a query waits for; `tend` embeds the rest
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """The vectors of a query, one for each of its forms, and the model that made them."""

    embedder: Embedder
    vectors: tuple[bytes, ...]
    calibration: Calibration

    @property
    def model(self) -> str:
        return self.embedder.name


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query that is ready to be searched for."""

    question: ParsedQuestion
    meaning: QueryVectors | None  # None: search by words
    builtin_model: BuiltinModel | None = None  # None: not used

    def read(self, texts: Sequence[str]) -> list[float] | None:
        """How likely each text helps with the query; None if the built-in model is not available."""
        if self.builtin_model is None:
            return None
        try:
            return self.builtin_model.helps(self.question.text[:MOST_READ], texts)
        except Unavailable as trouble:
            _log.warning("hits are ranked without the built-in model: %s", trouble)
            return None

    def cosines(
        self, rows: VectorRows[Any], limit: int, also: Collection[str], *, forms: int | None = None
    ) -> dict[str, tuple[float, ...]] | None:
        """The nearest owners and those of `also`, with a calibrated cosine for each form of the query.

        None, if vectors can't be searched.
        """
        if self.meaning is None:
            return None
        try:
            found = rows.nearest(self.meaning.vectors[:forms], self.meaning.model, limit, also)
        except Unavailable as trouble:
            _log.warning("semantic search is not available: %s", trouble)
            return None
        scale = self.meaning.calibration
        if scale == Calibration():
            return found
        return {
            owner: tuple(calibrated(cosine, scale) for cosine in cosines) for owner, cosines in found.items()
        }

    def cosines_of(self, texts: Sequence[str]) -> list[float] | None:
        """The calibrated cosines of texts without stored vectors; None if that fails."""
        if self.meaning is None:
            return None
        try:
            vectors = embedded(self.meaning.embedder, texts)
        except Unavailable as trouble:
            _log.warning("semantic search is not complete: %s", trouble)
            return None
        asked, scale = self.meaning.vectors[0], self.meaning.calibration
        return [calibrated(max(cosine(asked, part) for part in parts), scale) for parts in vectors]


def ask(
    texts: Sequence[str], *, ctx: SpaceContext, asked_at: datetime, messages: bool, waits: bool = True
) -> list[PreparedQuery]:
    """Prepares queries; for `messages` also in the forms that a named person would have used.

    Unless it `waits`, only the queries are embedded.
    """
    with ctx.read() as tx:
        speakers = tx.sessions.speakers() if messages else []
        models = {model.name: model for model in tx.models.all()} if ctx.embedder else {}
        keeps = tx.space.keeps_messages
        tables = (tx.memory_vectors, tx.message_vectors)
        damaged = any(table.damaged(model) for table in tables for model in models)
    questions = [question(text, speakers, asked_at.date()) for text in texts]
    if ctx.embedder is None:
        return [PreparedQuery(each, None) for each in questions]
    configured = models.get(ctx.embedder.name)
    behind = configured is None or damaged or not caught_up(configured, keeps)
    if behind and waits and ctx.waits:
        models = _fed(ctx)
    embedder = searched_with(ctx, ctx.embedder, list(models.values()))
    vectors = _vectors(embedder, [form for each in questions for form in each.forms])
    if vectors is None:
        return [PreparedQuery(each, None) for each in questions]
    searched = models.get(embedder.name)
    scale = Calibration.of_row(searched.calibration if searched else None)
    coming = iter(vectors)
    return [
        PreparedQuery(
            each, QueryVectors(embedder, tuple(next(coming) for _ in each.forms), scale), ctx.builtin_model
        )
        for each in questions
    ]


def _fed(ctx: SpaceContext) -> dict[str, VectorModel]:
    """The models by name, after recent texts were embedded."""
    try:
        embed_missing(ctx, limit=EMBEDDED_FIRST)
    except Unavailable as trouble:
        _log.warning("semantic search is not complete: %s", trouble)
    with ctx.read() as tx:
        return {model.name: model for model in tx.models.all()}


def _vectors(embedder: Embedder, forms: Sequence[str]) -> list[bytes] | None:
    try:
        found = given(embedder, lambda texts: embedder.queries(texts), forms)
    except Unavailable as trouble:
        _log.warning("semantic search is not available: %s", trouble)
        return None
    return found if len(found) == len(forms) else None
