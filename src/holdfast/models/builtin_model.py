"""The built-in models: reader (pair classifier, relevance scorer) and finder (fact extractor), both int8."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise
from math import log
from typing import TYPE_CHECKING

from holdfast.domain.ranking import log_odds, logistic
from holdfast.domain.subjects import names, same_subject
from holdfast.language.comparison import Statement, Verdict
from holdfast.language.judge import Pair, decided
from holdfast.models import own_models
from holdfast.models.own_models import DEADLINE, MAX_TOKENS, Network, cut_pair, framed_pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Fitted on the validation fortnights by `python -m training capture_fit`.
CARRIES_FROM = 0.1  # of a token
FACT_FROM = 0.54  # of a passage
#: Logistic regression over the evidence for a passage: mean and peak of its tokens' probabilities (log odds),
#: logarithm of its number of tokens, whether the agent said it, whether it follows a question.
FACT_BIAS = -0.42
FACT_WEIGHTS = (0.38, 0.54, 0.36, -1.67, 0.48)

KINDS = (
    "decision", "insight", "fact", "preference", "project", "person", "context", "feedback", "retraction",
)  # fmt: skip
_RULES = ("preference", "feedback")
_SENTENCE_END = re.compile(r"(?:[.!?]\s+|\n\s*)\Z")
_QUESTION = re.compile(r"[?？][^.!?？]*[.!]?[^\w?？]*$")  # at the end, or one sentence before it
_GAP = 8  # characters between two sentences
_NO_FACT = "retraction"  # only retracts an earlier statement
_UNHURRIED = 5  # times the deadline: no user waits for it
_LONGEST_GAP = 2  # tokens between two parts of one passage


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a message that states a fact."""

    start: int
    end: int
    kind: str
    probability: float


class FinderModel:
    """Finds facts in messages, and memories that a message makes outdated."""

    name = own_models.FINDER.name

    def __init__(self, folder: str | None = None, deadline: float = DEADLINE) -> None:
        self._network = Network(own_models.FINDER, folder, deadline)

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        self._network.check_file()

    def facts(self, messages: Sequence[tuple[str, str]]) -> list[Passage]:
        """The passages of the last message that state facts. Messages are (role, text), truncated if long.

        Raises: Unavailable, if the model can't be loaded or times out.
        """
        found = self.weighed(messages)
        likely = ((passage, logistic(FACT_BIAS, FACT_WEIGHTS, evidence)) for passage, evidence in found)
        return [replace(passage, probability=sure) for passage, sure in likely if sure >= FACT_FROM]

    def weighed(self, messages: Sequence[tuple[str, str]]) -> list[tuple[Passage, tuple[float, ...]]]:
        """All passages that may state a fact, with the evidence for each. Raises: Unavailable, as `facts`."""
        pieces = own_models.word_pieces()
        *before, (role, text) = messages
        ids = [one for who, said in before for one in pieces.numbers_of(f"{who}: {said}")]
        head, first = len(role) + 2, len(ids)
        places: list[tuple[int, int]] = []  # start and end of each token in the last message
        for found, start, end in pieces.placed(f"{role}: {text}"):
            ids.append(found)
            places.append((start - head, end - head))
        framed = pieces.framed(ids[: MAX_TOKENS - 2])
        heads = self._network.heads((framed, [0] * len(framed)), ["marks", "kind"], _UNHURRIED)
        marks, kinds = (said[0, 1 + first : -1] for said in heads)
        answers = role == "user" and bool(before) and before[-1][0] != role
        asked = answers and _QUESTION.search(before[-1][1]) is not None
        said_by = (float(role == "assistant"), float(asked))
        passages = _passages(text, places[: len(marks)], marks, kinds)
        return [(passage, (*told, *said_by)) for passage, told in passages]

    def replaced(self, memories: Sequence[str], said: str) -> list[float]:
        """How likely a message makes each memory outdated. Raises: Unavailable, as `facts`."""
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
    """Passages from the labels of tokens (outside, inside, begin), with the evidence that these give.

    A short gap does not end a passage.
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
            told = log_odds(sure), log_odds(float(carries[run].max())), log(len(run))
            yield Passage(start=places[run[0]][0], end=places[run[-1]][1], kind=kind, probability=sure), told


def _rules_apart(
    run: list[int], text: str, places: Sequence[tuple[int, int]], kinds: "NDArray[np.float32]"
) -> Iterator[list[int]]:
    """Splits a run between a sentence that is a rule and one that is not."""
    ends = [at for at in range(1, len(run)) if _SENTENCE_END.search(text[: places[run[at]][0]][-_GAP:])]
    parts = [run[start:end] for start, end in pairwise([0, *ends, len(run)])]
    for _, together in groupby(parts, lambda part: KINDS[int(kinds[part].mean(axis=0).argmax())] in _RULES):
        yield [at for part in together for at in part]


# Fitted on the validation part of the training data; see training/README.md.
SAME_FROM = 0.64
CONTRADICTS_FROM = 0.70
NEAR_FROM = 0.30  # less of both: certainly distinct
_MAX_PAIRS = 1_000  # cached


class ReaderModel:
    """The reader, together with the finder."""

    name = own_models.READER.name

    def __init__(self, folder: str | None = None, deadline: float = DEADLINE) -> None:
        self._network = Network(own_models.READER, folder, deadline)
        self.finder = FinderModel(deadline=deadline)
        self.facts, self.replaced = self.finder.facts, self.finder.replaced
        # The same prompt is asked more than once: by a block and by a tool, with and without filters.
        self._helps = lru_cache(_MAX_PAIRS)(lambda prompt, text: self._second(prompt, [text], "helps")[0])

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        self._network.check_file()

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Whether each pair of statements is the same, contradictory or distinct.

        Raises: Unavailable, if the model can't be loaded or times out.
        """
        texts = [_with_subjects(known, draft) for known, draft in pairs]
        pieces = own_models.word_pieces()
        inputs = [framed_pair(pieces.numbers_of(one), pieces.numbers_of(other)) for one, other in texts]
        whole = [place for place, given in enumerate(inputs) if len(given[0]) <= MAX_TOKENS]
        said = dict(
            zip(whole, self._network.pairs([inputs[place] for place in whole], "relation"), strict=True)
        )
        return [_verdict(said.get(place), self.name) for place in range(len(pairs))]

    def helps(self, prompt: str, texts: Sequence[str]) -> list[float]:
        """How relevant each text is to a prompt. Raises: Unavailable, as `judge`."""
        return [self._helps(prompt, text) for text in texts]

    def states(self, passage: str, facts: Sequence[str]) -> list[float]:
        """How likely a passage states each fact. Raises: Unavailable, as `judge`."""
        return self._second(passage, facts, "states")

    def _second(self, first: str, seconds: Sequence[str], head: str) -> list[float]:
        pieces = own_models.word_pieces()
        given = pieces.numbers_of(first)
        inputs = [cut_pair(given, pieces.numbers_of(text)) for text in seconds]
        return [float(row[1]) for row in self._network.pairs(inputs, head)]


def _with_subjects(known: Statement, draft: Statement) -> tuple[str, str]:
    """Both texts, prefixed with their subjects if these differ and a text does not contain its own."""
    both = (known, draft)
    named = all(each.subject is None or names(each.text, each.subject) for each in both)
    if named or same_subject(known.subject, draft.subject):
        return known.text, draft.text
    one, other = (f"{each.subject}: {each.text}" if each.subject else each.text for each in both)
    return one, other


def _verdict(said: "NDArray[np.float32] | None", name: str) -> Verdict:
    if said is None:  # too long for the model: not compared
        return Verdict(
            relation="distinct", certain=False, similarity=0.0, reasons=("too long to compare",), judge=name
        )
    return decided(
        float(said[0]),
        float(said[1]),
        same_from=SAME_FROM,
        contradicts_from=CONTRADICTS_FROM,
        near=NEAR_FROM,
        judge=name,
    )
