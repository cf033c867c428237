"""The drawing of a memory among those that it is linked with, as coordinates for the template's SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.domain.memory import Link, Memory

MAX_AROUND: Final = 8  # linked memories in the drawing


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A linked memory: the box of its text, and the line to the memory in the middle."""

    memory: Memory
    kinds: list[str]  # of its links, in words
    x: float
    y: float
    line: str  # the `d` of a path
    style: str  # of the line


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A memory in the middle, older ones on its left and newer ones on its right."""

    neighbours: list[Neighbour]
    others: list[str]  # paths between two of them that contradict each other
    height: float
    left: float  # the drawing ends where there is nothing more
    right: float

    width = 720
    box = 200
    tall = 76

    @property
    def x(self) -> float:
        return (self.width - self.box) / 2

    @property
    def y(self) -> float:
        return (self.height - self.tall) / 2


_GAP: Final = 14
_SIDE: Final = 26  # beside the boxes, for the lines between them
_STRONGEST: Final = ("supersedes", "contradicts", "elaborates", "related")
_FROM_HERE: Final = {"supersedes": "superseded by this", "elaborates": "elaborated by this"}
_TO_HERE: Final = {"supersedes": "supersedes this", "elaborates": "elaborates this"}


def neighbourhood(
    memory: Memory, linked: Sequence[tuple[Link, Memory]], between: Sequence[Link] = ()
) -> Neighbourhood:
    """The memories around one, by age; those that do not fit are in the list below the drawing."""
    found = {other.id: other for _, other in linked}
    shown = sorted(list(found.values())[:MAX_AROUND], key=lambda one: (one.created_at, one.id))
    here = (memory.created_at, memory.id)
    older = [one for one in shown if (one.created_at, one.id) < here]
    newer = [one for one in shown if one not in older]
    most, tall = max(len(older), len(newer), 1), Neighbourhood.tall
    outside = (Neighbourhood.width - Neighbourhood.box) / 2 - 4
    left, right = 0.0 if older else outside, Neighbourhood.width - (0.0 if newer else outside)
    drawn = Neighbourhood([], [], most * (tall + _GAP) - _GAP + 4, left, right)
    places: dict[str, tuple[float, float]] = {}
    for column, x in ((older, _SIDE), (newer, drawn.width - drawn.box - _SIDE)):
        first = (drawn.height - len(column) * (tall + _GAP) + _GAP) / 2
        for place, one in enumerate(column):
            places[one.id] = float(x), first + place * (tall + _GAP)
            drawn.neighbours.append(_neighbour(memory, one, linked, drawn, places[one.id]))
    drawn.others.extend(
        _beside(places[link.from_id], places[link.to_id], drawn)
        for link in between
        if link.from_id in places and link.to_id in places and link.kind in _STRONGEST[:2]
    )
    return drawn


def _neighbour(
    memory: Memory,
    other: Memory,
    linked: Sequence[tuple[Link, Memory]],
    drawn: Neighbourhood,
    place: tuple[float, float],
) -> Neighbour:
    links = sorted(
        (link for link, one in linked if one.id == other.id), key=lambda link: _STRONGEST.index(link.kind)
    )
    words = [
        (_FROM_HERE if link.from_id == memory.id else _TO_HERE).get(link.kind, link.kind) for link in links
    ]
    x, y = place
    begin, end = (x + drawn.box, drawn.x) if x < drawn.x else (x, drawn.x + drawn.box)
    level, middle = y + drawn.tall / 2, drawn.height / 2
    half = (begin + end) / 2
    line = f"M{begin} {level}C{half} {level} {half} {middle} {end} {middle}"
    return Neighbour(other, list(dict.fromkeys(words)), x, y, line, links[0].kind)


def _beside(one: tuple[float, float], other: tuple[float, float], drawn: Neighbourhood) -> str:
    """A line between two neighbours, outside of their boxes if they stand in one column."""
    (x, y), (to_x, to_y) = one, other
    half = drawn.tall / 2
    if x != to_x:
        return f"M{x + drawn.box / 2} {y + half}L{to_x + drawn.box / 2} {to_y + half}"
    edge, out = (x, x - _SIDE) if x < drawn.x else (x + drawn.box, x + drawn.box + _SIDE)
    return f"M{edge} {y + half}C{out} {y + half} {out} {to_y + half} {edge} {to_y + half}"
