"""The base form of an English word, by its ending and a list of irregular forms."""

import re
from functools import cache, lru_cache
from pathlib import Path

_IRREGULAR = Path(__file__).parent / "data" / "irregular.txt"
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
