"""How alike two texts are to an embedder, word by word.

One cosine of two whole texts can't tell a repetition from a contradiction. Which word has no counterpart on
the other side, and whether the words that both have are used alike, tells more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Likeness:
    """All figures are cosines; 1 is the same. Telling words are those that are no function words."""

    whole: float  # of the texts as a whole
    covered: float  # of each telling word and its best counterpart, on average, in the text that has less
    least: float  # of the telling word that has the worst counterpart of all
    weakest: float  # of the two worst of one text, in the text that fares better
    rests: float  # of what only the one and only the other says
    shared: float  # of the words that both have: whether they are used alike


#: Gives the likeness of two texts; none where it can't be had.
Meaning = Callable[[str, str], Likeness | None]
