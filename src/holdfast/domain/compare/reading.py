"""Reads one text: its words with their base forms, weights and negation, its quantities, its main verb.

Looks at one text only and keeps what it found, since one draft is held against many known texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from holdfast.domain.compare.lexicon import Lexicon, Phrase, lexicon
from holdfast.domain.compare.quantities import Quantity, find_quantities
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import WORD, expand, fold, stem, stemmed

_BREAKS = frozenset(",;:.!?()")
_DENYING_PHRASES = frozenset({("no", "longer"), ("can", "not", "stand")})
_PASSING_OVER = frozenset({("rather", "than"), ("instead", "of")})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a fixed phrase or a quantity in its place."""

    key: Phrase  # base forms
    surface: str  # as written, in lower case
    weight: float  # how much it says about what the text is about
    negated: bool
    clause: int
    place: int  # which token of the text it is
    name: bool  # a proper name, an identifier, a path
    topic: bool  # stands before the main verb: what is spoken of
    aside: bool  # stands behind a preposition: where, when or for whom, not what
    quantity: Quantity | None


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one text tells on its own."""

    tokens: tuple[Token, ...]  # every one, function words included
    content: tuple[Token, ...]  # those that carry weight
    verb: int  # place of the main verb, or -1


@dataclass(slots=True)
class _Piece:
    key: Phrase
    surface: str
    clause: int
    name: bool
    quantity: Quantity | None = None


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """The reading of a text; kept, because candidates come back with every draft."""
    words = lexicon()
    pieces = _join_phrases(_pieces(fold(text)), words)
    verb = _main_verb(pieces, words)
    if verb == 1:
        pieces[0].name = pieces[0].name or _names_subject(pieces[0], words, text)
    negated = _negations(pieces)
    aside = _asides(pieces)
    tokens = tuple(
        Token(
            key=piece.key,
            surface=piece.surface,
            weight=_weight(piece),
            negated=negated[place],
            clause=piece.clause,
            place=place,
            name=piece.name,
            topic=place < verb and piece.clause == pieces[verb].clause,
            aside=aside[place],
            quantity=piece.quantity,
        )
        for place, piece in enumerate(pieces)
    )
    return Reading(tokens=tokens, content=tuple(token for token in tokens if token.weight > 0), verb=verb)


def _pieces(text: str) -> list[_Piece]:
    if len(text.lower()) != len(text):  # letters that change length in lower case would shift every span
        text = text.lower()
    pieces: list[_Piece] = []
    clause, position = 0, 0
    for item in find_quantities(text.lower()):
        clause = _take_words(text, position, item.start, clause, pieces)
        # A bare number may be a name or a part of one: 404, port 22.
        pieces.append(_Piece((item.quantity.text,), item.quantity.text, clause, False, item.quantity))
        position = item.end
    _take_words(text, position, len(text), clause, pieces)
    return pieces


def _take_words(text: str, start: int, end: int, clause: int, pieces: list[_Piece]) -> int:
    openers = role("opener")
    fresh = not pieces  # the first word of a sentence is capital by rule, not by being a name
    for match in WORD.finditer(text, start, end):
        raw = match[0]
        if raw in _BREAKS or not raw.strip(" -"):
            clause += 1
            fresh = raw != ","
            continue
        low = raw.lower()
        if low in openers and pieces:
            clause += 1
        for index, part in enumerate(expand(low)):
            pieces.append(_Piece((stem(part),), part, clause, index == 0 and _is_name(raw, fresh)))
        fresh = False
    return clause


def _is_name(raw: str, fresh: bool) -> bool:
    letters = raw.split("'")[0]
    if any(mark in letters for mark in "./_@#") or any(letter.isdigit() for letter in letters):
        return True
    if letters[1:] != letters[1:].lower():
        return True
    if not letters[:1].isupper() or fresh:
        return False
    low = letters.lower()
    return low not in role("stop") or (low,) in lexicon().families  # Go is a language as well


def _names_subject(piece: _Piece, words: Lexicon, text: str) -> bool:
    """Whether a capital first word right before the verb is a name: no word that is known, and no plural."""
    known = piece.key in words.groups or piece.key in words.families or piece.key[0] in words.verbs
    return (
        text[:1].isupper()
        and not known
        and not piece.surface.endswith("s")
        and piece.surface not in role("stop")
    )


def _join_phrases(pieces: list[_Piece], words: Lexicon) -> list[_Piece]:
    joined: list[_Piece] = []
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        size = _phrase_length(pieces, index, words)
        if size > 1:
            part = pieces[index : index + size]
            key = tuple(one.key[0] for one in part)
            surface = " ".join(one.surface for one in part)
            joined.append(_Piece(key, surface, piece.clause, any(one.name for one in part)))
        else:
            joined.append(piece)
        index += size
    return joined


def _phrase_length(pieces: list[_Piece], index: int, words: Lexicon) -> int:
    for entry in words.starts.get(pieces[index].key[0], ()):
        window = pieces[index : index + len(entry)]
        if len(window) == len(entry) and all(
            piece.key[0] == word and piece.clause == window[0].clause
            for piece, word in zip(window, entry, strict=True)
        ):
            return len(entry)
    return 1


def _main_verb(pieces: list[_Piece], words: Lexicon) -> int:
    """The place of the first verb that is no noun by its form and neighbours; -1 if there is none."""
    for place, piece in enumerate(pieces):
        if piece.key[0] in role("auxiliary"):
            return place
        if piece.key[0] in words.verbs and piece.quantity is None and not piece.name:
            before = pieces[place - 1].surface if place else ""
            after = pieces[place + 1] if place + 1 < len(pieces) else None
            if before in role("determiner") or (after is not None and after.key[0] in role("auxiliary")):
                continue
            if not place or _finite(piece, before):
                return place
    return -1


def _finite(piece: _Piece, before: str) -> bool:
    """Whether a word has the form of a verb after its subject: works, worked, or (customers) work."""
    plural = before.endswith("s") or before in ("we", "they", "you", "i", "to", "always", "never", "please")
    return plural or (piece.surface != piece.key[0] and not piece.surface.endswith("ing"))


def _asides(pieces: list[_Piece]) -> list[bool]:
    """For each piece whether a preposition stands before it in its clause, with a word of weight before that."""
    flags: list[bool] = []
    clause, begun, behind = -1, False, False
    for piece in pieces:
        if piece.clause != clause:
            clause, begun, behind = piece.clause, False, False
        behind = behind or (begun and piece.surface in role("preposition"))
        begun = begun or _weight(piece) > 0
        flags.append(behind)
    return flags


def _negations(pieces: list[_Piece]) -> list[bool]:
    """For each piece whether an odd number of negations bears on it, its own not counted."""
    denials: dict[int, int] = {}
    bearing: dict[int, int] = {}  # the clause of a "without" or "unless", and the clause that it bears on
    for index, piece in enumerate(pieces):
        denials[piece.clause] = denials.get(piece.clause, 0) + _denies(pieces, index)
        if piece.surface in role("needing"):
            bearing[piece.clause] = _main_clause(pieces, index)
    needed = {clause: denials.get(main, 0) for side, main in bearing.items() for clause in (side, main)}
    flags: list[bool] = []
    clause, lacking = -1, 0
    for index, piece in enumerate(pieces):
        if piece.clause != clause:
            clause, lacking = piece.clause, 0
        count = denials[clause]
        # "Does not start without it" and "will not start unless it is there" both say that it is needed.
        need = clause in needed and needed[clause] == 1
        flags.append(not need and (count - _denies(pieces, index) + (lacking > 0)) % 2 == 1)
        lacking = _reach(pieces, index, lacking)
    return flags


def _main_clause(pieces: list[_Piece], index: int) -> int:
    """The clause that a "without" or "unless" bears on: the next one if it opens the text, else its own or the last."""
    if index == 0:
        return pieces[index].clause + 1
    return pieces[index].clause - (pieces[index].surface == "unless")


def _reach(pieces: list[_Piece], index: int, lacking: int) -> int:
    """How many more pieces a "without" bears on: its noun and up to two words that describe it.

    "Rather than X", "instead of X" and "prefers Y over X" deny X in the same way.
    """
    piece = pieces[index]
    before = pieces[index - 1].surface if index else ""
    passed_over = (before.split(" ")[-1], piece.surface) in _PASSING_OVER
    preferred = piece.surface == "over" and any(one.key[0] == "prefer" for one in pieces[:index])
    if passed_over or preferred or (len(piece.key) == 1 and piece.key[0] in role("lack")):
        return 3
    ends = piece.surface in role("preposition") or piece.surface in ("and", "or")
    return 0 if ends else max(lacking - 1, 0)


def _denies(pieces: list[_Piece], index: int) -> bool:
    piece = pieces[index]
    if len(piece.key) > 1:
        return piece.key in _DENYING_PHRASES
    head = piece.key[0]
    after = pieces[index + 1].surface if index + 1 < len(pieces) else ""
    if head == "stop":  # "stop running the tests" denies, "stop the service" does not
        return after.endswith("ing")
    if head == "fail":
        return after == "to"
    if head == "no" and index and pieces[index - 1].surface in role("preposition"):
        return False  # "fails with no route": only the noun behind it is denied
    return head in role("denial") or head in stemmed("refusal")


def _weight(piece: _Piece) -> float:
    if piece.quantity is not None:
        return 1.3
    if piece.name:
        return 1.5
    if all(_is_function_word(word, piece.surface) for word in piece.key):
        return 0.0
    light = stemmed("light")
    return 0.4 if all(word in light or word in role("stop") for word in piece.key) else 1.0


def _is_function_word(word: str, surface: str) -> bool:
    return (
        surface in role("stop") or word in role("auxiliary") or word in role("denial") or word in role("lack")
    )
