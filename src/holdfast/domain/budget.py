"""Estimates how many tokens a text has, without a model. A caller may pass a real tokenizer instead."""

import re
from collections.abc import Callable

Estimate = Callable[[str], int]

#: The default size of the block for a prompt.
CONTEXT_TOKENS = 150
CONTEXT_LINES = 3
#: What a block of news in a session holds.
DELTA_BUDGET = 400

# Tokenizers work on UTF-8 bytes and have learned mostly Latin text, so that about four of its characters make
# a token. A letter of another alphabet in two bytes shares a token with at most one more; one in three bytes
# (CJK, Thai, Devanagari) costs about one; one in four bytes (emoji, rare ideographs) is rarely a single
# token. What each costs on top of a Latin character, in quarters of a token:
_DEARER = (("[\u0100-\u07ff]+", 1), ("[\u0800-\uffff]+", 3), ("[\U00010000-\U0010ffff]+", 7))


def estimate_tokens(text: str) -> int:
    """Estimates the tokens of `text`: characters / 4, rounded up, and more outside Latin-1. Monotonic."""
    quarters = len(text)
    if not text.isascii():
        for script, more in _DEARER:
            quarters += more * sum(map(len, re.findall(script, text)))
    return -(-quarters // 4)
