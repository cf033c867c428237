"""Splits a text into plain words: folding of letters, tokens, base forms.

Knows letters and word endings only; what words mean stands in the lexicon.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from holdfast.domain.compare.resources import irregular_forms

# Long texts are compared by their opening: a verdict on a page of prose would be a guess anyway,
# and the time for one pair stays bounded.
MAX_CHARACTERS = 4_000

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-"})
# A path, a dotted name or a call is one word; a hyphen parts two.
WORD = re.compile(r"[^\W_]+(?:[._/@+#:]+[^\W_]+)+|[^\W_]+(?:'[^\W_]+)*(?:\+\+|#)?|[,;:.!?()]|\s-+\s")
_NEGATED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "ain't": "be"}
_SHORTENED = {"'re": "be", "'m": "be", "'ve": "have", "'ll": "will", "'d": "would"}
_VOWEL = re.compile(r"[aeiouy]")

STOP = frozenset(
    ["a", "an", "the", "this", "that", "these", "those", "it", "its", "he", "she", "they", "them", "him", "her", "his", "their", "we", "us", "our", "you", "your", "i", "me", "my", "mine", "of", "to", "in", "on", "at", "by", "for", "with", "from", "into", "onto", "as", "and", "or", "but", "so", "then", "than", "there", "here", "which", "who", "whom", "whose", "what", "where", "if", "whether", "be", "do", "have", "will", "would", "shall", "should", "could", "can", "may", "might", "must", "also", "too", "very", "quite", "just", "even", "please", "up", "out", "over", "under", "about", "off", "down", "s", "t", "it's", "that's", "one", "ones", "own", "such", "any", "some", "each", "every", "all", "both", "more", "most", "much", "many", "no", "not", "nor", "how", "why", "when", "while", "during", "per", "via", "within", "through", "across", "until", "till", "since", "because", "although", "though", "however", "yet", "still", "already", "ever", "else", "upon", "toward", "towards", "between", "among", "against", "along", "around", "above", "below", "once", "anything", "something", "everything", "nothing", "anyone", "someone", "everyone", "thing", "things", "way", "lot", "let", "get", "got", "go", "going", "come", "put"]
)


def fold(text: str) -> str:
    """The text in one spelling of quotes, dashes, widths and spaces, with case kept."""
    text = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def plain(text: str) -> str:
    """Letters and digits only, in lower case: equal for texts that differ in case and punctuation."""
    return " ".join(re.findall(r"[^\W_]+", fold(text).casefold()))


def expand(word: str) -> list[str]:
    """The words that a contraction stands for: don't is do + not, user's is user."""
    if word in _NEGATED:
        return [_NEGATED[word], "not"]
    if word.endswith("n't"):
        return [word[:-3], "not"]
    for ending, full in _SHORTENED.items():
        if word.endswith(ending):
            return [word.removesuffix(ending), full]
    if word.endswith("'s"):
        return [word[:-2]]
    return [word.strip("'")]


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
