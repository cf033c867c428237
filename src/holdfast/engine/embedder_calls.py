"""Calls an embedder in batches; a long text part by part; any failure is raised as Unavailable.

Knows nothing of the store.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TypeVar

from holdfast.engine.ports import Embedder, InProcess, TimeIsUp, TimeUp
from holdfast.errors import Unavailable

BATCH = 64  # texts per batch
_CHARACTERS = 4_000  # characters per batch; a longer text is a batch of its own
_LOCAL_BATCH = 8  # texts per batch for a model in this process
_LOCAL_CHARACTERS = (100, 500, 1_000)  # characters per batch: least, initial and most
_BATCH_TIME = 0.03  # seconds per batch; the previous batch tells how many characters that is
_PACE: dict[str, int] = {}  # characters that a model in this process embeds in that time, by name
#: Long texts in progress, by space and model: hash, remaining parts and finished vectors.
_UNDER_WAY: dict[tuple[str, str], tuple[bytes, Iterator[bytes], list[bytes]]] = {}
Given = TypeVar("Given")


def batch_limits(embedder: Embedder) -> tuple[int, int]:
    """The maximum number of texts, and of characters in total, for one batch."""
    if isinstance(embedder, InProcess):
        return _LOCAL_BATCH, _PACE.get(embedder.name, _LOCAL_CHARACTERS[1])
    return BATCH, _CHARACTERS


def part_vectors(
    space: str, embedder: Embedder, texts: Sequence[str], time_up: TimeUp
) -> Sequence[Sequence[bytes]] | None:
    """The vectors of each text's parts; None if the time was up in the middle of a long text."""
    if not isinstance(embedder, InProcess):
        return embedded(embedder, texts)
    if len(texts) == 1 and len(texts[0]) > _LOCAL_CHARACTERS[-1]:
        return given(embedder, lambda texts: _part_by_part(space, embedder, texts[0], time_up), texts)
    began = time.monotonic()
    found = embedded(embedder, texts)
    took = max(time.monotonic() - began, 1e-6)
    least, _, most = _LOCAL_CHARACTERS
    _PACE[embedder.name] = min(max(int(sum(map(len, texts)) * _BATCH_TIME / took), least), most)
    return found


def _part_by_part(
    space: str, embedder: Embedder, text: str, time_up: TimeUp
) -> Sequence[Sequence[bytes]] | None:
    assert isinstance(embedder, InProcess)
    key, digest = (space, embedder.name), sha256(text.encode("utf-8", "replace")).digest()
    begun = _UNDER_WAY.pop(key, None)  # removed, so that no other thread continues it
    if begun is None or begun[0] != digest:
        begun = digest, embedder.parts(text), []
    _, coming, done = begun
    for part in coming:
        done.append(part)
        if time_up():
            _UNDER_WAY[key] = begun
            return None
    return [done]


def embedded(embedder: Embedder, texts: Sequence[str]) -> Sequence[Sequence[bytes]]:
    """The vectors of each text's parts.

    Raises: Unavailable.
    """
    if not texts:
        return []
    vectors = given(embedder, lambda texts: embedder.documents(texts), texts)
    if len(vectors) != len(texts):
        raise Unavailable(
            f"the embedder {embedder.name} returned {len(vectors)} vectors for {len(texts)} texts"
        )
    return vectors


def given(embedder: Embedder, ask: Callable[[Sequence[str]], Given], texts: Sequence[str]) -> Given:
    """The result of a call of the embedder.

    Raises: Unavailable, whatever the embedder raises.
    """
    try:
        return ask(texts)
    except (Unavailable, TimeIsUp):
        raise
    except Exception as trouble:  # broad: whatever a model raises, the texts are stored and are tried again
        raise Unavailable(f"the embedder {embedder.name} failed: {trouble}") from trouble
