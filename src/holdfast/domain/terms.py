"""A text as terms for searching: stems of its telling words, and ideas that others would put otherwise.

"bill" and "invoice" share an idea; see `ideas`.
"""

from dataclasses import dataclass
from functools import lru_cache

from holdfast.domain.compare.words import stem
from holdfast.domain.ideas import ideas
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
_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a text, or a known phrase."""

    stems: tuple[str, ...]  # of its telling words; empty for a stop word
    ideas: frozenset[int]


@dataclass(frozen=True, slots=True)
class Held:
    """What a text can be found by."""

    stems: frozenset[str]
    ideas: frozenset[int]
    length: int  # in words


def stems(text: str) -> list[str]:
    """The words of `text` as both indexes know them, repetitions included."""
    return [stem(word) for word in words(text)]


def terms(text: str) -> list[Term]:
    """The terms of `text` in order. A known phrase takes its words with it: "go live" is not "live"."""
    plain = words(text)
    bases = [stem(word) for word in plain]
    known_ideas = ideas().of
    found: list[Term] = []
    start = 0
    while start < len(bases):
        end = _end_of_phrase(bases, start)
        telling = tuple(bases[at] for at in range(start, end) if plain[at] not in STOP_WORDS)
        known = bool(telling) or end - start > 1
        found.append(Term(telling, known_ideas.get(tuple(bases[start:end]), _NONE) if known else _NONE))
        start = end
    return found


def asked(question: str) -> list[Term]:
    """The terms of a question that can find something; all of its words when none else is left."""
    telling = [term for term in terms(question) if term.stems or term.ideas]
    return list(dict.fromkeys(telling)) or [Term((base,), _NONE) for base in dict.fromkeys(stems(question))]


@lru_cache(maxsize=20_000)
def held(text: str) -> Held:
    """What `text` holds; read once, since the same memories are candidates again and again."""
    found = terms(text)
    return Held(
        stems=frozenset(stems(text)),
        ideas=frozenset(idea for term in found for idea in term.ideas),
        length=len(words(text)),
    )


def _end_of_phrase(bases: list[str], start: int) -> int:
    for phrase in ideas().starts.get(bases[start], ()):
        end = start + len(phrase)
        if tuple(bases[start:end]) == phrase:
            return end
    return start + 1
