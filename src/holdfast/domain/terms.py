"""A text as terms for searching: the stems of its words, without those that tell nothing."""

from dataclasses import dataclass

from holdfast.domain.sized_cache import weighed_cache
from holdfast.domain.stemming import stem
from holdfast.domain.words import words

#: Words that stand in most questions and tell nothing about what is asked.
STOP_WORDS = frozenset(
    (
        "a about am an and any are as at be been but by can could d did didn do does doesn don for from had "
        "has have he her hers him his how i if in into is isn it its ll m me my no not of on or our re s she "
        "should so t than that the their them then there these they this those to us ve was we were what "
        "when where which who whom whose why will with would you your"
    ).split()
)
_KEPT_WORDS = 120_000  # of texts read before; each takes about 100 bytes
_EACH = 8  # words' worth of memory that a text takes by itself


@dataclass(frozen=True, slots=True)
class TextTerms:
    """What a text can be found by."""

    stems: frozenset[str]
    length: int  # in words


def stems(text: str) -> list[str]:
    """The words of `text` as both indexes know them, repetitions included."""
    return list(map(stem, words(text)))


def telling(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def asked(question: str) -> list[str]:
    """The terms of a question that can find something; all of its words when none else is left."""
    found = [stem(word) for word in words(question) if word not in STOP_WORDS]
    return list(dict.fromkeys(found or stems(question)))


def shared(one: str, other: str) -> float:
    """How much of two texts is the same words, from 0 to 1."""
    left, right = telling(one), telling(other)
    return 2 * len(left & right) / max(len(left) + len(right), 1)


def _weight(held: TextTerms) -> int:
    return held.length + _EACH


@weighed_cache(most=_KEPT_WORDS, weight=_weight)
def held(text: str) -> TextTerms:
    """What `text` holds; read once, since the same texts are candidates again and again."""
    found = stems(text)
    return TextTerms(frozenset(found), len(found))
