"""Writes docs/reference/cli.md from the commands' own help texts.

Run as `python -m tools.generate_cli_reference`; with `--check` it writes nothing and fails on a stale page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from holdfast.doors.cli import cli

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
WIDTH = 100
INTRODUCTION = """\
# The command line

<!-- Written by tools/generate_cli_reference.py from the help texts; change those, then run it. -->

`--space`, `--db` and `--json` work before and after the command's name. `store` is another name for
`remember`, `search` for `recall`. An answer in JSON is one object on one line; times are UTC with a Z.
Errors are one line on standard error that begins with `holdfast:`; with `--json` standard output also gets
`{"error": {"kind", "message", "field"}}`. `NO_COLOR` takes the colour away, a pipe takes tables
and colour away, and `HOLDFAST_DEBUG=1` shows where an unforeseen error came from.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused, not found, or in conflict with something newer |
| 2 | wrong usage |
| 3 | the store is unavailable; what was acknowledged is safe |
"""


def page() -> str:
    """The whole page."""
    top = click.Context(
        cli,
        info_name="holdfast",
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    sections = [INTRODUCTION]
    for level, command, context in _commands(cli, top, 2):
        text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        sections.append(f"{'#' * level} {context.command_path}\n\n```text\n{text}\n```\n")
    return "\n".join(sections)


def _commands(
    command: click.Command, context: click.Context, level: int
) -> Iterator[tuple[int, click.Command, click.Context]]:
    """A command and all below it, each with the level of its heading."""
    yield level, command, context
    if isinstance(command, click.Group):
        below = 2 if command is cli else level + 1
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _commands(found, click.Context(found, info_name=name, parent=context), below)


def main() -> int:
    made = page()
    if "--check" in sys.argv[1:]:
        fresh = PAGE.exists() and PAGE.read_text(encoding="utf-8") == made
        if not fresh:
            sys.stderr.write(f"{PAGE.name} is stale: run `python -m tools.generate_cli_reference`\n")
        return 0 if fresh else 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
