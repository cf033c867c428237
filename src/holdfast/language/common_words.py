"""Knows ordinary words from names where a capital letter does not tell: at the beginning of a sentence.

"Lovely work" and "Mine is broken" name nobody. Some ordinary words are first names too and stay names.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from holdfast.domain.terms import STOP_WORDS, stem

_FIRST_WORD = re.compile(r"[\"'“‘(*\s]*([^\W\d_][\w'-]*)")


@cache
def is_ordinary(word: str) -> bool:
    """Whether a word is known as an ordinary one, whatever its letters' case."""
    plain = word.lower().replace("’", "'")
    if plain in _listed("names"):
        return False
    return plain in _listed("openers") or stem(plain) in _ordinary()


def without_opening_capital(text: str) -> str:
    """`text` without the capital letter that it has only because it begins a sentence; as long as before."""
    first = _FIRST_WORD.match(text)
    if first is None or not first[1][:1].isupper() or first[1][1:] != first[1][1:].lower():
        return text
    if first[1].lower() in _listed("first_names") or not is_ordinary(first[1]):
        return text
    place = first.start(1)
    return text[:place] + text[place].lower() + text[place + 1 :]


@cache
def _ordinary() -> frozenset[str]:
    """Base forms of ordinary words."""
    return _base_forms("words") | frozenset(map(stem, STOP_WORDS)) | verbs()


def verbs() -> frozenset[str]:
    """Base forms of common verbs."""
    return _base_forms("verbs")


def _listed(name: str) -> frozenset[str]:
    return _words("ordinary.toml", name)


def _base_forms(name: str) -> frozenset[str]:
    return _words("base_forms.toml", name)


@cache
def _words(file: str, name: str) -> frozenset[str]:
    source = files("holdfast.language").joinpath("data", file)
    return frozenset(str(tomllib.loads(source.read_text(encoding="utf-8"))[name]).split())
