"""Cuts a long text into overlapping parts that a model takes whole, between words where that is possible."""

import re
from collections.abc import Iterator

from holdfast.domain.budget import estimate_tokens

_WORDS = re.compile(r"(?<!\s)\s*+\S++")
_OVERLAP = 5  # the fifth part of a part is said again at the beginning of the next one


def parts_of(text: str, most: int) -> list[str]:
    """`text` in parts of at most `most` tokens, as far as that can be estimated; a short one stays whole."""
    text = text.encode("utf-8", "replace").decode("utf-8").strip()  # half a character is none
    if estimate_tokens(text) <= most:
        return [text]
    found: list[str] = []
    current: list[str] = []
    size = 0
    for word in _pieces(text, most):
        cost = _cost(word)
        if current and size + cost > most:
            found.append("".join(current).strip())
            current = _tail(current, most // _OVERLAP)
            size = sum(map(_cost, current))
            if size + cost > most:
                current, size = [], 0
        current.append(word)
        size += cost
    return [*found, "".join(current).strip()]


def _pieces(text: str, most: int) -> Iterator[str]:
    """Words with the space before them; what is no word of a language but longer than a part is cut."""
    for match in _WORDS.finditer(text):
        word = match[0]
        # Where a word has to be cut: a character is two tokens at worst.
        longest = len(word) if _cost(word) <= most else max(1, most // 2)
        for start in range(0, len(word), longest):
            yield word[start : start + longest]


def _cost(word: str) -> int:
    # Long words of code, names and numbers are seldom known whole: three characters to a token.
    return max(estimate_tokens(word), -(-len(word.strip()) // 3))


def _tail(words: list[str], most: int) -> list[str]:
    kept: list[str] = []
    size = 0
    for word in reversed(words):
        size += _cost(word)
        if size > most:
            break
        kept.append(word)
    return kept[::-1]
