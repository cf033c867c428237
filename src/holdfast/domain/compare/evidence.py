"""Gathers the evidence on two statements: a few figures between 0 and 1, each with its reason in words.

Weighs nothing; the judge does that. Every figure is the same from both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.compare.align import Alignment, align
from holdfast.domain.compare.change import changes
from holdfast.domain.compare.polarity import frequency_clash, negation_flips, opposites, order_clash
from holdfast.domain.compare.reading import Reading, Token, read
from holdfast.domain.compare.slots import Swap, many_valued, swaps
from holdfast.domain.compare.statement import Statement

FEATURES = (
    "low_cover",
    "high_cover",
    "both_left_over",
    "quantity_agrees",
    "quantity_clashes",
    "negation",
    "opposite",
    "opposite_agrees",
    "frequency",
    "order_agrees",
    "order_clashes",
    "change",
    "other_topic",
    "other_place",
    "other_value",
    "other_filler",
    "other_name",
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against, by name, with reasons in plain words."""

    figures: dict[str, float]
    reasons: tuple[str, ...]
    similarity: float


def gather(known: Statement, draft: Statement) -> Evidence:
    """The evidence on two statements."""
    left, right = read(known.text), read(draft.text)
    paired = align(left, right)
    low, high = sorted((paired.left_cover, paired.right_cover))
    figures = dict.fromkeys(FEATURES, 0.0)
    figures |= {"low_cover": low, "high_cover": high, "both_left_over": _left_over(paired)}
    reasons: list[str] = []
    _say_yes_and_no(left, right, paired, figures, reasons)
    _changed(left, right, figures, reasons)
    _put_in_place(left, right, paired, figures, reasons)
    return Evidence(figures=figures, reasons=tuple(reasons), similarity=(low + high) / 2)


def _left_over(paired: Alignment) -> float:
    least = min(sum(token.weight for token in rest) for rest in (paired.left_rest, paired.right_rest))
    return min(least, 3.0) / 3.0


def _say_yes_and_no(left: Reading, right: Reading, paired: Alignment, figures: dict[str, float], reasons: list[str]) -> None:
    clashing, agreeing = opposites(left, right)
    if clashing:
        figures["opposite"] = 1.0
        reasons.append(f"{clashing[0][0].surface} against {clashing[0][1].surface}")
    elif agreeing:
        figures["opposite_agrees"] = 1.0
        reasons.append(f"{agreeing[0][0].surface} is the opposite of {agreeing[0][1].surface}, one of them negated")
    share, heaviest = negation_flips(paired.matches, agreeing)
    figures["negation"] = share
    if heaviest is not None and share > 0.3:
        reasons.append(f"only one of them denies {heaviest.left.surface}")
    general = frequency_clash(left, right)
    if general:
        figures["frequency"] = 1.0
        reasons.append(general)
    ordered, opposite = order_clash(left, right, paired)
    figures["order_clashes"] = float(ordered and opposite)
    figures["order_agrees"] = float(ordered and not opposite)
    if ordered:
        reasons.append("the opposite order" if opposite else "the same order")


def _changed(left: Reading, right: Reading, figures: dict[str, float], reasons: list[str]) -> None:
    one, other = changes(left), changes(right)
    if bool(one) != bool(other):
        figures["change"] = 1.0
        reasons.append(f"reports a change: {' '.join(sorted(one or other)[0])}")


def _put_in_place(left: Reading, right: Reading, paired: Alignment, figures: dict[str, float], reasons: list[str]) -> None:
    for match in paired.matches:
        if match.left.quantity and match.right.quantity:
            figures["quantity_agrees"] = 1.0
            if match.left.surface != match.right.surface:
                reasons.append(f"{match.left.surface} equals {match.right.surface}")
    several = many_valued(left) and many_valued(right)
    for swap in swaps(left, right, paired):
        feature = _feature(swap, several)
        weight = max(swap.fit, 0.5)
        if weight > figures[feature]:
            figures[feature] = weight
            reasons.append(f"{swap.left.surface} against {swap.right.surface}")
    if _telling(paired.left_rest, "topic") and _telling(paired.right_rest, "topic"):
        figures["other_topic"] = 1.0
        reasons.append("they speak of different things")


def _feature(swap: Swap, several: bool) -> str:
    if swap.family.startswith("place"):
        return "other_place"
    if swap.topic:
        return "other_topic"
    if swap.left.quantity is not None:
        return "quantity_clashes"
    if swap.family:
        return "other_value"
    if swap.left.name and swap.right.name and not several:
        return "other_name"
    return "other_filler"


def _telling(rest: tuple[Token, ...], where: str) -> bool:
    return any(token.weight >= 1 and token.topic for token in rest)
