"""Our own finder: the words of a message that carry facts, and the memories that they make untrue."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import exp, log
from operator import mul
from typing import TYPE_CHECKING

from holdfast.models import own_models
from holdfast.models.network import DEADLINE, MOST_TOKENS, Network, cut_pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Fitted on the fortnights of the validation part by `python -m training capture_fit`.
CARRIES_FROM = 0.1  # of a token
FACT_FROM = 0.54  # of a passage
#: What each says of a passage: its marks on average and at their peak (log odds), how many tokens it has (a
#: logarithm), whether an agent said it, and whether it follows a question.
FACT_BIAS = -0.42
FACT_WEIGHTS = (0.38, 0.54, 0.36, -1.67, 0.48)

KINDS = (
    "decision", "insight", "fact", "preference", "project", "person", "context", "feedback", "retraction",
)  # fmt: skip
_RULES = ("preference", "feedback")
_SENTENCE_END = re.compile(r"(?:[.!?]\s+|\n\s*)\Z")
_QUESTION = re.compile(r"[?？][^.!?]*[.!]?\W*$")  # or one sentence before the end
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
        likely = ((passage, fact_probability(told)) for passage, told in self.weighed(messages))
        return [replace(passage, probability=sure) for passage, sure in likely if sure >= FACT_FROM]

    def weighed(self, messages: Sequence[tuple[str, str]]) -> list[tuple[Passage, tuple[float, ...]]]:
        """All that may carry a fact, and what speaks for it, in the order of the weights.

        Raises: Unavailable, as `facts`.
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
        answers = role == "user" and bool(before) and before[-1][0] != role
        asked = answers and _QUESTION.search(before[-1][1]) is not None
        said_by = (float(role == "assistant"), float(asked))
        found = _passages(text, places[: len(marks)], marks, kinds)
        return [(passage, (*told, *said_by)) for passage, told in found]

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
) -> Iterator[tuple[Passage, tuple[float, ...]]]:
    """Runs of tokens that carry a fact, a short gap included; `marks` tell outside, inside and begins.

    Each with what its marks say.
    """
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
        kind = KINDS[int(kinds[run].mean(axis=0).argmax())]
        if kind != _NO_FACT:
            sure = float(carries[run].mean())
            told = _odds(sure), _odds(float(carries[run].max())), log(len(run))
            yield Passage(start=places[run[0]][0], end=places[run[-1]][1], kind=kind, probability=sure), told


def fact_probability(evidence: Sequence[float]) -> float:
    """How likely a passage is one that a colleague would note."""
    return 1 / (1 + exp(-FACT_BIAS - sum(map(mul, FACT_WEIGHTS, evidence))))


def _odds(probability: float) -> float:
    sure = min(max(probability, 0.001), 0.999)
    return log(sure / (1 - sure))


def _rules_apart(
    run: list[int], text: str, places: Sequence[tuple[int, int]], kinds: "NDArray[np.float32]"
) -> Iterator[list[int]]:
    """A run, cut where a sentence that is a rule follows one that is none, or the other way round."""
    ends = [at for at in range(1, len(run)) if _SENTENCE_END.search(text[: places[run[at]][0]][-_GAP:])]
    parts = [run[start:end] for start, end in pairwise([0, *ends, len(run)])]
    for _, together in groupby(parts, lambda part: KINDS[int(kinds[part].mean(axis=0).argmax())] in _RULES):
        yield [at for part in together for at in part]
