"""Gathers the evidence on two statements: a few figures between 0 and 1, with reasons in words.

Weighs nothing; the judge does that. Every figure is the same from both sides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from holdfast.domain.compare.align import PART, Alignment, align, context
from holdfast.domain.compare.change import changes, same_property
from holdfast.domain.compare.degrees import compare_degrees
from holdfast.domain.compare.exchange import conversed, exchanged
from holdfast.domain.compare.generality import generality_clash
from holdfast.domain.compare.lexicon import lexicon
from holdfast.domain.compare.order import freed, order_clash
from holdfast.domain.compare.polarity import contraposed, linked, need_clash, negation_flips, opposites
from holdfast.domain.compare.reading import Reading, Token, read
from holdfast.domain.compare.slots import Swap, alike, several, swaps
from holdfast.domain.compare.statement import Statement
from holdfast.domain.compare.topics import elsewhere

_DIGIT = re.compile(r"\d")


@dataclass(slots=True)
class Evidence:
    """What speaks for and against, with reasons in plain words."""

    low_cover: float = 0.0  # of the two texts' shares that the other one covers, the lower
    high_cover: float = 0.0
    left_over: float = 0.0  # weight that stays unpaired on both sides, but for what clashes
    same_quantity: float = 0.0
    clash: float = 0.0  # how surely something is said that cannot hold beside the other
    replaced: float = 0.0  # a change is reported of what both speak of, or brings in another value
    other_thing: float = 0.0  # how surely they speak of two things
    filler: float = 0.0  # the same sentence with another word in one place
    open_slot: float = 0.0  # the same, where several may hold at once
    parallel: float = 0.0  # built alike word by word, and yet with something else said in them
    other_figures: bool = (
        False  # each text has a number, or a name with one, that is not in the other; `apart` too
    )
    apart: bool = False  # never the same: things have changed places, or one gives a figure the other lacks
    one_denies: bool = False  # only one text denies anything, and no opposite makes up for it
    reasons: list[str] = field(default_factory=list)
    clashing: set[int] = field(default_factory=set)  # places in the left text that a clash explains

    def add_clash(self, strength: float, reason: str, place: int | None = None) -> None:
        """Counts one more clash; independent ones add up, never beyond 1."""
        self.clash = 1 - (1 - self.clash) * (1 - strength)
        if strength >= 0.3 and reason not in self.reasons:
            self.reasons.append(reason)
        if place is not None:
            self.clashing.add(place)


def gather(known: Statement, draft: Statement, paired: Alignment | None = None) -> Evidence:
    """The evidence on two statements; `paired`, where their words were paired already."""
    left, right = read(known.text), read(draft.text)
    paired = paired or align(left, right)
    found = Evidence()
    found.low_cover, found.high_cover = sorted((paired.left_cover, paired.right_cover))
    _yes_and_no(left, right, paired, found)
    _order(left, right, paired, found)
    _places(left, right, paired, found)
    _change(known.text, draft.text, paired, found)
    found.other_thing = max(found.other_thing, elsewhere(left, right, paired))
    found.apart = found.apart or found.other_thing >= 0.9
    # Two facts on two things that both are named cannot contradict each other.
    found.clash *= 1.0 - 0.8 * (found.other_thing >= 1.0)
    if compare_degrees(left, right)[0] == "clash":  # of two things at most one is the tallest
        found.other_thing = 0.0
        found.add_clash(0.9, "the opposite comparison")
    found.left_over = _left_over(paired, found)
    found.apart = found.apart or _another_figure(paired, found)
    found.other_figures = found.apart or _other_figures(left, right, paired)
    # One word on each side is enough: who rewords a sentence seldom keeps its beginning.
    found.parallel = min(3.0 * found.left_over, 1.0) * alike(left, right)
    return found


def _left_over(paired: Alignment, found: Evidence) -> float:
    """How much is said on either side that the other does not speak of; 1 stands for three words or more."""
    clashing = sum(token.weight for token in paired.left_rest if token.place in found.clashing)
    # Phrases that share a word only (behind schedule, schedule) still differ in the rest of it.
    partly = sum(1 - match.strength for match in paired.matches if match.strength <= PART)
    # What is named only to be set aside is nothing that is said.
    left = sum(token.weight for token in paired.left_rest if not token.contrast) - clashing + partly
    right = sum(token.weight for token in paired.right_rest if not token.contrast) - clashing + partly
    return min(max(min(left, right), 0.0), 3.0) / 3.0


def _other_figures(left: Reading, right: Reading, paired: Alignment) -> bool:
    whole = [match for match in paired.matches if match.strength > PART]
    answered = ({match.left.place for match in whole}, {match.right.place for match in whole})
    return all(
        any(token.place not in places and _DIGIT.search(token.surface) for token in reading.content)
        for reading, places in zip((left, right), answered, strict=True)
    )


def _another_figure(paired: Alignment, found: Evidence) -> bool:
    """Whether one text gives a figure, and the other none, but something else: two facts on a team."""
    if found.left_over < 2 / 3:
        return False
    counted = [
        any(token.quantity is not None and token.quantity.kind != "period" for token in rest)
        for rest in (paired.left_rest, paired.right_rest)
    ]
    return counted[0] != counted[1]


def _yes_and_no(left: Reading, right: Reading, paired: Alignment, found: Evidence) -> None:
    clashing, agreeing = opposites(paired)
    degrees, scales = compare_degrees(left, right)
    for one, other in clashing:
        if degrees == "agree" and one.place in scales:  # taller one way round, shorter the other
            agreeing.append((one, other))
            continue
        if conversed(one, other, paired):
            agreeing.append((one, other))
            continue
        strength = 0.8 if linked((one, other), paired) else 0.4
        found.add_clash(strength, f"{one.surface} against {other.surface}", one.place)
    if degrees == "agree":
        found.clashing |= scales  # they are no rest, for what one word says the other does
    # With or without what is only set aside: "over lists" denies as much as "rather than lists".
    denials = [_denies(reading) for reading in (left, right)]
    found.one_denies = all(one != other for one, other in zip(*denials, strict=True)) and not agreeing
    _denial(left, right, paired, agreeing, found)
    _held_and_set_aside(left, right, paired, found)
    if need_clash(left, right):
        found.add_clash(0.7 * found.high_cover, "needed against not needed")
    general = generality_clash(left, right, paired)
    if general:
        found.add_clash(0.7, general)


def _denies(reading: Reading) -> tuple[bool, bool]:
    """Whether a text denies anything; and anything but what it only sets aside."""
    denied = [token for token in reading.content if token.negated]
    return bool(denied), any(not token.contrast for token in denied)


def _denial(
    left: Reading, right: Reading, paired: Alignment, agreeing: list[tuple[Token, Token]], found: Evidence
) -> None:
    pairs = (*paired.matches, *paired.echoes)
    share, heaviest = negation_flips(left, right, pairs, agreeing)
    if heaviest is None:
        return
    turned = contraposed(left, right, pairs)
    if turned:
        found.apart = turned == "apart"
        return
    around = context(left, right, heaviest.left, heaviest.right, paired)
    # Said of one by name and denied of another: both may hold.
    named = all(any(token.name for token in rest) for rest in (paired.left_rest, paired.right_rest))
    alike_named = _before_names(left, paired.left_rest) & _before_names(right, paired.right_rest)
    if alike_named and share >= 0.5:
        found.other_thing = 1.0
    around *= 0.4 if named else 1.0
    found.add_clash(0.9 * share * around, f"only one of them denies {heaviest.left.surface}")


def _before_names(reading: Reading, rest: tuple[Token, ...]) -> set[str]:
    return {reading.tokens[token.place - 1].surface for token in rest if token.name and token.place}


def _held_and_set_aside(left: Reading, right: Reading, paired: Alignment, found: Evidence) -> None:
    """What one text holds and the other names only to set it aside: on 443, on 9443 instead of 443."""
    for match in paired.matches:
        one, other = match.left, match.right
        held = other if one.contrast else one
        place, text = held.place, right if one.contrast else left
        left_behind = bool(place) and text.tokens[place - 1].surface == "from"  # took over from Felix
        if one.contrast == other.contrast or held.negated or left_behind:
            continue
        if min(one.weight, other.weight) >= 1.0:
            around = context(left, right, one, other, paired)
            found.add_clash(0.8 * around, f"{held.surface} is held here and set aside there")
            return


def _order(left: Reading, right: Reading, paired: Alignment, found: Evidence) -> None:
    ordered, opposite = order_clash(left, right, paired)
    if ordered and opposite:
        found.add_clash(0.9, "the opposite order")
    elif ordered:
        found.reasons.append("the same order")
    elif swapped := exchanged(left, right, paired):
        _exchange(swapped, found)
    elif freed(left, right):
        found.add_clash(0.9, "an order against none")


def _exchange(swapped: str, found: Evidence) -> None:
    if swapped == "who":
        found.add_clash(0.8, "who and whom have changed places")
        return
    # Both may hold, so it is no clash; and it is never the same.
    found.apart = True
    if swapped == "where":
        found.other_thing = max(found.other_thing, 0.8)
    found.reasons.append("two things have changed places")


def _change(known: str, draft: str, paired: Alignment, found: Evidence) -> None:
    one, other = changes(known), changes(draft)
    dated = any(
        match.left.quantity and match.left.quantity.kind in ("year", "date") for match in paired.matches
    )
    if bool(one) == bool(other) or dated:  # a change on the day that the other text names is no news
        return
    clauses = {clause for clause, _ in one or other}
    rest = paired.left_rest if one else paired.right_rest
    shared = (match.left if one else match.right for match in paired.matches)
    # The change brings in a name or a number, or it is said of something that the other text speaks of.
    # A month or a weekday only dates it.
    brings = any(token.name or token.quantity for token in rest if token.key not in lexicon().families)
    concerns = any(token.clause in clauses and token.weight >= 1 for token in shared)
    if not same_property(read(known), read(draft), paired):  # the team has moved; the team needs two days
        return
    found.replaced = 0.5 * brings + 0.5 * concerns
    found.add_clash(0.6, f"reports a change: {min(sign for _, sign in one or other)}")


def _places(left: Reading, right: Reading, paired: Alignment, found: Evidence) -> None:
    for match in paired.matches:
        if match.left.quantity and match.right.quantity:
            found.same_quantity = 1.0
            if match.left.surface != match.right.surface:
                found.reasons.append(f"{match.left.surface} equals {match.right.surface}")
    many = several(left) and several(right)
    strongest: dict[str, Swap] = {}
    degrees, scales = compare_degrees(left, right)
    for swap in swaps(left, right, paired):
        if degrees == "agree" and swap.left.place in scales:
            continue
        if swap.kind not in strongest or swap.fit > strongest[swap.kind].fit:
            strongest[swap.kind] = swap
    for swap in strongest.values():
        around = context(left, right, swap.left, swap.right, paired)
        _place(swap, many, 0.2 + 0.8 * around, found)


def _place(swap: Swap, many: bool, around: float, found: Evidence) -> None:
    reason = f"{swap.left.surface} against {swap.right.surface}"
    place = swap.left.place
    match swap.kind:
        case "place" | "topic":
            sure = swap.named or swap.which or swap.kind == "place"
            strength = 1.0 if sure else 0.4 + 0.4 * swap.fit
            found.other_thing = max(found.other_thing, strength)
            found.reasons.append(reason)
        case "quantity":
            found.add_clash((0.7 + 0.2 * swap.fit) * around, reason, place)
        case "value":
            found.add_clash((0.6 + 0.3 * swap.fit) * around, reason, place)
        case "name" if not many:
            found.add_clash(0.8 * swap.fit * around, reason, place)
        case "name" | "filler":
            found.filler = max(found.filler, swap.fit)
            found.open_slot = max(found.open_slot, swap.fit * many)
