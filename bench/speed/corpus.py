"""Made-up memories, questions and vectors: any number of them, the same in every run.

Real words in real proportions, so that the searchable words are as many and as common as in a person's store.
The vectors lie in clusters, as those of texts on one topic do, and are made from the text alone: filling a
store with a million of them needs no model.
"""

import hashlib
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING

from bench.speed.cost import Meter
from holdfast.models.own_models import word_pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.engine.ports import Embedder

DIMENSIONS = 384
TOPICS = 1_000
_OWN_WORDS = 30  # words that a topic uses more than others do
_ALIKE = 0.5  # the cosine of two texts on one topic

#: {t} is the topic, {o} one of its own words, {w} any word, the common ones more often, {n} a number.
_SENTENCES = """
The {t} for the {o} runs on {w} and takes about {n} minutes.
We decided to move the {t} from {w} to {o} because the {w} was too slow.
Whoever changes the {t} has to tell the {w} team before {n} o'clock.
I prefer {t} over {o}, and {w} only when there is no {w} left.
The {o} of the {t} is kept in the {w} next to the {w}, number {n}.
Every {w} the {t} is checked against the {o}; the last check found {n} of them.
My {w} works at the {t} in {o} and comes by on the {n}th.
When the {t} fails, restart the {w} first and then look at the {o} log, line {n}.
The {t} costs {n} a month, {o} and {w} included.
Never put the {w} into the {t} without asking for the {o}.
For the {t} we use {o} with a limit of {n} and no {w}.
The meeting about the {t} was on the {n}th: {o} is fine, {w} has to wait for the {w}.
The {o} needs the {t}, and the {t} needs {n} days of {w}.
Somebody at the {w} said that the {t} will be replaced by {o} {n}.
The key to the {t} hangs behind the {o}, not in the {w}, since {n}.
It turned out that the {t} was never the cause; the {o} had {n} {w} too many.
""".strip().splitlines()
_QUESTIONS = """
What did we say about the {t} and the {o}?
How is the {t} done with {w}?
Who knows about the {o} of the {t}?
When was the {t} changed for the {w}?
""".strip().splitlines()

_SLOT = re.compile(r"{[town]}")
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Fact:
    """What one memory of the corpus says."""

    content: str
    category: str


class Corpus:
    """Memories by their number; another seed gives others."""

    def __init__(self, categories: Sequence[str], seed: int = 0) -> None:
        self.categories = categories
        self.seed = seed

    def facts(self, start: int, stop: int) -> Iterator[Fact]:
        return map(self.fact, range(start, stop))

    def fact(self, number: int) -> Fact:
        chance = Random(f"{self.seed} {number}")
        return Fact(
            content=self._filled(chance.choice(_SENTENCES), chance.randrange(TOPICS), chance),
            category=chance.choice(self.categories),
        )

    def question(self, number: int) -> str:
        """A question on the topic of one memory, by some of its words."""
        topic = Random(f"{self.seed} {number}")
        topic.choice(_SENTENCES)
        chance = Random(f"{self.seed} question {number}")
        return self._filled(chance.choice(_QUESTIONS), topic.randrange(TOPICS), chance)

    def _filled(self, sentence: str, topic: int, chance: Random) -> str:
        own = topic_words()[topic]
        made = {
            "{t}": lambda: own[0],
            "{o}": lambda: chance.choice(own),
            "{w}": lambda: chance.choices(words(), cum_weights=_weights())[0],
            "{n}": lambda: f"{chance.randrange(2, 10_000)}",
        }
        return _SLOT.sub(lambda slot: made[slot[0]](), sentence)


class GeneratedEmbedder:
    """Vectors from the text alone: the topic that it names says the cluster, its letters the place within.

    What it takes is counted by `meter`: a measure of the store leaves it out.
    """

    def __init__(self, model: "Embedder | None" = None) -> None:
        """With a model, the vectors pass for its own: the clusters lie where it puts their topics."""
        self.name = model.name if model else "generated"
        self.meter = Meter()
        self._model = model

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        with self.meter.running():
            return [[vector.tobytes()] for vector in self.matrix(texts)]

    def query(self, text: str) -> bytes:
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        with self.meter.running():
            return [vector.tobytes() for vector in self.matrix(texts)]

    def matrix(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row a text, of length 1."""
        import numpy as np

        size = 2 * DIMENSIONS
        drawn = b"".join(hashlib.shake_128(text.encode()).digest(size) for text in texts)
        noise = np.frombuffer(drawn, dtype="<i2").reshape(len(texts), DIMENSIONS).astype(np.float32)
        noise *= np.sqrt((1 - _ALIKE) / (noise**2).sum(axis=1, keepdims=True))
        vectors = noise + math.sqrt(_ALIKE) * self._centres[[_cluster(text) for text in texts]]
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    @cached_property
    def _centres(self) -> "NDArray[np.float32]":
        import numpy as np

        if self._model is not None:
            vectors = self._model.documents([f"the {own[0]} and the {own[1]}" for own in topic_words()])
            return np.array([np.frombuffer(parts[0], dtype=np.float32) for parts in vectors])
        centres = np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS), dtype=np.float32)
        unit: NDArray[np.float32] = centres / np.linalg.norm(centres, axis=1, keepdims=True)
        return unit


@cache
def words() -> list[str]:
    """All words, the most common first."""
    found = sorted(
        word for word in word_pieces().numbers if word.isascii() and word.isalpha() and len(word) > 3
    )
    Random(0).shuffle(found)
    return found


@cache
def topic_words() -> list[list[str]]:
    """The words that belong to each topic; the first is its name."""
    chance = Random(1)
    rare = words()[200:]
    return [[name, *chance.sample(rare, k=_OWN_WORDS)] for name in chance.sample(rare, k=TOPICS)]


@cache
def _weights() -> list[float]:
    """Zipf's law: the n-th word is as common as 1/n."""
    return list(accumulate(1 / rank for rank in range(1, len(words()) + 1)))


@cache
def _topics() -> dict[str, int]:
    return {own[0]: number for number, own in enumerate(topic_words())}


def _cluster(text: str) -> int:
    """The topic that a text names first; for one that names none, any, but always the same."""
    for word in _WORD.findall(text.lower()):
        if word in _topics():
            return _topics()[word]
    return zlib.crc32(text.encode()) % TOPICS
