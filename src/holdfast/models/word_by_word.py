"""The likeness of two texts word by word, from the states that a model has for each of their words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.domain.compare.likeness import Likeness
from holdfast.domain.terms import STOP_WORDS
from holdfast.domain.weighed_cache import weighed_cache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KEPT_WORDS = 8_000  # of texts read before; each takes 1.5 kB
_UNKNOWN = 0.5  # where there is nothing to compare

#: The pieces of each word of a text, and the states of all pieces in a row.
States = Callable[[str], "tuple[Sequence[tuple[str, int]], NDArray[np.float32]]"]


@dataclass(frozen=True, slots=True)
class _Read:
    whole: "NDArray[np.float32]"
    words: tuple[str, ...]
    vectors: "NDArray[np.float32]"  # a row a word, of length 1
    telling: "NDArray[np.bool_]"


class WordByWord:
    """Compares texts by one model; texts that were read before are kept."""

    def __init__(self, states: States) -> None:
        self._states = states
        self._read = weighed_cache(most=_KEPT_WORDS, weight=_weight)(self._newly_read)

    def likeness(self, one: str, other: str) -> Likeness | None:
        """None where one of the texts has no words that the model knows."""
        first, second = self._read(one), self._read(other)
        if not first.words or not second.words:
            return None
        cosines = first.vectors @ second.vectors.T
        best = (cosines.max(axis=1)[first.telling], cosines.max(axis=0)[second.telling])
        return Likeness(
            whole=float(first.whole @ second.whole),
            covered=float(min(each.mean() for each in best)),
            least=float(min(each.min() for each in best)),
            weakest=float(max(_lowest(each) for each in best)),
            rests=_rests(first, second),
            shared=_shared(first, second, cosines),
        )

    def _newly_read(self, text: str) -> _Read:
        import numpy as np

        pieces, states = self._states(text)
        words: list[str] = []
        rows: list[NDArray[np.float32]] = []
        at = 0
        for word, count in pieces:
            if word.isalnum():
                words.append(word)
                rows.append(states[at : at + count].mean(axis=0))
            at += count
        if not words:
            nothing = np.zeros((0, 0), dtype=np.float32)
            return _Read(nothing, (), nothing, np.zeros(0, dtype=bool))
        vectors = np.stack(rows)
        telling = np.array([word not in STOP_WORDS for word in words])
        return _Read(
            _unit(states.mean(axis=0)),
            tuple(words),
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
            telling if telling.any() else np.ones_like(telling),
        )


def _weight(read: _Read) -> int:
    return len(read.words) + 1


def _unit(vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return unit


def _lowest(cosines: "NDArray[np.float32]") -> float:
    import numpy as np

    return float(np.sort(cosines)[:2].mean())


def _rests(first: _Read, second: _Read) -> float:
    """What only one of them says counts as neutral; where neither says more, they are the same."""
    rests = [_rest(first, second), _rest(second, first)]
    if rests[0] is None or rests[1] is None:
        return 1.0 if rests[0] is rests[1] else _UNKNOWN
    return float(rests[0] @ rests[1])


def _rest(one: _Read, other: _Read) -> "NDArray[np.float32] | None":
    """The telling words that the other text lacks, as one."""
    there = frozenset(other.words)
    lacking = [at for at, word in enumerate(one.words) if one.telling[at] and word not in there]
    return _unit(one.vectors[lacking].mean(axis=0)) if lacking else None


def _shared(first: _Read, second: _Read, cosines: "NDArray[np.float32]") -> float:
    places: dict[str, list[int]] = {}
    for at, word in enumerate(second.words):
        places.setdefault(word, []).append(at)
    alike = [
        float(cosines[at, there])
        for at, word in enumerate(first.words)
        if first.telling[at]
        for there in places.get(word, ())
    ]
    return sum(alike) / len(alike) if alike else _UNKNOWN
