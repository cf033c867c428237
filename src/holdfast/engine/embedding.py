"""Vectors for memories that have none yet: what is written is stored at once, its meaning follows."""

import logging
from collections.abc import Sequence

from holdfast.domain.memory import Memory
from holdfast.domain.ranking import said
from holdfast.engine.desk import Desk
from holdfast.engine.ports import Embedder
from holdfast.errors import Unavailable

BATCH = 64  # memories embedded and stored at a time
_log = logging.getLogger(__name__)


def embed_missing(desk: Desk, *, limit: int) -> int:
    """Embeds up to `limit` memories that lack a vector; answers how many. Killed halfway, it goes on later.

    Raises: Unavailable, when the embedder fails or answers nonsense.
    """
    if desk.embedder is None:
        return 0
    done = 0
    while done < limit:
        with desk.store.read(desk.space) as tx:
            batch = tx.vectors.missing(desk.embedder.name, min(BATCH, limit - done))
        if not batch:
            break
        vectors = _embedded(desk.embedder, batch)
        with desk.store.write(desk.space) as tx:
            for memory, parts in zip(batch, vectors, strict=True):
                now_there = tx.memories.get(memory.id)
                if now_there is not None and now_there.version == memory.version:
                    tx.vectors.put(memory, desk.embedder.name, parts, desk.now())
        done += len(batch)
    return done


def query_vector(desk: Desk, question: str) -> bytes | None:
    """The vector of a question; none when meaning can't be had now, and then words have to do."""
    if desk.embedder is None:
        return None
    try:
        return desk.embedder.query(question)
    except Exception as trouble:  # broad: a model that fails in whatever way must not break recall
        _log.warning("search by meaning is not available: %s", trouble)
        return None


def _embedded(embedder: Embedder, batch: Sequence[Memory]) -> list[list[bytes]]:
    try:
        vectors = embedder.documents([said(memory) for memory in batch])
    except Unavailable:
        raise
    except Exception as trouble:  # broad: whatever a model raises, the texts are stored and are tried again
        raise Unavailable(f"the embedder {embedder.name} failed: {trouble}") from trouble
    if len(vectors) != len(batch):
        raise Unavailable(f"the embedder {embedder.name} gave {len(vectors)} answers for {len(batch)} texts")
    return vectors
