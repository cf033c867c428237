"""Draws tables of the benchmarks page as bars, when the site is built: the figures stay in one place.

`<!-- chart: quality -->` or `<!-- chart: goals -->` before a table asks for its chart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

WIDTH = 720
_ROW = 34
_BAR = 9
_MOST = 4.0  # times the goal that fit into the width
_CHART = re.compile(r"<!-- chart: (\w+) -->\n+((?:\|.*\n)+)")
_STYLE = (
    "<style>.chart text{font:13px system-ui,sans-serif;fill:var(--md-default-fg-color)}"
    ".chart .ours{fill:#009485}.chart .missed{fill:#d9822b}.chart .before{fill:#9aa5b1}"
    ".chart .goal{stroke:var(--md-default-fg-color);stroke-width:2}</style>"
)

Row = dict[str, str]


def with_charts(markdown: str) -> str:
    """The page with a chart before each table that asks for one."""
    return _CHART.sub(lambda found: f"{_DRAW[found[1]](_rows(found[2]))}\n\n{found[2]}", markdown)


def _rows(table: str) -> list[Row]:
    lines = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in table.splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def _number(cell: str) -> float | None:
    """The first figure of a cell, without its comparison sign."""
    found = re.match(r"(?:[≤≥] )?(\d[\d,]*(?:\.\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def _quality(rows: list[Row]) -> str:
    """Shares from 0 to 1: this release, the one before, and the goal."""
    drawn = []
    command = ""
    for row in rows:
        command = next(iter(re.findall(r"bench (\w+)", row["command"])), command)
        figure, before, goal = (_number(row[name]) for name in ("figure", "0.1.0", "goal"))
        if figure is not None and figure <= 1 and "/" not in row["figure"]:
            bars = _bar("ours", figure, 14) + (
                _bar("before", before, 14 + _BAR) if before is not None else ""
            )
            drawn.append(
                (
                    f"{command}: {row['what']}: {row['figure']}",
                    bars + (_goal(goal) if goal is not None else ""),
                )
            )
    return _svg("This release (green), 0.1.0 (grey) and the goal (line), from 0 to 1", drawn)


def _goals(rows: list[Row]) -> str:
    """How many times its goal a figure is; to the left of the line it is reached."""
    drawn = []
    for row in rows:
        ours, goal = _number(row["ours"]), _number(row["goal"])
        if ours is not None and goal and row["goal"].startswith("≤"):
            kind = "ours" if ours <= goal else "missed"
            bar = _bar(kind, min(ours / goal, _MOST) / _MOST, 14) + _goal(1 / _MOST)
            drawn.append((f"{row['']}: {row['ours']}, goal {row['goal']}", bar))
    return _svg("Cost as a multiple of its goal (line); orange: missed", drawn)


_DRAW: dict[str, Callable[[list[Row]], str]] = {"quality": _quality, "goals": _goals}


def _bar(kind: str, share: float, top: int) -> str:
    return f'<rect class="{kind}" y="{top + 4}" width="{share * WIDTH:.0f}" height="{_BAR}"/>'


def _goal(share: float) -> str:
    place = f"{share * WIDTH:.0f}"
    return f'<line class="goal" x1="{place}" x2="{place}" y1="16" y2="{_ROW}"/>'


def _svg(title: str, rows: list[tuple[str, str]]) -> str:
    parts = [
        f'<g transform="translate(0 {number * (_ROW + 10)})"><text y="12">{escape(label)}</text>{bars}</g>'
        for number, (label, bars) in enumerate(rows)
    ]
    height = len(rows) * (_ROW + 10)
    return (
        f"<p><strong>{escape(title)}</strong></p>\n"
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{_STYLE}{''.join(parts)}</svg>"
    )
