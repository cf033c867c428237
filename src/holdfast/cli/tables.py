"""Tables: styled on a terminal, plain aligned columns elsewhere."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.cli.say import draws_colour, echo, encoding, on_terminal, one_line, width

_WRAPPED = 12  # characters of a line in a column of text, below which it is hard to read
_GAP = 2  # blanks between two columns


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of a cell in a style of its own."""

    text: str
    style: str = ""
    below: bool = False  # on a line of its own, unless the table is wide


Cell = str | Sequence[Styled]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A heading, and how its cells look."""

    title: str
    style: str = ""
    justify: Literal["left", "right"] = "left"
    wraps: bool = False  # the text that gets what room is left
    least: int | None = None  # characters that it keeps on a narrow terminal
    most: int | None = None  # characters that it may take from the others
    spare: bool = False  # left out where there is no room; the last one first


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings."""

    columns: Sequence[TableColumn]
    rows: list[Sequence[Cell]] = field(default_factory=list)
    wide: bool = False  # a line for each row, however long
    plain: str | None = None  # what is printed where no table can be drawn; none = the aligned columns

    def show(self) -> None:
        shown = [*range(len(self.columns))]
        if on_terminal() and (self.wide or self._fits(shown)):
            self._show_rich(shown)
        elif self.plain is None or self.wide:
            self._show_plain()
        else:
            echo(self.plain)

    def _fits(self, shown: list[int]) -> bool:
        """Leaves out spare columns until the rest fits; none is cut short."""
        needed = self._needed()
        spare = [number for number in shown if self.columns[number].spare]
        while sum(needed[number] + _GAP for number in shown) - _GAP > width():
            if not spare:
                return False
            shown.remove(spare.pop())
        return True

    def _show_rich(self, shown: Sequence[int]) -> None:
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
        table.leading = int(self._spaced())
        needed = self._needed()
        for number in shown:
            column = self.columns[number]
            table.add_column(
                column.title,
                style=column.style,
                justify=column.justify,
                no_wrap=self.wide or not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                ratio=1 if column.wraps and not self.wide else None,
                min_width=needed[number],
                max_width=None if self.wide else column.most,
            )
        for row in self.rows:
            table.add_row(*(Text.assemble(*_pieces(row[number], self.wide)) for number in shown))
        drawn = io.TextIOWrapper(io.BytesIO(), encoding=encoding(), errors="backslashreplace")
        Console(
            file=drawn,
            force_terminal=True,
            no_color=not draws_colour(),
            width=100_000 if self.wide else width(),
            highlight=False,
            markup=False,
            emoji=False,
        ).print(table)
        drawn.seek(0)
        echo(drawn.read(), nl=False, color=True)

    def _spaced(self) -> bool:
        """Whether rows have several lines each, and so a blank line between them."""
        parts = (part for row in self.rows for cell in row if not isinstance(cell, str) for part in cell)
        return not self.wide and any(part.below for part in parts)

    def _show_plain(self) -> None:
        for line in self._lines():
            cells = (
                cell.rjust(size) if column.justify == "right" else cell.ljust(size)
                for cell, size, column in zip(line, self._widths(), self.columns, strict=True)
            )
            echo("  ".join(cells).rstrip())

    def _lines(self) -> list[list[str]]:
        titles = [column.title for column in self.columns]
        return [titles, *([_text(cell) for cell in row] for row in self.rows)]

    def _needed(self) -> list[int]:
        return list(map(_needed, self.columns, self._widths()))

    def _widths(self) -> list[int]:
        return [max(map(len, cells)) for cells in zip(*self._lines(), strict=True)]


def _pieces(cell: Cell, wide: bool) -> list[tuple[str, str]]:
    """What rich makes a text of: pieces with their styles, and what is between them."""
    parts = [Styled(cell)] if isinstance(cell, str) else cell
    pieces: list[tuple[str, str]] = []
    for part in parts:
        if pieces:
            pieces.append(("\n" if part.below and not wide else " ", ""))
        pieces.append((one_line(part.text), part.style))
    return pieces


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in _pieces(cell, wide=True))


def _needed(column: TableColumn, longest: int) -> int:
    """Characters that a column needs to say what it has to."""
    if column.wraps:
        return min(longest, column.least or _WRAPPED)
    return longest if column.most is None else min(longest, column.most)
