"""The vectors of drafts and of what they are compared with, and the memories nearest to them by meaning."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from heapq import nlargest
from operator import itemgetter

from holdfast.engine.embedder_calls import BATCH, embedded
from holdfast.engine.embedding import search_model
from holdfast.engine.ports import Embedder, Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable

_TOGETHER = 16  # drafts per scan of the vectors
_MOST_VECTORS = 1_000  # of deleted and archived texts, cached
_FIRST_PART = 2_000  # characters of a text that are compared
_VECTORS: dict[tuple[str, bytes], bytes] = {}


@dataclass(frozen=True, slots=True)
class TextVector:
    """The vectors of a text's parts, and the embedder that made them."""

    embedder: Embedder
    parts: Sequence[bytes]
    near: Mapping[str, float] | None = None  # the nearest memories, if already searched


def vector_of(text: str, ctx: SpaceContext) -> TextVector | None:
    """The vector of a text; None if there are no vectors to compare it with."""
    if ctx.embedder is None:
        return None
    with ctx.read() as tx:
        model = search_model(ctx, tx)
    return vectors_by(model, [text])[0]


def vectors_by(model: Embedder | None, texts: Sequence[str]) -> list[TextVector | None]:
    if model is None:
        return [None] * len(texts)
    try:
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        return [TextVector(model, parts) for batch in batches for parts in embedded(model, batch)]
    except Unavailable:
        return [None] * len(texts)


def with_nearest(
    meanings: Sequence[TextVector | None], tx: Transaction, most: int
) -> Iterator[TextVector | None]:
    """The vectors with the memories nearest to each; the stored vectors are scanned once for several."""
    for start in range(0, len(meanings), _TOGETHER):
        group = meanings[start : start + _TOGETHER]
        queries = [each.parts[0] for each in group if each is not None]
        names = {each.embedder.name for each in group if each is not None}
        found = tx.memory_vectors.nearest(queries, names.pop(), most) if queries else {}
        cosines = iter(list(zip(*found.values(), strict=True)))
        for each in group:
            near = (
                nlargest(most, zip(found, next(cosines, ()), strict=False), key=itemgetter(1)) if each else ()
            )
            yield replace(each, near=dict(near)) if each else None


def by_meaning(
    tx: Transaction, meaning: TextVector | None, limit: int, also: Collection[str] = ()
) -> dict[str, float]:
    """The nearest memories by cosine, nearest first; empty if vectors can't be searched."""
    if meaning is None:
        return {}
    try:
        found = tx.memory_vectors.nearest([meaning.parts[0]], meaning.embedder.name, limit, also)
    except Unavailable:
        return {}
    return dict(sorted(((one, cosines[0]) for one, cosines in found.items()), key=lambda each: -each[1]))


def kept_vector(embedder: Embedder, text: str) -> bytes:
    """The vector of a text that is not stored; cached by hash, because the text may be a deleted one."""
    key = embedder.name, sha256(text.encode("utf-8", "replace")).digest()
    if key not in _VECTORS:
        [parts] = embedded(embedder, [text[:_FIRST_PART]])
        if len(_VECTORS) >= _MOST_VECTORS:
            _VECTORS.clear()
        _VECTORS[key] = bytes(parts[0])
    return _VECTORS[key]
