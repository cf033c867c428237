"""The search terms of a text: the stems of its words, without stop words.

Words are folded, unaccented, and split where a script has no spaces. Both databases index exactly these
terms, so both find the same.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


def sized_cache(
    most: int, weight: Callable[[Answer], int]
) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Keeps a function's answers as long as they weigh at most `most` together.

    By weight, for a thousand long texts take more memory than a thousand notes. Two halves instead of an
    order of use: what was asked for since the last full half moves on with the new one, the rest is let go of
    at once. Asking costs one look into a dictionary, which counts where every search asks hundreds of times.
    """

    def around(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
        halves = _Halves(most // 2, weight)

        @wraps(function)
        def asked(text: str) -> Answer:
            found = halves.new.get(text)
            if found is None:
                found = halves.old.get(text)
                if found is None:
                    found = function(text)
                halves.keep(text, found)
            return found

        return asked

    return around


class _Halves(Generic[Answer]):
    def __init__(self, most: int, weight: Callable[[Answer], int]) -> None:
        self.new: dict[str, Answer] = {}
        self.old: dict[str, Answer] = {}
        self._most = most
        self._weight = weight
        self._weighs = 0
        self._lock = Lock()

    def keep(self, text: str, answer: Answer) -> None:
        weight = self._weight(answer)
        if weight > self._most:
            return
        with self._lock:
            if self._weighs + weight > self._most:
                self.old, self.new, self._weighs = self.new, {}, 0
            if text not in self.new:
                self.new[text] = answer
                self._weighs += weight


_IRREGULAR = Path(__file__).parent / "data" / "irregular.txt"
_SMALL_TALK = _IRREGULAR.with_name("small_talk.txt")
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The base form of an English word, or the word itself."""
    forms = _irregular_forms()
    if word in forms:
        return forms[word]
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _singular(word)
    if word in forms:
        return forms[word]
    base = _trim(word)
    if base in forms:
        return forms[base]
    # Cancelled and canceled are one word, and so are install and instal.
    return base[:-1] if base.endswith("ll") and len(base) > 5 else base


@cache
def _irregular_forms() -> dict[str, str]:
    """Base form by inflected form."""
    forms: dict[str, str] = {}
    for line in _IRREGULAR.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            base, *inflected = line.split()
            forms |= dict.fromkeys((base, *inflected), base)
            if base.endswith("e") and len(base) > 3:  # taking has lost its e when it gets here
                forms.setdefault(base[:-1], base)
    return forms


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _trim(word: str) -> str:
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and _VOWEL.search(word[: -len(ending)]):
            return _restore(word[: -len(ending)])
    # Silent e goes everywhere, so that store, storing and stores meet in one form.
    return word[:-1] if word.endswith("e") else word


def _restore(base: str) -> str:
    if base.endswith("i"):
        return base[:-1] + "y"
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    return base


_WORD = re.compile(r"[^\W_]+")
_FOREIGN = re.compile("[^\x00-\x7f]")
# Scripts written without spaces: a pair of neighbours is the smallest piece that carries meaning.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
MOST_CHARACTERS = 64  # of one word; longer ones are truncated


def words(text: str) -> list[str]:
    """The words of `text` in order, repetitions included."""
    plain = folded(text)
    found = _words(plain) if _UNSPACED.search(plain) else _WORD.findall(plain)
    return [word[:MOST_CHARACTERS] for word in found]


def folded(text: str) -> str:
    """`text` without case, accents and width."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text).casefold()
    return _FOREIGN.sub(lambda letter: "" if unicodedata.combining(letter[0]) else letter[0], spread)


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        rest = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > rest:
                yield word[rest : run.start()]
            yield from _pairs(run.group())
            rest = run.end()
        if rest < len(word):
            yield word[rest:]


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for left, right in pairwise(run):
        yield left + right


#: Stop words of queries.
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
    """The terms of a text."""

    stems: frozenset[str]
    length: int  # in words


def stems(text: str) -> list[str]:
    """The stems of `text` as both indexes have them, with repetitions."""
    return list(map(stem, words(text)))


def _size(terms: frozenset[str]) -> int:
    return len(terms) + _EACH


@sized_cache(most=_KEPT_WORDS, weight=_size)
def telling(text: str) -> frozenset[str]:
    """The stems of the content words."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def says_something(text: str) -> bool:
    """Whether a message has a content word; thanks, "go on" and "1" have none."""
    bare = (word for word in words(text) if word not in STOP_WORDS and word not in _small_talk())
    return any(len(word) > 1 and not word.isdecimal() for word in bare)


@cache
def _small_talk() -> frozenset[str]:
    lines = _SMALL_TALK.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def asked(question: str) -> list[str]:
    """The terms of a question that can find something; all of its words when none else is left."""
    found = [stem(word) for word in words(question) if word not in STOP_WORDS]
    return list(dict.fromkeys(found or stems(question)))


def shared(one: str, other: str) -> float:
    """The share of equal words in two texts, from 0 to 1."""
    left, right = telling(one), telling(other)
    return 2 * len(left & right) / max(len(left) + len(right), 1)


def shared_before(texts: Iterable[str]) -> Iterator[dict[int, float]]:
    """For each text, the same for those of the earlier ones that have a word in common with it."""
    sizes: list[int] = []
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        own = telling(text)
        common: Counter[int] = Counter()
        for word in own:
            common.update(holding[word])
            holding[word].append(place)
        yield {other: 2 * count / (len(own) + sizes[other]) for other, count in common.items()}
        sizes.append(len(own))


def _weight(held: TextTerms) -> int:
    return held.length + _EACH


@sized_cache(most=_KEPT_WORDS, weight=_weight)
def held(text: str) -> TextTerms:
    """The terms of `text`; cached, since the same texts are candidates again and again."""
    found = stems(text)
    return TextTerms(frozenset(found), len(found))
