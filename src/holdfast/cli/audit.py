"""The command `audit`: reports duplicates, contradictions, secrets, unused and undated memories."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.audit import Finding, Kind

_SHOWN = 10  # ids or pairs of one kind; --json has all of them
_COMMANDS: "dict[Kind, str]" = {
    "duplicates": "run `holdfast tend`, then `holdfast inbox`; or delete one with `holdfast forget ID`",
    "undated": "add the date with `holdfast revise`; `holdfast why ID` shows when it was said",
    "secrets": "change the secret where it is used, then `holdfast erase ID`",
    "contradictions": "delete or revise the wrong one; after two weeks `holdfast tend` proposes the newer",
    "other_model": "run `holdfast tend` to re-embed them; the old vectors are used until it is done",
}


@click.command()
@in_space
@click.pass_obj
def audit(call: Call) -> None:
    """Report duplicates, contradictions, secrets and unused memories.

    Also reports memories that need a date and vectors of another embedder, each with a suggested fix. Changes
    nothing. Exit code 1 when something was found, 0 when the space is clean.

    \b
        holdfast audit
        holdfast audit --space ops --json
    """
    with call.memories() as memories, _progress(shown=not call.json) as seen:
        found = memories.audit(seen)
    lines = [line for finding in found.findings for line in _said(finding)]
    looked = f"Checked {say.memories(found.memories)}"
    lines.append(f"{looked}: no problems found" if found.clean else looked)
    call.tell("\n".join(lines), found)
    if not found.clean:
        raise click.exceptions.Exit(1)


def _said(finding: "Finding") -> list[str]:
    if not finding.count:
        return []
    shown = [" and ".join(pair) for pair in finding.pairs] or list(finding.ids)
    more = [f"and {len(shown) - _SHOWN:,} more"] if len(shown) > _SHOWN else []
    name = finding.kind.replace("_", " ")
    return [
        f"{click.style(name, bold=True)}: {finding.count:,} {say.one_line(finding.says)}",
        f"  {', '.join([*map(say.one_line, shown[:_SHOWN]), *more])}",
        f"  {say.one_line(_COMMANDS.get(finding.kind, finding.advice))}",
    ]


@contextmanager
def _progress(*, shown: bool) -> "Iterator[Callable[[int, int], None]]":
    """Shows progress on a terminal; silent elsewhere."""
    if not shown or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Comparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
