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
_ARTICLES: Final = frozenset({"the", "my", "our"})
_VERBAL: Final = ("s", "ed", "ing")  # behind a noun, rather what it does than what it is


def questions(sessions: Sequence[Sequence[str]], most: int = 5) -> list[str]:
    """Up to `most` questions, the most distinctive first, each about another session."""
    said = [[phrase for text in texts for phrase in _topics(text)] for texts in sessions]
    often = [Counter(base for phrase in phrases for base in _bases(phrase)) for phrases in said]
    spread = Counter(base for counts in often for base in counts)
    found: list[tuple[float, str]] = []
    for phrases, counts in zip(said, often, strict=True):
        scored = ((_score(phrase, counts, spread, len(said)), phrase) for phrase in phrases)
        if (best := max(scored, default=None)) is not None:
            found.append(best)
    found.sort(key=lambda each: (-each[0], each[1]))
    return [f"What did I say about {phrase}?" for phrase in dict.fromkeys(phrase for _, phrase in found)][
        :most
    ]


def _score(phrase: str, counts: Counter[str], spread: Counter[str], sessions: int) -> float:
    rare = ((base, math.log((sessions + 1) / spread[base]) + 0.1) for base in _bases(phrase))
    named = _NAMED if phrase[0].isupper() else 1.0
    return named * sum(weight * (1 + math.log(counts[base])) for base, weight in rare)


def _bases(phrase: str) -> list[str]:
    return [stem(folded(word)) for word in phrase.split() if _is_topic(word)]


def _topics(text: str) -> Iterator[str]:
    """What each statement could be about: a name in it, or a noun with its article.

    A text with a secret gives none. A question is no answer to ours, so it gives none either.
    """
    start = text.strip()[:_MOST_TEXT]
    if "```" in start or redact(start).text != start:
        return
    for sentence in _SENTENCE.findall("\n".join(_prose(start))):
        tokens = [] if sentence.endswith("?") else sentence.split()
        for before, at, behind in zip(tokens, tokens[1:], [*tokens[2:], ""], strict=False):
            word = at.strip(_AROUND)
            if not _is_topic(word):
                continue
            if word[0].isupper() and not word.isupper() and before[-1] not in _AROUND:
                yield word
            elif (article := folded(before)) in _ARTICLES:
                second = behind.strip(_AROUND)
                closed = at == word and _is_topic(second) and not second.endswith(_VERBAL)
                yield f"{article} {word} {second}" if closed else f"{article} {word}"


def _is_topic(word: str) -> bool:
    plain = folded(word)
    return _WORD.fullmatch(word) is not None and plain not in STOP_WORDS and plain not in _WORN


def _prose(text: str) -> Iterable[str]:
    """The lines that are sentences, not commands or logs."""
    for line in text.split("\n"):
        letters = sum(letter.isalpha() or letter.isspace() for letter in line)
        if letters >= 0.8 * len(line):
            yield line
