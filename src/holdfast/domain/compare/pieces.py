"""Takes a text apart: words, fixed phrases and quantities, in order, with the clause that each stands in.

Knows where one piece ends and the next begins; what a sentence says with them is read elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.compare.lexicon import Lexicon, Phrase, lexicon
from holdfast.domain.compare.quantities import Quantity, find_quantities
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import WORD, expand, fold, stem

# A text of more pieces is compared by its opening: the time for one pair stays bounded.
MAX_PIECES = 250
_BREAKS = frozenset(",;:.!?()")
#: With "than" behind them these are another "before" and "after", and open a clause as those do.
COMPARED_TIMES = frozenset({"earlier", "sooner", "later"})


@dataclass(slots=True)
class Piece:
    """A word, a fixed phrase or a quantity."""

    key: Phrase  # base forms
    surface: str  # as written, in lower case
    clause: int
    sentence: int  # counts the marks before it; a fixed phrase may run across "after", not across a comma
    name: bool  # a proper name, an identifier, a path
    quantity: Quantity | None = None


def take_apart(text: str) -> list[Piece]:
    """The pieces of a text."""
    return _join_phrases(_pieces(fold(text)), lexicon())[:MAX_PIECES]


def _pieces(text: str) -> list[Piece]:
    if len(text.lower()) != len(text):  # letters that change length in lower case would shift every span
        text = text.lower()
    pieces: list[Piece] = []
    clause, sentence, position = 0, 0, 0
    for item in find_quantities(text.lower()):
        clause, sentence = _take_words(text[position : item.start], clause, sentence, pieces)
        # A bare number may be a name or a part of one: 404, port 22.
        written = item.quantity.text
        pieces.append(Piece((written,), written, clause, sentence, name=False, quantity=item.quantity))
        position = item.end
    _take_words(text[position:], clause, sentence, pieces)
    return pieces


def _take_words(text: str, clause: int, sentence: int, pieces: list[Piece]) -> tuple[int, int]:
    """Adds the words of a stretch of text; gives back the clause and the sentence in which it ends."""
    openers = role("opener")
    fresh = not pieces  # the first word of a sentence is capital by rule, not by being a name
    for match in WORD.finditer(text):
        raw = match[0]
        if raw in _BREAKS or not raw.strip(" -"):
            clause, sentence = clause + 1, sentence + 1
            fresh = raw != ","
            continue
        low = raw.lower()
        earlier = low in COMPARED_TIMES and text.startswith(" than", match.end())
        if pieces and (earlier or low in openers):
            clause += 1
        for index, part in enumerate(expand(low)):
            name = index == 0 and _is_name(raw, fresh)
            pieces.append(Piece((stem(part),), part, clause, sentence, name))
        fresh = False
    return clause, sentence


def _is_name(raw: str, fresh: bool) -> bool:
    letters = raw.split("'")[0]
    if any(mark in letters for mark in "./_@#") or any(letter.isdigit() for letter in letters):
        return True
    if letters[1:] != letters[1:].lower():
        return True
    low = letters.lower()
    if fresh and letters[:1].isupper() and raw.endswith("'s"):
        return _unknown(low)  # Milo's birthday, but not the user's
    if not letters[:1].isupper() or fresh:
        return False
    if len(letters) == 1 and low != "i":  # site A
        return True
    return low not in role("stop") or (low,) in lexicon().families  # Go is a language as well


def _unknown(word: str) -> bool:
    """Whether a word is in none of the lists, as names are."""
    words, key = lexicon(), (stem(word),)
    listed = key in words.groups or key in words.families or key in words.kinds or key[0] in words.verbs
    return not listed and word not in role("stop") and word not in role("light")


def _join_phrases(pieces: list[Piece], words: Lexicon) -> list[Piece]:
    joined: list[Piece] = []
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        size = _phrase_length(pieces, index, words)
        if size > 1:
            part = pieces[index : index + size]
            key = tuple(one.key[0] for one in part)
            surface = " ".join(one.surface for one in part)
            joined.append(Piece(key, surface, piece.clause, piece.sentence, any(one.name for one in part)))
        else:
            joined.append(piece)
        index += size
    return joined


def _phrase_length(pieces: list[Piece], index: int, words: Lexicon) -> int:
    for entry in words.starts.get(pieces[index].key[0], ()):
        window = pieces[index : index + len(entry)]
        if len(window) == len(entry) and all(
            piece.key[0] == word and piece.sentence == window[0].sentence
            for piece, word in zip(window, entry, strict=True)
        ):
            return len(entry)
    return 1
