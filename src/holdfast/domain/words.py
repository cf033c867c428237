"""Words as the full-text index knows them: folded, unaccented, and cut where a script has no spaces.

Both databases index exactly these, so both find the same.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

_WORD = re.compile(r"[^\W_]+")
_FOREIGN = re.compile("[^\x00-\x7f]")
# Scripts written without spaces: a pair of neighbours is the smallest piece that carries meaning.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
MOST_CHARACTERS = 64  # of one word; longer ones are cut, for nobody searches by them


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
