"""Our own reader: judges pairs of statements, and finds the words of a message that carry facts.

One network with several heads, int8, on onnxruntime; loaded when it is first asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.domain.subjects import names, same_subject
from holdfast.errors import Unavailable
from holdfast.language.compare import Statement, Verdict
from holdfast.language.judge import Pair, decided
from holdfast.models import own_models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Fitted on the validation part of the training data; see training/README.md.
SAME_FROM = 0.64
CONTRADICTS_FROM = 0.70
NEAR_FROM = 0.30  # less of both: certainly distinct
CARRIES_FROM = 0.3  # of a token
FACT_FROM = 0.5  # of a passage

KINDS = ("decision", "insight", "fact", "preference", "project", "person", "context", "feedback")
MOST_TOKENS = 384
THREADS = 2  # with one a pair takes two thirds longer
DEADLINE = 2.0  # seconds for every few inputs of a call
UNHURRIED = 5  # times the deadline where nobody waits
_FEW_INPUTS = 8
_LONGEST_GAP = 2  # tokens between two parts of one passage

Input = tuple[list[int], list[int]]  # tokens, and which statement each belongs to


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a message that carry a fact."""

    start: int
    end: int
    kind: str
    probability: float


class OwnReader:
    """The judge of statements and the gate of conversations."""

    name = own_models.READER.name

    def __init__(self, folder: str | None = None, deadline: float = DEADLINE) -> None:
        self._folder = folder
        self._deadline = deadline

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        own_models.find(own_models.READER, self._folder)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """What each second statement is to its first.

        Raises: Unavailable, when the model can't be had or takes too long.
        """
        texts = [_named(known, draft) for known, draft in pairs]
        pieces = own_models.word_pieces()
        inputs = [_framed_pair(pieces.numbers_of(one), pieces.numbers_of(other)) for one, other in texts]
        whole = [place for place, given in enumerate(inputs) if len(given[0]) <= MOST_TOKENS]
        said = dict(zip(whole, self._run([inputs[place] for place in whole], "relation"), strict=True))
        return [_verdict(said.get(place), self.name) for place in range(len(pairs))]

    def helps(self, prompt: str, texts: Sequence[str]) -> list[float]:
        """How likely each text helps with a prompt.

        Raises: Unavailable, as `judge`.
        """
        pieces = own_models.word_pieces()
        asked = pieces.numbers_of(prompt)
        inputs = [_cut_pair(asked, pieces.numbers_of(text)) for text in texts]
        return [float(row[1]) for row in self._run(inputs, "helps")]

    def states(self, passage: str, facts: Sequence[str]) -> list[float]:
        """How likely a passage states each fact.

        Raises: Unavailable, as `judge`.
        """
        pieces = own_models.word_pieces()
        given = pieces.numbers_of(passage)
        inputs = [_cut_pair(given, pieces.numbers_of(fact)) for fact in facts]
        return [float(row[1]) for row in self._run(inputs, "states")]

    def facts(self, messages: Sequence[tuple[str, str]]) -> list[Passage]:
        """The words of the last message that carry facts, given as roles and texts; what is too long is cut.

        Raises: Unavailable, as `judge`.
        """
        import numpy as np

        pieces = own_models.word_pieces()
        *before, (role, text) = messages
        ids = [one for who, said in before for one in pieces.numbers_of(f"{who}: {said}")]
        head, first = len(role) + 2, len(ids)
        places: list[tuple[int, int]] = []  # where each token of the last message stands in it
        for found, start, end in pieces.placed(f"{role}: {text}"):
            ids.append(found)
            places.append((start - head, end - head))
        framed = pieces.framed(ids[: MOST_TOKENS - 2])
        row = np.array([framed], dtype=np.int64)
        given = {"ids": row, "mask": np.ones_like(row), "types": np.zeros_like(row)}
        heads = self._timed(self._session, ["marks", "kind"], given, UNHURRIED * self._deadline)
        marks, kinds = (said[0, 1 + first : -1] for said in heads)
        return list(_passages(places[: len(marks)], marks, kinds))

    @cached_property
    def _session(self) -> Any:
        return own_models.open_session(own_models.find(own_models.READER, self._folder), THREADS)

    def _run(self, inputs: Sequence[Input], head: str) -> "list[NDArray[np.float32]]":
        """What one head says about each input.

        One by one: in a batch the int8 network rounds by the other inputs too, and gains nothing.
        """
        import numpy as np

        found = []
        session = self._session  # loading it does not count
        ends = monotonic() + self._deadline * ceil(len(inputs) / _FEW_INPUTS)
        for tokens, kinds in inputs:
            ids, types = np.array([tokens], dtype=np.int64), np.array([kinds], dtype=np.int64)
            given = {"ids": ids, "mask": np.ones_like(ids), "types": types}
            found.append(self._timed(session, [head], given, ends - monotonic())[0][0])
        return found

    def _timed(self, session: Any, heads: list[str], given: dict[str, Any], within: float) -> Any:
        """One run of the network, ended when it takes longer than it may."""
        late = f"the {own_models.READER.what} {self.name} took longer than {self._deadline:g} s"
        if within <= 0:
            raise Unavailable(late)
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as raised

        options = onnxruntime.RunOptions()
        timer = Timer(within, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            return session.run(heads, given, options)
        except (raised.Fail, raised.RuntimeException) as trouble:
            failed = f"the {own_models.READER.what} {self.name} failed: {trouble}"
            raise Unavailable(late if options.terminate else failed) from trouble
        finally:
            timer.cancel()


def _named(known: Statement, draft: Statement) -> tuple[str, str]:
    """Both texts; with their subjects before them where those differ and a text does not name its own."""
    both = (known, draft)
    named = all(each.subject is None or names(each.text, each.subject) for each in both)
    if named or same_subject(known.subject, draft.subject):
        return known.text, draft.text
    one, other = (f"{each.subject}: {each.text}" if each.subject else each.text for each in both)
    return one, other


def _verdict(said: "NDArray[np.float32] | None", name: str) -> Verdict:
    if said is None:  # the same opening says nothing about the rest
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


def _cut_pair(first: list[int], second: list[int]) -> Input:
    """Two texts, of which the first is cut where both are too long."""
    second = second[: MOST_TOKENS // 2]
    return _framed_pair(first[: MOST_TOKENS - 3 - len(second)], second)


def _framed_pair(first: list[int], second: list[int]) -> Input:
    """Two texts as the network reads them."""
    pieces = own_models.word_pieces()
    tokens = [*pieces.framed(first), *pieces.framed(second)[1:]]
    return tokens, [0] * (len(first) + 2) + [1] * (len(second) + 1)


def _passages(
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
    for run in runs:
        sure = float(carries[run].mean())
        if sure >= FACT_FROM:
            yield Passage(
                start=places[run[0]][0],
                end=places[run[-1]][1],
                kind=KINDS[int(kinds[run].mean(axis=0).argmax())],
                probability=sure,
            )
