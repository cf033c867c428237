"""Reads one text: its words with their base forms, weights and negation, its quantities, its subject.

Looks at one text only and keeps what it found, since one draft is held against many known texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from holdfast.domain.compare.lexicon import Lexicon, Phrase, lexicon
from holdfast.domain.compare.quantities import Quantity, find_quantities
from holdfast.domain.compare.words import STOP, WORD, expand, fold, stem

_BREAKS = frozenset(",;:.!?()")
# Words that open a new clause; a negation does not reach across them.
_OPENERS = frozenset(
    ["because", "but", "so", "otherwise", "if", "when", "while", "unless", "until", "although", "though", "since", "before", "after", "once", "which"]
)
_DENIALS = frozenset(
    ["not", "no", "never", "nobody", "none", "nothing", "neither", "nor", "without", "hardly", "barely", "stop", "avoid", "refuse"]
)
# Said of nearly everything, so they tell little about what a text is about.
_LIGHT = frozenset(
    stem(word)
    for word in ["be", "have", "do", "make", "take", "give", "get", "go", "keep", "need", "use", "run", "work", "set", "put", "want", "like", "prefer", "say", "user", "people", "person", "thing", "way", "please", "now", "new", "still", "also", "only", "always", "never", "sometimes", "currently", "usually", "anymore", "longer", "again", "instead", "already", "must", "should", "need", "require", "happen", "become", "know", "let", "start", "called", "named", "current", "possible", "able", "back", "well", "good"]
)
_DETERMINERS = frozenset(
    ["the", "a", "an", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its", "their", "no", "every", "each", "all", "any", "some", "of", "for", "in", "on", "at", "with", "to", "from", "by"]
)
_ORDER = frozenset("before after until till once over than rather".split())
_AUXILIARIES = frozenset(["be", "have", "do", "will", "would", "shall", "should", "can", "could", "may", "might", "must"])


_DENYING_PHRASES = frozenset({("no", "longer"), ("can", "not", "stand"), ("get", "rid", "of"), ("stop",)})


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
    quantity: Quantity | None


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one text tells on its own."""

    text: str
    tokens: tuple[Token, ...]  # every one, function words included
    content: tuple[Token, ...]  # those that carry weight
    quantities: tuple[Token, ...]
    words: tuple[str, ...]  # base forms of single words in order
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
    negated = _negations(pieces)
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
            quantity=piece.quantity,
        )  # fmt: skip
        for place, piece in enumerate(pieces)
    )
    return Reading(
        text=text,
        tokens=tokens,
        content=tuple(token for token in tokens if token.weight > 0),
        quantities=tuple(token for token in tokens if token.quantity is not None),
        words=tuple(word for token in tokens for word in token.key),
        verb=verb,
    )


def _pieces(text: str) -> list[_Piece]:
    found = find_quantities(text.lower())
    if len(text.lower()) != len(text):  # letters that change length in lower case would shift every span
        text = text.lower()
    pieces: list[_Piece] = []
    clause, position = 0, 0
    for item in (*found, None):
        end = item.start if item else len(text)
        clause = _take_words(text, position, end, clause, pieces)
        if item:
            # A bare number may be part of a name or have one: port 22, 404.
            pieces.append(_Piece((item.quantity.text,), item.quantity.text, clause, False, item.quantity))
            position = item.end
    return pieces


def _take_words(text: str, start: int, end: int, clause: int, pieces: list[_Piece]) -> int:
    for match in WORD.finditer(text, start, end):
        raw = match[0]
        if raw in _BREAKS or not raw.strip(" -"):
            clause += 1
            continue
        low = raw.lower()
        if low in _OPENERS and pieces:
            clause += 1
        sentence_start = not pieces or text[: match.start()].rstrip().endswith((".", "!", "?", ":", ";"))
        for index, part in enumerate(expand(low)):
            pieces.append(_Piece((stem(part),), part, clause, index == 0 and _is_name(raw, sentence_start)))
    return clause


def _is_name(raw: str, sentence_start: bool) -> bool:
    letters = raw.split("'")[0]
    if any(mark in letters for mark in "./_@#") or any(letter.isdigit() for letter in letters):
        return True
    inner = letters[1:] != letters[1:].lower()
    return inner or (letters[:1].isupper() and not sentence_start and letters.lower() not in STOP)


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
    """The place of the first verb that is no noun by its neighbours; -1 if there is none."""
    for place, piece in enumerate(pieces):
        head = piece.key[0]
        if head in _AUXILIARIES or (head in words.verbs and piece.quantity is None and not piece.name):
            before = pieces[place - 1].surface if place else ""
            if before not in _DETERMINERS:
                return place
    return -1


def _negations(pieces: list[_Piece]) -> list[bool]:
    """For each piece whether an odd number of negations bears on it, its own not counted."""
    whole: dict[int, int] = {}
    for piece in pieces:
        whole[piece.clause] = whole.get(piece.clause, 0) + _denies(piece)
    flags: list[bool] = []
    clause, lacking = -1, 0
    for piece in pieces:
        if piece.clause != clause:
            clause, lacking = piece.clause, 0
        flags.append((whole[clause] - _denies(piece) + lacking) % 2 == 1)
        lacking += piece.key[0] in _LACKS and len(piece.key) == 1
    return flags


def _denies(piece: _Piece) -> bool:
    if len(piece.key) > 1:
        return piece.key[0] in _DENIALS or piece.key in _DENYING_PHRASES
    return piece.key[0] in _DENIALS or piece.key[0] in _REFUSALS


def _weight(piece: _Piece) -> float:
    if piece.quantity is not None:
        return 1.3
    head = piece.key[0]
    if len(piece.key) == 1 and (piece.surface in STOP or head in _AUXILIARIES or head in _DENIALS or head in _LACKS or head in _ORDER):
        return 0.0
    if piece.name:
        return 1.5
    return 0.4 if all(word in _LIGHT or word in STOP for word in piece.key) else 1.0
