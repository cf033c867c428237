"""The command that reports junk: what is there twice, out of date, secret, unused or contradicted."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.audit import Finding, Kind

_SHOWN = 10  # ids or pairs of one kind; --json has all of them
_COMMANDS: "dict[Kind, str]" = {
    "duplicates": "`holdfast tend` proposes each pair once, `holdfast inbox` decides; or forget one of them",
    "undated": "revise them with the day that was meant; `holdfast why ID` tells when it was said",
    "secrets": "change the secret where it is used, then `holdfast erase ID`",
    "contradictions": "forget or revise the wrong one; `holdfast tend` proposes the newer after two weeks",
    "other_model": "`holdfast tend` makes the vectors anew; the old ones go when the new are complete",
}


@click.command()
@in_space
@click.pass_obj
def audit(call: Call) -> None:
    """Report what in a space is junk, and what to do about it.

    Looks for memories that say the same, that need a date, that hold secrets, that contradict each other,
    that nobody ever used, and for vectors of another embedder. Changes nothing. Ends with 1 when there is
    something to do, with 0 when the space is clean.

    \b
        holdfast audit
        holdfast audit --space ops --json
    """
    with call.memories() as memories, _progress(shown=not call.json) as seen:
        found = memories.audit(seen)
    lines = [line for finding in found.findings for line in _said(finding)]
    looked = f"looked at {say.memories(found.memories)}"
    lines.append(f"{looked}: nothing is wrong" if found.clean else looked)
    call.tell("\n".join(lines), as_json.audit(found))
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
    """Shows on a terminal how far it is; silent where nobody looks."""
    if not shown or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
