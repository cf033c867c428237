"""Reads one text: weights, negation, what is spoken of and what is said of it, for each of its words.

Looks at one text only and keeps what it found, since one draft is held against many known texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast.domain.compare.lexicon import Lexicon, Phrase, handles, lexicon
from holdfast.domain.compare.negation import negations
from holdfast.domain.compare.pieces import MAX_PIECES, Piece, take_apart
from holdfast.domain.compare.quantities import Quantity
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import MAX_CHARACTERS, stemmed

_PREDICATE = 1.0  # of a small word that is all that is said: the lamp is on


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
    required: bool  # a "without" or "unless" that a denial turns into a need
    label: bool  # a bare number behind what it names, before the verb: node 3 has
    handles: frozenset[str]  # words that share none of these have nothing to do with each other
    contrast: bool = False  # named only to be set aside: on 1884, not on the default port


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """All that one text tells on its own.

    Equal only to itself, so that what is found in it later can be kept by it without comparing words.
    """

    tokens: tuple[Token, ...]  # every one, function words included
    content: tuple[Token, ...]  # those that carry weight
    verb: int  # place of the main verb, or -1
    whole: bool  # False: the text was too long to be read to its end


@lru_cache(maxsize=1_024)
def read(text: str) -> Reading:
    """The reading of a text; kept, because candidates come back with every draft."""
    words = lexicon()
    pieces = take_apart(text)
    verb = _main_verb(pieces, words)
    if verb == 1:
        pieces[0].name = pieces[0].name or _names_subject(pieces, words, text)
    negated, required = negations(pieces)
    aside = _asides(pieces, verb)
    predicates = _particles(pieces)
    set_aside = _set_aside(pieces, words)
    tokens = tuple(
        Token(
            key=piece.key,
            surface=piece.surface,
            weight=_PREDICATE if place in predicates else _weight(piece),
            negated=negated[place],
            clause=piece.clause,
            place=place,
            name=piece.name,
            topic=place < verb and piece.clause == pieces[verb].clause,
            aside=aside[place],
            quantity=piece.quantity,
            required=place in required,
            label=place < verb and _is_label(pieces, place),
            handles=handles(piece.key, piece.quantity.kind if piece.quantity else ""),
            contrast=place in set_aside,
        )
        for place, piece in enumerate(pieces)
    )
    content = tuple(token for token in tokens if token.weight > 0)
    whole = len(text) <= MAX_CHARACTERS and len(pieces) < MAX_PIECES
    return Reading(tokens=tokens, content=content, verb=verb, whole=whole)


def _names_subject(pieces: list[Piece], words: Lexicon, text: str) -> bool:
    """Whether a capital first word right before the verb is a name: no word that is known, and no plural."""
    first, verb = pieces[:2]
    known = first.key in words.groups or first.key in words.families or first.key[0] in words.verbs
    plural = first.surface.endswith("s") and not verb.surface.endswith("s")  # workers need, but James needs
    return text[:1].isupper() and not known and not plural and first.surface not in role("stop")


def _main_verb(pieces: list[Piece], words: Lexicon) -> int:
    """The place of the first verb that is no noun by its form and neighbours; -1 if there is none."""
    for place, piece in enumerate(pieces):
        if piece.key[0] in role("auxiliary"):
            return place
        if piece.key[0] in words.verbs and piece.quantity is None and not piece.name:
            before = pieces[place - 1].surface if place else ""
            if before in role("determiner") or _is_noun(pieces, place, words):
                continue
            if (not place and not _opens_compound(pieces, words)) or (place and _finite(piece, before)):
                return place
    return -1


def _is_noun(pieces: list[Piece], place: int, words: Lexicon) -> bool:
    """Whether what follows is the verb: the launch is, reset links expire."""
    if place + 1 == len(pieces) or pieces[place + 1].clause != pieces[place].clause:
        return False
    after = pieces[place + 1]
    bare = pieces[place].surface in (pieces[place].key[0], pieces[place].key[0] + "e")
    if bare and place and place + 2 < len(pieces) and after.surface not in role("stop"):
        third = pieces[place + 2]  # the press briefing is
        if third.key[0] in role("auxiliary") and third.clause == after.clause and after.quantity is None:
            return True
    plain = after.key[0] in words.verbs and not after.surface.endswith(("s", "ed", "ing"))
    return after.key[0] in role("auxiliary") or (plain and pieces[place].surface.endswith("s"))


def _opens_compound(pieces: list[Piece], words: Lexicon) -> bool:
    """Whether the first word describes the second and the third is the verb: release builds log."""
    if len(pieces) < 3 or pieces[2].clause != pieces[0].clause or pieces[1].surface in role("stop"):
        return False
    second, third = pieces[1], pieces[2]
    if pieces[0].surface != pieces[0].surface.removesuffix("s") or second.quantity is not None or second.name:
        return False
    if third.key[0] not in words.verbs:
        return third.key[0] in role("auxiliary")
    plain = third.surface in (third.key[0], third.key[0] + "e")
    object_follows = len(pieces) > 3 and pieces[3].surface in ("the", "a", "an", "its", "their", "his", "her")
    return second.surface.endswith("s") if plain else object_follows  # host oak sends its logs


def _finite(piece: Piece, before: str) -> bool:
    """Whether a word has the form of a verb after its subject: works, worked, or (customers) work."""
    plural = before.endswith("s") or before in ("we", "they", "you", "i", "to", "always", "never", "please")
    # The base form has lost its silent e: "name" is no more inflected than "work".
    bare = piece.surface in (piece.key[0], piece.key[0] + "e")
    return plural or (not bare and not piece.surface.endswith("ing"))


def _asides(pieces: list[Piece], verb: int) -> list[bool]:
    """For each piece whether it stands behind a preposition that does not itself open the clause.

    The main verb ends what stands before it: the bid from Falk was accepted.
    """
    flags: list[bool] = []
    clause, begun, behind = -1, False, False
    for place, piece in enumerate(pieces):
        if piece.clause != clause:
            clause, begun, behind = piece.clause, False, False
        behind = (behind and place != verb) or (begun and piece.surface in role("preposition"))
        begun = begun or _weight(piece) > 0
        flags.append(behind)
    return flags


def _set_aside(pieces: list[Piece], words: Lexicon) -> set[int]:
    """The places of what is named only to say what it is not: "instead of it", or a "not" without a verb."""
    found: set[int] = set()
    for index, piece in enumerate(pieces[1:], start=1):
        before = pieces[index - 1]
        passed_over = (before.surface, piece.surface) in (("instead", "of"), ("rather", "than"))
        if passed_over or (piece.surface == "not" and before.clause != piece.clause):
            rest = list(_until_joined(pieces, index + 1))
            heads = [pieces[place].key[0] for place in rest]
            verb = any(head in role("auxiliary") or head in words.verbs for head in heads)
            found.update(rest if passed_over or not verb else ())
    return found


def _until_joined(pieces: list[Piece], start: int) -> Iterator[int]:
    """The places from one on to the end of its clause, or to an "and"."""
    for place in range(start, len(pieces)):
        if pieces[place].clause != pieces[start].clause or pieces[place].surface in ("and", "or"):
            return
        yield place


def _is_label(pieces: list[Piece], place: int) -> bool:
    """Whether a bare number names what stands before it (node 3) and counts nothing (3 nodes)."""
    quantity = pieces[place].quantity
    if quantity is None or quantity.kind not in ("count", "ordinal") or not place:
        return False
    counted = place + 1 < len(pieces) and _weight(pieces[place + 1]) > 0
    names = not counted or pieces[place + 1].key[0] in lexicon().verbs
    return names and _weight(pieces[place - 1]) > 0


def _particles(pieces: list[Piece]) -> set[int]:
    """The places of "on", "off" and the like where they end a clause after "be": the lamp is on."""
    return {
        place
        for place, piece in enumerate(pieces)
        if piece.surface in ("on", "off", "up", "down", "in", "out")
        and place
        and pieces[place - 1].key[0] == "be"
        and (place + 1 == len(pieces) or pieces[place + 1].clause != piece.clause)
    }


def _weight(piece: Piece) -> float:
    if piece.quantity is not None:
        return 1.3
    if piece.name:
        return 1.5
    words = lexicon()
    if len(piece.key) > 1 and (piece.key in words.left or piece.key in words.right):
        return 1.0  # at once, behind schedule: small words, but there is an opposite to them
    if piece.surface.endswith(" nothing") and piece.key[0] == "do" and piece.key in words.groups:
        return 1.0  # does nothing: what is done, not a denial of it
    if all(_is_function_word(word, piece.surface) for word in piece.key):
        return 0.0
    light = stemmed("light")
    return 0.4 if all(word in light or word in role("stop") for word in piece.key) else 1.0


def _is_function_word(word: str, surface: str) -> bool:
    return (
        surface in role("stop") or word in role("auxiliary") or word in role("denial") or word in role("lack")
    )
