"""Suggests questions that a person's own sessions can answer.

Pure. A word is distinctive if it was said often in one session and in few others.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from holdfast.domain.secrets import redact
from holdfast.domain.terms import STOP_WORDS, folded, stem

_MOST_TEXT: Final = 400  # characters of a message that are read: people say first what it is about
_WORD = re.compile(r"[^\W\d_]{3,24}(?:['’-][^\W\d_]+)?")
_SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?!\s)[^.!?]*)*[.!?]*")
_AROUND: Final = ".,;:!?()[]{}\"'`*“”„«»"
#: Words of every conversation with an agent, which are not distinctive.
_WORN: Final = frozenset(
    "please thanks thank hello yes okay sure just now here make need want like use using try let get got "
    "know way thing something good great also more some all new file code run test fix add change check "
    "look see first next again still only very much many well done work works working".split()
)
_NAMED: Final = 1.5  # how much more a name counts, inside of a sentence


def questions(sessions: Sequence[Sequence[str]], most: int = 5) -> list[str]:
    """Up to `most` questions, the most distinctive first, each about another session."""
    said = [[words for text in texts for words in _statements(text)] for texts in sessions]
    often = [Counter(stem(folded(word)) for words in texts for word in words) for texts in said]
    spread = Counter(base for counts in often for base in counts)
    found: list[tuple[float, str]] = []
    for texts, counts in zip(said, often, strict=True):
        best = max((_asked(words, counts, spread, len(said)) for words in texts if words), default=None)
        if best is not None:
            found.append(best)
    found.sort(key=lambda each: (-each[0], each[1]))
    return [f"What did I say about {phrase}?" for phrase in dict.fromkeys(phrase for _, phrase in found)][
        :most
    ]


def _asked(
    words: Sequence[str], counts: Counter[str], spread: Counter[str], sessions: int
) -> tuple[float, str]:
    """The score of a message's two most distinctive words, and the words."""
    weights: dict[str, float] = {}
    for word in words:
        base = stem(folded(word))
        rare = math.log((sessions + 1) / spread[base]) + 0.1
        named = _NAMED if word[0].isupper() and not word.isupper() else 1.0
        weights.setdefault(word, rare * named * (1 + math.log(counts[base])))
    chosen = sorted(weights, key=lambda word: -weights[word])[:2]
    in_order = [word for word in weights if word in chosen]
    return sum(weights[word] for word in chosen), " and ".join(in_order)


def _statements(text: str) -> Iterator[list[str]]:
    """The words that could say what each sentence is about; none of a text with a secret.

    A question is no answer to ours, so it gives none either.
    """
    start = text.strip()[:_MOST_TEXT]
    if "```" in start or redact(start).text != start:
        return
    for sentence in _SENTENCE.findall("\n".join(_prose(start))):
        tokens = [] if sentence.endswith("?") else sentence.split()
        words = [word for token in tokens if (word := token.strip(_AROUND))]
        yield [word for word in words if _is_topic(word)]


def _is_topic(word: str) -> bool:
    plain = folded(word)
    return _WORD.fullmatch(word) is not None and plain not in STOP_WORDS and plain not in _WORN


def _prose(text: str) -> Iterable[str]:
    """The lines that are sentences, not commands or logs."""
    for line in text.split("\n"):
        letters = sum(letter.isalpha() or letter.isspace() for letter in line)
        if letters >= 0.8 * len(line):
            yield line
