"""Finds what a text denies: which of its words a negation bears on.

Knows denials, verbs that carry one inside, and constructions in which two of them say that something is
needed. Compares nothing.
"""

from __future__ import annotations

from holdfast.domain.compare.pieces import Piece
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

# By base forms: no longer, cannot stand, and what has been put out of force.
_DENYING_PHRASES = frozenset(
    {
        ("no", "longer"),
        ("can", "not", "stand"),
        ("turn", "off"),
        ("switch", "off"),
        ("call", "off"),
        ("be", "off"),
    }
)
# "Not before" and "not until" say when, and the order of the two tells it.
_NOT_YET = frozenset({"before", "until", "earlier", "sooner"})
# These follow what they bear on without a clause of their own.
_IN_THE_SAME_CLAUSE = frozenset({"without", "except"})


def negations(pieces: list[Piece]) -> tuple[list[bool], set[int]]:
    """For each piece whether an odd number of negations bears on it, its own not counted.

    With it the places of each "without" and "unless" that a denial turns into a need.
    """
    denials: dict[int, int] = {}
    bearing: dict[int, int] = {}  # the clause of a "without" or "unless", and the clause that it bears on
    for index, piece in enumerate(pieces):
        denials[piece.clause] = denials.get(piece.clause, 0) + _denies(pieces, index)
        not_yet = piece.surface.split(" ", 1)[0] in _NOT_YET and _forbidden(pieces, piece.clause - 1)
        if not_yet or piece.surface in role("needing"):
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
    needing = role("needing")
    required = {
        index
        for index, piece in enumerate(pieces)
        if piece.surface in needing and needed.get(piece.clause) == 1
    }
    return flags, required


def _forbidden(pieces: list[Piece], clause: int) -> bool:
    return any(piece.clause == clause and piece.surface in ("not", "never", "no") for piece in pieces)


def _main_clause(pieces: list[Piece], index: int) -> int:
    """The clause that a "without" or "unless" bears on: the next if it opens the text."""
    if index == 0:
        return pieces[index].clause + 1
    return pieces[index].clause - (pieces[index].surface not in _IN_THE_SAME_CLAUSE)


def _reach(pieces: list[Piece], index: int, lacking: int) -> int:
    """How many more pieces a "without" bears on: its noun and up to two words that describe it.

    "Rather than X", "instead of X" and "prefers Y over X" deny X in the same way.
    """
    piece = pieces[index]
    before = pieces[index - 1].surface if index else ""
    rather = piece.surface == "than" and any(
        one.key[-1] == "rather" or one.surface == "better" for one in pieces[:index]
    )
    passed_over = rather or (before, piece.surface) == ("instead", "of")
    preferred = piece.surface in ("over", "to") and any(one.key[0] == "prefer" for one in pieces[:index])
    if passed_over or preferred or (len(piece.key) == 1 and piece.key[0] in role("lack")):
        return 3
    ends = piece.surface in role("preposition") or piece.surface in ("and", "or")
    return 0 if ends else max(lacking - 1, 0)


def _denies(pieces: list[Piece], index: int) -> bool:
    piece = pieces[index]
    if len(piece.key) > 1:
        return piece.key in _DENYING_PHRASES
    head = piece.key[0]
    after = pieces[index + 1].surface if index + 1 < len(pieces) else ""
    if head == "stop":  # "stop running the tests" denies, "stop the service" does not
        return after.endswith("ing")
    if head == "fail":
        return after == "to"
    if head == "nor":  # goes on with a denial, and denies by itself only where there is none
        return not any(
            one.clause == piece.clause and one.key[0] in stemmed("denial") for one in pieces[:index]
        )
    if head == "no" and index and pieces[index - 1].surface in role("preposition"):
        return False  # "fails with no route": only the noun behind it is denied
    return head in stemmed("denial") or head in stemmed("refusal")
