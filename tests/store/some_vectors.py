"""Vectors for tests: like those of real texts, which come in topics, and an embedder that needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.domain.terms import words

Vectors = NDArray[np.float32]


def clustered(count: int, dimensions: int = 384, seed: int = 1) -> Vectors:
    """Unit vectors as sentences have them: a common direction, topics of unequal size, few ways to differ."""
    chance = np.random.default_rng(seed)
    shape = np.random.default_rng(0)
    topics = shape.normal(size=(16, dimensions))
    subtopics = topics[shape.integers(0, 16, 200)] + shape.normal(size=(200, dimensions))
    common = 0.7 * shape.normal(size=dimensions)
    share = 1 / np.arange(1, 201) ** 0.8
    chosen = chance.choice(200, size=count, p=share / share.sum())
    ways = shape.normal(size=(24, dimensions)) / 24**0.5
    differing = chance.normal(size=(count, 24)) @ ways + 0.45 * chance.normal(size=(count, dimensions))
    return unit(common + subtopics[chosen] + differing)


def unit(rows: NDArray[np.float64]) -> Vectors:
    found: Vectors = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return found


class Hashing:
    """An embedder that knows words only: a text is the sum of fixed directions of its words."""

    def __init__(self, name: str = "hashing", dimensions: int = 32) -> None:
        self.name = name
        self.dimensions = dimensions
        self.asked = 0  # texts that it was given

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        self.asked += len(texts)
        return [[self.query(text)] for text in texts]

    def query(self, text: str) -> bytes:
        directions = [self._direction(word) for word in words(text)] or [self._direction("")]
        return unit(np.sum(directions, axis=0)).tobytes()

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        return [self.query(text) for text in texts]

    def _direction(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(f"{self.name} {word}".encode()).digest()[:8])
        return np.random.default_rng(seed).normal(size=self.dimensions)
