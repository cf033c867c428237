"""Makes missing vectors: a text is stored at once and embedded later.

A space is searched with one model. If another is configured, its vectors are made step by step while the old
model's vectors are still searched and completed; when the new ones are complete, the old ones are removed.
"""

import logging
import math
from array import array
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from operator import mul

from holdfast.domain.calibration import MEASURED_WITH
from holdfast.domain.jobs import Embedded, Missing, VectorModel
from holdfast.domain.memory import Draft, Memory, Message
from holdfast.engine.calibrate import Measuring
from holdfast.engine.embedder_calls import BATCH, batch_limits, embedded, given, part_vectors
from holdfast.engine.ports import Embedder, TimeUp, Transaction, VectorRows
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable

KINDS = ("memories", "messages")
_log = logging.getLogger(__name__)
_MEASURING: dict[str, Measuring] = {}  # calibrations in progress, by model name


def embed_missing(
    ctx: SpaceContext, *, limit: int, changing: int = BATCH, time_up: TimeUp = lambda: False
) -> int:
    """Embeds up to `limit` memories and messages without a vector; returns how many.

    For a newly configured model, which nobody waits for, up to `changing`. After a kill, or if `time_up`, it
    continues later.
    Raises: Unavailable, if the embedder fails or returns invalid vectors.
    """
    if ctx.embedder is None:
        return 0
    with ctx.read() as tx:
        models = tx.models.all()
        keeps = tx.space.keeps_messages
        searched = searched_with(ctx, ctx.embedder, models)
        damaged = {kind: _rows(tx, kind).damaged(searched.name) for kind in KINDS}
    for kind, owners in damaged.items():
        embed_again(ctx, searched, kind, owners, time_up)
        if owners and time_up():
            return 1  # there is more to do at once
    known = {model.name: model for model in models}
    if searched.name == ctx.embedder.name:
        return _catch_up(ctx, searched, known.get(searched.name), keeps, limit, time_up)
    done = 0
    try:
        done += _catch_up(ctx, searched, known.get(searched.name), keeps, limit, time_up)
    except Unavailable as trouble:  # continue with the new one
        _log.warning("the previous embedder failed: %s", trouble)
    model = known.get(ctx.embedder.name)
    return done + _catch_up(ctx, ctx.embedder, model, keeps, min(changing, limit), time_up)


def search_model(ctx: SpaceContext, tx: Transaction) -> Embedder | None:
    """The embedder to search with: the one whose vectors are complete; None without an embedder.

    That is the configured one, or the previous one while the new vectors are being made. If the previous one
    can't be opened, it is the configured one.
    """
    return None if ctx.embedder is None else searched_with(ctx, ctx.embedder, tx.models.all())


def text_of(owner: Memory | Draft | Message) -> str:
    """The text that the vector of a memory, draft or message is made of."""
    if isinstance(owner, Message):
        return owner.content or ""
    # As sentences: the model was trained on sentences and finds more with them.
    parts = (owner.subject, owner.summary, owner.content, " ".join(owner.tags))
    return ". ".join(part.rstrip(".") for part in parts if part)


def searched_with(ctx: SpaceContext, configured: Embedder, models: Sequence[VectorModel]) -> Embedder:
    """As `search_model`, for models that were read already."""
    complete = [model.name for model in models if model.ready]
    if configured.name not in complete:
        for name in reversed(complete):
            before = _opened(ctx, name)
            if before is not None:
                return before
    return configured


def _catch_up(
    ctx: SpaceContext, embedder: Embedder, model: VectorModel | None, keeps: bool, limit: int, time_up: TimeUp
) -> int:
    """Embeds what is new since the model's last run; marks the model as complete when nothing is left."""
    if model is None:
        with ctx.write() as tx:
            tx.models.begin(embedder.name, ctx.now())
    elif caught_up(model, keeps):
        return 0
    uncalibrated = embedder.name != MEASURED_WITH and (model is None or model.calibration is None)
    if uncalibrated and not _calibrate(ctx, embedder, time_up):
        return 1  # there is more to do at once
    done, complete = _feed(ctx, embedder, "memories", model.memories_to if model else 0, limit, time_up)
    if complete and keeps:
        reached = model.messages_to if model else 0
        more, complete = _feed(ctx, embedder, "messages", reached, limit - done, time_up)
        done += more
    if complete and (model is None or not model.ready):
        _complete(ctx, embedder.name)
    return done


def embed_again(
    ctx: SpaceContext, embedder: Embedder, kind: str, ids: Sequence[str], time_up: TimeUp = lambda: False
) -> None:
    """Makes the vectors of these owners again until the time is up; drops those of removed owners.

    Raises: Unavailable, if the embedder fails.
    """
    most, _ = batch_limits(embedder)
    for start in range(0, len(ids), most):
        batch = ids[start : start + most]
        with ctx.read() as tx:
            owners = _embeddable(tx, kind, batch)
        vectors = embedded(embedder, [text_of(owner) for owner in owners])
        with ctx.write() as tx:
            _rows(tx, kind).drop(batch)
            _put(tx, embedder.name, kind, owners, vectors, ctx)
        if time_up():
            return


def _embeddable(tx: Transaction, kind: str, ids: Sequence[str]) -> Sequence[Memory | Message]:
    """Those of the ids that still exist and may be searched."""
    if kind == "memories":
        return [memory for memory in tx.all_memories.many(ids) if memory.active]
    return [message for message in tx.sessions.messages_by_id(ids) if message.findable]


def _calibrate(ctx: SpaceContext, embedder: Embedder, time_up: TimeUp) -> bool:
    """Calibrates the model and stores the result with its vectors.

    Returns False if the time was up first; the next call continues.
    """
    queries = partial(given, embedder, lambda texts: embedder.queries(texts))
    measuring = _MEASURING.setdefault(embedder.name, Measuring())
    try:
        found = measuring.go_on(embedder.name, partial(embedded, embedder), queries, time_up)
    except Unavailable:
        _MEASURING.pop(embedder.name, None)
        raise
    if found is None:
        return False
    _MEASURING.pop(embedder.name, None)
    with ctx.write() as tx:
        tx.models.calibrate(embedder.name, found.as_row())
    return True


def caught_up(model: VectorModel, keeps: bool) -> bool:
    """Whether a model is complete and nothing was written since."""
    behind = model.last_message - model.messages_to if keeps else 0
    return model.ready and model.last_change == model.memories_to and behind == 0


def _feed(
    ctx: SpaceContext, embedder: Embedder, kind: str, reached: int, limit: int, time_up: TimeUp
) -> tuple[int, bool]:
    """Embeds up to `limit` of one kind; returns how many, and whether nothing is left."""
    done = 0
    while True:
        with ctx.read() as tx:
            missing = _batch(_rows(tx, kind), embedder, limit - done)
        if not missing.owners and missing.upto == reached:
            return done, True
        if missing.owners and (done >= limit or (done and time_up())):
            return done, False
        vectors = part_vectors(ctx.space, embedder, [text_of(owner) for owner in missing.owners], time_up)
        if vectors is None:
            return done or 1, False  # there is more to do at once
        with ctx.write() as tx:
            _put(tx, embedder.name, kind, missing.owners, vectors, ctx)
            _rows(tx, kind).embedded(embedder.name, missing.upto)
        done += len(missing.owners)
        reached = missing.upto


def _batch(rows: VectorRows[Memory | Message], embedder: Embedder, most: int) -> Missing[Memory | Message]:
    """The next batch; fewer texts if they are long."""
    texts, characters = batch_limits(embedder)
    missing = rows.missing(embedder.name, max(min(texts, most), 1))
    sums = accumulate(len(text_of(owner)) for owner in missing.owners)
    fitting = max(sum(size <= characters for size in sums), 1)
    return missing if fitting >= len(missing.owners) else rows.missing(embedder.name, fitting)


def _put(
    tx: Transaction,
    model: str,
    kind: str,
    owners: Sequence[Memory | Message],
    vectors: Sequence[Sequence[bytes]],
    ctx: SpaceContext,
) -> None:
    """Stores vectors of texts that are unchanged; changed ones are embedded again later."""
    there = {owner.id: text_of(owner) for owner in _embeddable(tx, kind, [owner.id for owner in owners])}
    texts = [
        Embedded(owner.id, owner.version if isinstance(owner, Memory) else 1, parts)
        for owner, parts in zip(owners, vectors, strict=True)
        if there.get(owner.id) == text_of(owner)
    ]
    _rows(tx, kind).put_all(texts, model, ctx.now())


def _complete(ctx: SpaceContext, model: str) -> None:
    """Makes this model the one to search with, and removes the vectors of others."""
    with ctx.write() as tx:
        tx.models.ready(model)
        if ctx.embedder is not None and ctx.embedder.name == model:
            for other in tx.models.all():
                if other.name != model:
                    tx.models.drop(other.name)


def _rows(tx: Transaction, kind: str) -> VectorRows[Memory | Message]:
    return tx.memory_vectors if kind == "memories" else tx.message_vectors


def _opened(ctx: SpaceContext, name: str) -> Embedder | None:
    try:
        return ctx.open_embedder(name) if ctx.open_embedder is not None else None
    except Unavailable as trouble:
        _log.warning("the vectors of %s can't be searched: %s", name, trouble)
        return None


def cosine(one: bytes, other: bytes) -> float:
    """The cosine of two vectors of length 1."""
    return math.fsum(map(mul, array("f", one), array("f", other)))
