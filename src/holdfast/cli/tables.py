"""Tables: styled on a terminal, plain aligned columns elsewhere."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.cli.say import draws_colour, echo, encoding, on_terminal, one_line, width

_WRAPPED = 12  # characters of a line in a column of text, below which it is hard to read


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A heading, and how its cells look."""

    title: str
    style: str = ""
    justify: Literal["left", "right"] = "left"
    wraps: bool = False  # the text that gets what room is left
    least: int | None = None  # characters that it keeps on a narrow terminal
    most: int | None = None  # characters that it may take from the others


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings."""

    columns: Sequence[TableColumn]
    rows: list[Sequence[str]] = field(default_factory=list)

    def show(self) -> None:
        room = sum(map(_needed, self.columns, self._widths())) + 3 * len(self.columns)
        # A column cut short is worse than a line that breaks.
        if on_terminal() and room <= width():
            self._show_rich()
        else:
            self._show_plain()

    def _show_rich(self) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
        for column in self.columns:
            table.add_column(
                column.title,
                style=column.style,
                justify=column.justify,
                no_wrap=not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                ratio=1 if column.wraps else None,
                min_width=column.least,
                max_width=column.most,
            )
        for row in self.rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        drawn = io.TextIOWrapper(io.BytesIO(), encoding=encoding(), errors="backslashreplace")
        Console(
            file=drawn,
            force_terminal=True,
            no_color=not draws_colour(),
            width=width(),
            highlight=False,
            markup=False,
            emoji=False,
        ).print(table)
        drawn.seek(0)
        echo(drawn.read(), nl=False, color=True)

    def _show_plain(self) -> None:
        for line in self._lines():
            cells = (
                cell.rjust(size) if column.justify == "right" else cell.ljust(size)
                for cell, size, column in zip(line, self._widths(), self.columns, strict=True)
            )
            echo("  ".join(cells).rstrip())

    def _lines(self) -> list[list[str]]:
        titles = [column.title for column in self.columns]
        return [titles, *([one_line(cell) for cell in row] for row in self.rows)]

    def _widths(self) -> list[int]:
        return [max(map(len, cells)) for cells in zip(*self._lines(), strict=True)]


def _needed(column: TableColumn, longest: int) -> int:
    """Characters that a column needs to say what it has to."""
    if column.wraps:
        return min(longest, column.least or _WRAPPED)
    return longest if column.most is None else min(longest, column.most)
