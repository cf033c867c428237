"""Our own reader: judges pairs of statements, and says what helps with a prompt; its finder reads messages.

Both are small int8 networks on onnxruntime, loaded when they are first asked.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.domain.subjects import names, same_subject
from holdfast.language.comparison import Statement, Verdict
from holdfast.language.judge import Pair, decided
from holdfast.models import own_models
from holdfast.models.finder import OwnFinder, Passage
from holdfast.models.network import DEADLINE, MOST_TOKENS, Network, cut_pair, framed_pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Fitted on the validation part of the training data; see training/README.md.
SAME_FROM = 0.64
CONTRADICTS_FROM = 0.70
NEAR_FROM = 0.30  # less of both: certainly distinct


class OwnReader:
    """The judge of statements and prompts, with the finder of facts."""

    name = own_models.READER.name

    def __init__(self, folder: str | None = None, deadline: float = DEADLINE) -> None:
        self._network = Network(own_models.READER, folder, deadline)
        self.finder = OwnFinder(deadline=deadline)

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        self._network.check_file()

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """What each second statement is to its first.

        Raises: Unavailable, when the model can't be had or takes too long.
        """
        texts = [_named(known, draft) for known, draft in pairs]
        pieces = own_models.word_pieces()
        inputs = [framed_pair(pieces.numbers_of(one), pieces.numbers_of(other)) for one, other in texts]
        whole = [place for place, given in enumerate(inputs) if len(given[0]) <= MOST_TOKENS]
        said = dict(
            zip(whole, self._network.pairs([inputs[place] for place in whole], "relation"), strict=True)
        )
        return [_verdict(said.get(place), self.name) for place in range(len(pairs))]

    def helps(self, prompt: str, texts: Sequence[str]) -> list[float]:
        """How likely each text helps with a prompt.

        Raises: Unavailable, as `judge`.
        """
        return self._second(prompt, texts, "helps")

    def states(self, passage: str, facts: Sequence[str]) -> list[float]:
        """How likely a passage states each fact.

        Raises: Unavailable, as `judge`.
        """
        return self._second(passage, facts, "states")

    def facts(self, messages: Sequence[tuple[str, str]]) -> list[Passage]:
        """As the finder's."""
        return self.finder.facts(messages)

    def replaced(self, memories: Sequence[str], said: str) -> list[float]:
        """As the finder's."""
        return self.finder.replaced(memories, said)

    def _second(self, first: str, seconds: Sequence[str], head: str) -> list[float]:
        pieces = own_models.word_pieces()
        given = pieces.numbers_of(first)
        inputs = [cut_pair(given, pieces.numbers_of(text)) for text in seconds]
        return [float(row[1]) for row in self._network.pairs(inputs, head)]


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
