"""Splits a text into plain words: folding of letters, tokens, base forms.

Knows letters and word endings only; what words mean stands in the lexicon.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from holdfast.domain.compare.resources import irregular_forms, role

# Long texts are compared by their opening: a verdict on a page of prose would be a guess anyway,
# and the time for one pair stays bounded.
MAX_CHARACTERS = 2_000

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-"})
# A path, a dotted name or a call is one word; a hyphen parts two.
WORD = re.compile(
    r"(?<!\S)/?[^\W_]+(?:[._/@+#:]+[^\W_]+)+|(?<!\S)/[^\W_]+|[^\W_]+(?:[._/@+#:]+[^\W_]+)+|[^\W_]+(?:'[^\W_]+)*(?:\+\+|#)?|[,;:.!?()]|\s-+\s"
)
_NEGATED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "ain't": "be"}
_SHORTENED = {"'re": "be", "'m": "be", "'ve": "have", "'ll": "will", "'d": "would"}
_VOWEL = re.compile(r"[aeiouy]")


def fold(text: str) -> str:
    """The text in one spelling of quotes, dashes, widths and spaces, with case kept."""
    text = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def plain(text: str) -> str:
    """Letters, digits and signs in lower case: equal for texts that differ in case and punctuation only."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    # A dash between words is punctuation; before a digit it is a sign, for -5 is not 5.
    return " ".join(
        part for part in re.split(r"(?:[\s,;:!?()\"']|-(?!\d)|(?<=\w)-)+|\.(?=\s|$)", folded) if part
    )


def expand(word: str) -> list[str]:
    """The words that a contraction stands for: don't is do + not, user's is user."""
    if "'" not in word:
        return ["can", "not"] if word == "cannot" else [word]
    if word in _NEGATED:
        return [_NEGATED[word], "not"]
    if word.endswith("n't"):
        return [word[:-3], "not"]
    for ending, full in _SHORTENED.items():
        if word.endswith(ending):
            return [word.removesuffix(ending), full]
    return [word.removesuffix("'s").strip("'")]


@cache
def stemmed(name: str) -> frozenset[str]:
    """The base forms of the words that play one part."""
    return frozenset(stem(word) for word in role(name))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The base form of an English word, or the word itself."""
    forms = irregular_forms()
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
