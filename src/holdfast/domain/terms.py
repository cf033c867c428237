"""A text as terms for searching: stems of its telling words, and ideas that others would put otherwise.

"bill" and "invoice" share an idea; see `ideas`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from holdfast.domain.compare.words import stem
from holdfast.domain.ideas import ideas
from holdfast.domain.weighed_cache import weighed_cache
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
_MOST_KINDRED = 32  # words that are kept for one idea
_KEPT_WORDS = 120_000  # of texts read before; each takes about 200 bytes with its ideas
_EACH = 8  # words' worth of memory that a text takes by itself


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
    return list(map(stem, words(text)))


def terms(text: str) -> list[Term]:
    """The terms of `text` in order. A known phrase takes its words with it: "go live" is not "live"."""
    plain = words(text)
    bases = list(map(stem, plain))
    known_ideas = ideas().of
    found: list[Term] = []
    for start, end in _phrases(bases):
        telling = tuple(bases[at] for at in range(start, end) if plain[at] not in STOP_WORDS)
        known = bool(telling) or end - start > 1
        found.append(Term(telling, known_ideas.get(tuple(bases[start:end]), _NONE) if known else _NONE))
    return found


def asked(question: str) -> list[Term]:
    """The terms of a question that can find something; all of its words when none else is left."""
    telling = [term for term in terms(question) if term.stems or term.ideas]
    return list(dict.fromkeys(telling)) or [Term((base,), _NONE) for base in dict.fromkeys(stems(question))]


def kindred(terms: Sequence[Term], for_each: int) -> list[str]:
    """Stems that express the terms' ideas in other words, for each term the closest."""
    own = {base for term in terms for base in term.stems}
    found: dict[str, None] = {}
    for term in terms:
        others = [word for word in _closest(term.ideas) if word not in own]
        found |= dict.fromkeys(others[:for_each])
    return list(found)


@lru_cache(maxsize=4_096)
def _closest(wanted: frozenset[int]) -> tuple[str, ...]:
    """The more and the smaller the groups that two words share, the closer they are."""
    closeness: defaultdict[str, float] = defaultdict(float)
    groups = _groups()
    for idea in wanted:
        for word in groups[idea]:
            closeness[word] += 1 / len(groups[idea])
    return tuple(sorted(closeness, key=lambda word: (-closeness[word], word))[:_MOST_KINDRED])


@cache
def _groups() -> dict[int, list[str]]:
    """The single words of each idea."""
    found: dict[int, list[str]] = {}
    for entry, numbers in ideas().of.items():
        for number in numbers:
            words_of_it = found.setdefault(number, [])
            if len(entry) == 1:
                words_of_it.append(entry[0])
    return found


def _weight(held: Held) -> int:
    return held.length + _EACH


@weighed_cache(most=_KEPT_WORDS, weight=_weight)
def held(text: str) -> Held:
    """What `text` holds; read once, since the same texts are candidates again and again."""
    plain = words(text)
    bases = list(map(stem, plain))
    of = ideas().of
    found: set[int] = set()
    for start, end in _phrases(bases):
        if end - start > 1 or plain[start] not in STOP_WORDS:
            found.update(of.get(tuple(bases[start:end]), _NONE))
    return Held(frozenset(bases), frozenset(found), len(plain))


def _phrases(bases: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From where to where each word or known phrase stands."""
    starts = _starts()
    start, last = 0, len(bases) - 1
    while start <= last:
        end = start + 1
        if start < last:
            for phrase in starts.get((bases[start], bases[end]), ()):
                if tuple(bases[start : start + len(phrase)]) == phrase:
                    end = start + len(phrase)
                    break
        yield start, end
        start = end


@cache
def _starts() -> dict[tuple[str, str], list[tuple[str, ...]]]:
    """Known phrases by their first two words, longest first."""
    found: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for phrases in ideas().starts.values():
        for phrase in phrases:
            found.setdefault((phrase[0], phrase[1]), []).append(phrase)
    return found
