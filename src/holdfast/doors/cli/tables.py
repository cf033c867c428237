"""Tables: with rules and colour on a terminal, plain aligned columns everywhere else."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import click

from holdfast.doors.cli.say import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A heading, and how its cells look."""

    title: str
    style: str = ""
    justify: Literal["left", "right"] = "left"
    wraps: bool = False  # the text that gets what room is left


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings."""

    columns: Sequence[Column]
    rows: list[Sequence[str]] = field(default_factory=list)

    def show(self) -> None:
        if on_terminal():
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
            )
        for row in self.rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        Console(highlight=False, markup=False, emoji=False).print(table)

    def _show_plain(self) -> None:
        lines = [[column.title for column in self.columns]]
        lines += [[one_line(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        for line in lines:
            cells = (
                cell.rjust(width) if column.justify == "right" else cell.ljust(width)
                for cell, width, column in zip(line, widths, self.columns, strict=True)
            )
            click.echo("  ".join(cells).rstrip())


def on_terminal() -> bool:
    """Whether a person looks at the output on something that can draw."""
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
