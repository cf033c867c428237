"""Coordinates of the small charts in the templates' SVG."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from holdfast.domain.history import Entry
from holdfast.domain.operations import Attempt, CooldownStatus, window

WIDTH: Final = 340
HEIGHT: Final = 130
LEFT: Final = 30  # of the plot, for its scale
_EDGE: Final = 10


@dataclass(frozen=True, slots=True)
class Dot:
    """One change of the confidence."""

    x: float
    y: float
    confidence: float
    step: str
    when: datetime


@dataclass(frozen=True, slots=True)
class Plot:
    """Confidence over time, as steps."""

    dots: list[Dot]
    line: str  # the `d` of a path
    floor: float  # the height under which a memory is inactive

    width = WIDTH
    height = HEIGHT
    left = LEFT
    right = WIDTH - _EDGE


def belief(entries: Sequence[Entry], now: datetime, floor: float) -> Plot:
    """The chart of a memory's confidence over time, from its journal."""
    steps = [(entry, float(entry.after["confidence"])) for entry in entries if entry.after]
    if not steps:
        return Plot([], "", height(floor))
    first = steps[0][0].created_at
    span = max((now - first).total_seconds(), 1.0)
    dots = [
        Dot(_across((entry.created_at - first).total_seconds() / span), height(value), value, entry.action,
            entry.created_at)
        for entry, value in steps
    ]  # fmt: skip
    line = f"M{dots[0].x} {dots[0].y}"
    line += "".join(f"H{dot.x}V{dot.y}" for dot in dots[1:]) + f"H{WIDTH - _EDGE}"
    return Plot(dots, line, height(floor))


def height(value: float) -> float:
    return round(HEIGHT - _EDGE - value * (HEIGHT - 2 * _EDGE), 1)


def _across(share: float) -> float:
    return round(LEFT + min(max(share, 0.0), 1.0) * (WIDTH - _EDGE - LEFT), 1)


# ------------------------------------------------------------------------------------- search and stats

_OWN_COLOURS: Final = ("meaning", "words", "helps")


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a bar."""

    name: str
    value: float
    x: float
    width: float

    @property
    def colour(self) -> str:
        return self.name if self.name in _OWN_COLOURS else "other"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The parts of a hit's evidence on a scale of 0 to 100, and its threshold."""

    segments: list[Segment]
    floor: float


def evidence(parts: Mapping[str, float], floor: float, most: float) -> Evidence:
    """The bar of one hit: as long as its relevance, in the colours of what speaks for it.

    `most` is the greatest threshold in the list, on the scale of its hit.
    """
    whole = 1.04 * max(most, sum(parts.values()), 1.0)
    positive = sum(value for value in parts.values() if value > 0)
    shown = max(sum(parts.values()), 0.0) / positive if positive else 0.0
    segments, x = [], 0.0
    for name, value in parts.items():
        if value > 0:
            width = 100 * value * shown / whole
            segments.append(Segment(name, value, round(x, 2), round(width, 2)))
            x += width
    return Evidence(segments, round(min(100 * floor / whole, 99.5), 2))


@dataclass(frozen=True, slots=True)
class Bar:
    """One upright bar."""

    label: str
    value: int
    x: float
    y: float
    width: float
    height: float
    says: str  # the tooltip

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 1)


@dataclass(frozen=True, slots=True)
class Columns:
    """Amounts side by side."""

    bars: list[Bar]

    @property
    def pairs(self) -> list[tuple[str, int]]:
        return [(bar.label, bar.value) for bar in self.bars]

    width = WIDTH
    height = HEIGHT
    ground = HEIGHT - 22


def columns(amounts: Sequence[tuple[str, int]], says: Sequence[str] = ()) -> Columns:
    """Vertical bars; a nonzero one is always visible. Each is labelled with its amount, or the given text."""
    most = max((value for _, value in amounts), default=0)
    step = (WIDTH - 2) / max(len(amounts), 1)
    room = Columns.ground - 18
    bars = []
    for place, (label, value) in enumerate(amounts):
        tall = max(round(room * value / most, 1), 2.0) if value else 0.0
        bars.append(
            Bar(label, value, round(1 + place * step + step * 0.12, 1), round(Columns.ground - tall, 1),
                   round(step * 0.76, 1), tall, says[place] if says else f"{label}: {value:,}")
        )  # fmt: skip
    return Columns(bars)


@dataclass(frozen=True, slots=True)
class StripDay:
    """One day of events: a bar with a stretch for each level."""

    day: date
    x: float
    amounts: list[tuple[str, int]]  # by level
    stretches: list[tuple[str, float, float]]  # level, top and height


STRIP_HEIGHT: Final = 40.0
STRIP_STEP: Final = 10.0


def strip(
    found: Iterable[tuple[str, str, int]], levels: Sequence[str], today: date, days: int
) -> list[StripDay]:
    """The bars of the last days; the last of the levels stands lowest."""
    counts: dict[str, dict[str, int]] = {}
    for of, level, amount in found:
        counts.setdefault(of, {})[level] = amount
    most = max((sum(of_day.values()) for of_day in counts.values()), default=1)
    drawn = []
    for place in range(days):
        day = today - timedelta(days=days - 1 - place)
        of_day = counts.get(day.isoformat(), {})
        ground, stretches = STRIP_HEIGHT, []
        for level in sorted(of_day, key=lambda one: levels.index(one) if one in levels else -1, reverse=True):
            tall = max(round(STRIP_HEIGHT * of_day[level] / most, 1), 2.0)
            ground = round(ground - tall, 1)
            stretches.append((level, ground, tall))
        drawn.append(StripDay(day, place * STRIP_STEP, sorted(of_day.items()), stretches))
    return drawn


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a cooldown as a bar from 0 to 100."""

    now: float
    dots: list[tuple[float, Attempt]]
    blocked: float  # the width from now until the action is allowed again


def window_bar(standing: CooldownStatus, now: datetime) -> Window:
    """From the beginning of the window until now, or until the action is allowed again."""
    begins = now - window(standing.cooldown)
    whole = ((standing.free_at or now) - begins) / timedelta(seconds=1)

    def at(moment: datetime) -> float:
        return round(min(max(100 * ((moment - begins) / timedelta(seconds=1)) / whole, 0.0), 100.0), 2)

    dots = [(at(attempt.created_at), attempt) for attempt in standing.attempts]
    return Window(at(now), dots, round(100 - at(now), 2))


@dataclass(frozen=True, slots=True)
class Curve:
    """An amount over time, from edge to edge, with its scale."""

    points: list[tuple[str, int]]  # days in words
    line: str  # the `d` of a path
    area: str
    scale: list[int]  # from the top down, evenly
    xs: list[float]
    step: float  # from one point to the next

    width = 720
    height = 200


def curve(points: Sequence[tuple[str, int]]) -> Curve:
    """The drawing of amounts at regular days."""
    top = _round_up(max((value for _, value in points), default=0))
    step = Curve.width / max(len(points) - 1, 1)
    xs = [round(place * step, 1) for place in range(len(points))]
    ys = [round(Curve.height * (1 - value / top), 1) for _, value in points]
    line = "M" + "L".join(f"{x} {y}" for x, y in zip(xs, ys, strict=True)) if points else ""
    area = f"{line}L{xs[-1]} {Curve.height}L0 {Curve.height}Z" if points else ""
    return Curve(list(points), line, area, [top, top // 2, 0], xs, round(step, 1))


def _round_up(value: int) -> int:
    """The end of a scale: the next even number of 1, 2, 4, 6 or 8 with zeros."""
    power = int("1" + "0" * (len(str(value)) - 1))
    ends = (1, 2, 4, 6, 8, 10)
    return max(next(end * power for end in ends if end * power >= value), 2)


def shares(amounts: Sequence[int]) -> list[float]:
    """Each as a part of the greatest, from 0 to 100; what is not zero is always to be seen."""
    most = max(amounts, default=0)
    return [max(round(100 * value / most, 1), 0.8) if value else 0.0 for value in amounts]
