"""Draws cost against size as an SVG that reads on light and on dark ground. Knows lines, not benchmarks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

Line = Mapping[int, float]  # what it costs at a size

_WIDTH, _HEIGHT = 790, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 50, 50  # the margins; names of lines stand on the right
_LABEL_HEIGHT = 16
#: Told apart by colour-blind eyes too, and dark enough on white and light enough on black.
_COLOURS = ("#2f7ed8", "#d9640a", "#1f9e6e", "#b0489f", "#8a7a00", "#d23b4a", "#5a6b7b", "#7a5cd6")
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .grid { stroke: #30363d; }
  }
"""


def drawn(title: str, lines: Mapping[str, Line], unit: str = "ms") -> str:
    """An SVG with both axes logarithmic: what grows as the size does is a straight line.

    Raises: ValueError, when there is nothing to draw.
    """
    points = [(size, cost) for line in lines.values() for size, cost in line.items() if cost > 0]
    if not points:
        raise ValueError("there is nothing to draw")
    across = _Axis([size for size, _ in points], _LEFT, _WIDTH - _RIGHT)
    up = _Axis([cost for _, cost in points], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{_LEFT}" y="24">{escape(title)}</text>',
        *_grid(across, up, unit),
        *_drawn_lines(lines, across, up),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Axis:
    """Whole powers of ten from the least to the largest value, spread over a stretch of the picture."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low = math.floor(math.log10(min(values)) + 1e-9)
        self.high = max(math.ceil(math.log10(max(values)) - 1e-9), self.low + 1)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self._start + share * (self._end - self._start), 1)

    def ticks(self) -> Iterator[float]:
        yield from (10.0**power for power in range(self.low, self.high + 1))


def _grid(across: _Axis, up: _Axis, unit: str) -> Iterator[str]:
    left, right, top, bottom = _LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _BOTTOM
    for size in across.ticks():
        x = across.at(size)
        yield f'<line class="grid" x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"/>'
        yield f'<text x="{x}" y="{bottom + 20}" text-anchor="middle">{_short(size)}</text>'
    for cost in up.ticks():
        y = up.at(cost)
        yield f'<line class="grid" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>'
        yield f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{_short(cost)} {escape(unit)}</text>'
    yield f'<text x="{(left + right) / 2}" y="{_HEIGHT - 10}" text-anchor="middle">memories</text>'


def _drawn_lines(lines: Mapping[str, Line], across: _Axis, up: _Axis) -> Iterator[str]:
    ends: list[tuple[float, str, str]] = []
    for number, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(across.at(size), up.at(cost)) for size, cost in sorted(line.items()) if cost > 0]
        if not places:
            continue
        path = " ".join(f"{x},{y}" for x, y in places)
        yield f'<polyline class="line" stroke="{colour}" points="{path}"/>'
        yield from (f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)
        ends.append((places[-1][1], name, colour))
    below = 0.0
    for y, name, colour in sorted(ends):
        below = max(y, below + _LABEL_HEIGHT)  # so that no name covers another
        x = _WIDTH - _RIGHT + 12
        yield f'<text x="{x}" y="{below + 4}" style="fill: {colour}">{escape(name)}</text>'


def _short(value: float) -> str:
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"
