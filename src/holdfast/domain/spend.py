"""The cost of language model calls: tokens, money in micro-dollars, and limits.

A call is recorded before it is made, with its maximum cost, so that limits count lost calls, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Literal

Purpose = Literal["gate", "extract", "judge"]
CallOutcome = Literal["asked", "answered", "rate-limited", "refused", "malformed", "truncated", "unavailable"]
GroupedBy = Literal["purpose", "model", "day", "session"]

MICRO = 1_000_000  # micro-dollars in a dollar
_MAX_DOLLARS = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one call; the cached ones are some of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens: input, cached input, output."""

    input: int
    cached: int
    output: int

    def of(self, usage: Usage) -> int:
        """The cost of a call, rounded up."""
        cached = min(usage.cached, usage.input)
        parts = (usage.input - cached) * self.input + cached * self.cached + usage.output * self.output
        return -(-parts // MICRO)


FREE = Price(0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call of a model; "asked" until its result is recorded."""

    id: str
    purpose: str
    model: str
    usage: Usage
    micro_dollars: int | None  # None: the model's price is unknown
    outcome: str = "asked"
    session: str | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A sum of calls. Those of models without a known price are in it, and apart once more."""

    calls: int = 0
    usage: Usage = Usage()
    micro_dollars: int = 0
    unpriced_calls: int = 0
    unpriced: Usage = Usage()

    @property
    def dollars(self) -> float:
        return self.micro_dollars / MICRO

    def at_most(self, cautious: Price) -> int:
        """Micro-dollars, with a cautious price for models without a known one."""
        return self.micro_dollars + cautious.of(self.unpriced)


@dataclass(frozen=True, slots=True)
class SpentBy:
    """The amount spent under one label."""

    name: str | None
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits in micro-dollars per day and per session; None: no limit."""

    daily: int | None = None
    session: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendReport:
    """What a space spent, in all and today, by one label, and its limits."""

    by: GroupedBy
    groups: tuple[tuple[str | None, Spent], ...]
    total: Spent
    today: Spent
    caps: Caps = Caps()
    stopped: str | None = None  # why no model is asked for the rest of the day

    @property
    def by_name(self) -> tuple[SpentBy, ...]:
        return tuple(SpentBy(name, spent) for name, spent in self.groups)

    @property
    def daily_cap(self) -> float | None:
        """In dollars."""
        return None if self.caps.daily is None else self.caps.daily / MICRO

    @property
    def session_cap(self) -> float | None:
        """In dollars."""
        return None if self.caps.session is None else self.caps.session / MICRO


def total(sums: Iterable[Spent]) -> Spent:
    """The total of several sums."""
    whole = Spent()
    for one in sums:
        whole = Spent(
            calls=whole.calls + one.calls,
            usage=_plus(whole.usage, one.usage),
            micro_dollars=whole.micro_dollars + one.micro_dollars,
            unpriced_calls=whole.unpriced_calls + one.unpriced_calls,
            unpriced=_plus(whole.unpriced, one.unpriced),
        )
    return whole


def over(caps: Caps, more: int, today: int, session: int | None) -> str | None:
    """The limit that a call for `more` would exceed, as a message; None if allowed, as free calls are."""
    if more <= 0:
        return None
    if caps.daily is not None and today + more > caps.daily:
        return f"the daily limit of {dollars(caps.daily)} is reached: {dollars(today)} spent today"
    if caps.session is not None and session is not None and session + more > caps.session:
        return f"the session limit of {dollars(caps.session)} is reached: {dollars(session)} spent"
    return None


def dollars(micro: int) -> str:
    """An amount as people write it: in cents, less than ten of them with three places or one digit."""
    amount = micro / MICRO
    if not micro or abs(micro) >= MICRO // 10:
        return f"${amount:,.2f}"
    places = next(places for places in (3, 4, 5, 6) if round(abs(amount), places))
    return f"${amount:.{places}f}".removesuffix("0")


def micro_dollars(text: str) -> int:
    """A text like "0.50" in micro-dollars, rounded up. Raises: ValueError."""
    try:
        amount = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        raise ValueError(f"invalid amount {text!r}: use dollars, for example 0.50") from None
    if not amount.is_finite() or not 0 <= amount <= _MAX_DOLLARS:
        raise ValueError(f"invalid amount {text!r}: use dollars, 0 to {_MAX_DOLLARS:,}")
    return int((amount * MICRO).to_integral_value(ROUND_CEILING))


def _plus(one: Usage, other: Usage) -> Usage:
    return Usage(one.input + other.input, one.output + other.output, one.cached + other.cached)
