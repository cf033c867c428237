"""Our own finder: the words of a message that carry facts, and the memories that they make untrue."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from holdfast.models import own_models
from holdfast.models.network import DEADLINE, MOST_TOKENS, Network, cut_pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Fitted on the validation part of the training data; see training/README.md.
CARRIES_FROM = 0.3  # of a token
FACT_FROM = 0.5  # of a passage

KINDS = (
    "decision", "insight", "fact", "preference", "project", "person", "context", "feedback", "retraction",
)  # fmt: skip
_RULES = ("preference", "feedback")
_SENTENCE_END = re.compile(r"(?:[.!?]\s+|\n\s*)\Z")
_GAP = 8  # characters between two sentences
_NO_FACT = "retraction"  # it only takes back what was said before
_UNHURRIED = 5  # times the deadline: nobody waits
_LONGEST_GAP = 2  # tokens between two parts of one passage


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a message that carry a fact."""

    start: int
    end: int
    kind: str
    probability: float


class OwnFinder:
    """Reads messages."""

    name = own_models.FINDER.name

    def __init__(self, folder: str | None = None, deadline: float = DEADLINE) -> None:
        self._network = Network(own_models.FINDER, folder, deadline)

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        self._network.check_file()

    def facts(self, messages: Sequence[tuple[str, str]]) -> list[Passage]:
        """The words of the last message that carry facts, given as roles and texts; what is too long is cut.

        Raises: Unavailable, when the model can't be had or takes too long.
        """
        pieces = own_models.word_pieces()
        *before, (role, text) = messages
        ids = [one for who, said in before for one in pieces.numbers_of(f"{who}: {said}")]
        head, first = len(role) + 2, len(ids)
        places: list[tuple[int, int]] = []  # where each token of the last message stands in it
        for found, start, end in pieces.placed(f"{role}: {text}"):
            ids.append(found)
            places.append((start - head, end - head))
        framed = pieces.framed(ids[: MOST_TOKENS - 2])
        heads = self._network.heads((framed, [0] * len(framed)), ["marks", "kind"], _UNHURRIED)
        marks, kinds = (said[0, 1 + first : -1] for said in heads)
        return list(_passages(text, places[: len(marks)], marks, kinds))

    def replaced(self, memories: Sequence[str], said: str) -> list[float]:
        """How likely each memory is no longer true after what was said.

        Raises: Unavailable, as `facts`.
        """
        pieces = own_models.word_pieces()
        news = pieces.numbers_of(said)
        inputs = [cut_pair(pieces.numbers_of(memory), news) for memory in memories]
        return [float(row[1]) for row in self._network.pairs(inputs, "replaces", _UNHURRIED)]


def _passages(
    text: str,
    places: Sequence[tuple[int, int]],
    marks: "NDArray[np.float32]",
    kinds: "NDArray[np.float32]",
) -> Iterator[Passage]:
    """Runs of tokens that carry a fact, a short gap included; `marks` tell outside, inside and begins."""
    carries = 1 - marks[:, 0]
    runs: list[list[int]] = []
    for at, (start, _) in enumerate(places):
        if carries[at] < CARRIES_FROM or start < 0:
            continue
        begins = marks[at, 2] > marks[at, 1]
        if not runs or begins or at - runs[-1][-1] > _LONGEST_GAP + 1:
            runs.append([])
        runs[-1].append(at)
    for run in [part for whole in runs for part in _rules_apart(whole, text, places, kinds)]:
        sure = float(carries[run].mean())
        kind = KINDS[int(kinds[run].mean(axis=0).argmax())]
        if sure >= FACT_FROM and kind != _NO_FACT:
            yield Passage(start=places[run[0]][0], end=places[run[-1]][1], kind=kind, probability=sure)


def _rules_apart(
    run: list[int], text: str, places: Sequence[tuple[int, int]], kinds: "NDArray[np.float32]"
) -> Iterator[list[int]]:
    """A run, cut where a sentence that is a rule follows one that is none, or the other way round."""
    ends = [at for at in range(1, len(run)) if _SENTENCE_END.search(text[: places[run[at]][0]][-_GAP:])]
    parts = [run[start:end] for start, end in pairwise([0, *ends, len(run)])]
    for _, together in groupby(parts, lambda part: KINDS[int(kinds[part].mean(axis=0).argmax())] in _RULES):
        yield [at for part in together for at in part]
