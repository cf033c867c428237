"""The maintenance commands: tend, undo-session, migrate, where."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space, on_store

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.models_in_use import EmbeddingProgress


@click.command()
@click.option("--preview", is_flag=True, help="Show what would be done without changing anything.")
@click.option("--clock-is-right", is_flag=True, help="Apply decay even after a pause of more than 180 days.")
@in_space
@click.pass_obj
def tend(call: Call, preview: bool, clock_is_right: bool) -> None:
    """Run upkeep: decay, archive and propose merges.

    Lowers the confidence of unconfirmed memories and archives expired ones, as the profile says; pinned
    memories are exempt. Duplicates and superseded memories are proposed in the inbox; nothing is merged or
    deleted automatically. Also embeds memories that have no vector yet. Decay is skipped after a pause of
    more than 180 days, because the clock may be wrong. Safe to repeat and to interrupt; the service runs it
    automatically.

    \b
        holdfast tend --space ops
        holdfast tend --preview --json
    """
    if preview:
        _preview(call)
        return
    with call.memories() as memories, _progress(shown=not call.json) as report:
        done = memories.tend(report, clock_is_right=clock_is_right)
    lines = [f"Decayed {_step(before, after)}" for before, after in done.decayed]
    if done.decayed:
        lines.append(f"{say.memories(len(done.decayed))} decayed, {done.deactivated:,} of them now inactive")
        lines.append(f"Undo with `holdfast undo-session {done.session}`")
    if done.clock_doubt:
        lines.append(_doubt(done.clock_doubt))
    lines += [f"Archived {say.headline(memory)} ({say.one_line(reason)})" for memory, reason in done.archived]
    if done.archived:
        lines.append(f"{say.memories(len(done.archived))} archived; restore one with `holdfast restore ID`")
    lines += [f"Proposed {memory.id}: {say.one_line(memory.waiting_for or '')}" for memory in done.proposed]
    if done.proposed:
        lines.append(
            f"{say.count(len(done.proposed), 'proposal')} in the inbox; review with `holdfast inbox`"
        )
    if done.embedded:
        lines.append(f"Embedded {say.count(done.embedded, 'text')}")
    if done.trouble:
        lines.append(f"Embedding stopped, the rest is pending: {say.one_line(done.trouble)}")
    call.tell("\n".join(lines or ["Nothing to do: everything is up to date"]), done)


def _preview(call: Call) -> None:
    with call.memories() as memories:
        plan = memories.tend_preview()
    lines = [f"Would decay: {_step(before, after)}" for before, after in plan.decayed]
    lines += [
        f"Would archive: {say.headline(each.memory)} ({say.one_line(each.reason)})" for each in plan.archived
    ]
    lines += [f"Would propose: {say.one_line(each.reason)}" for each in plan.proposed]
    lines += [_doubt(plan.clock_doubt)] if plan.clock_doubt else []
    lines = [*lines, "Nothing was changed"] if lines else ["Nothing to do: everything is up to date"]
    call.tell("\n".join(lines), plan)


def _doubt(doubt: str) -> str:
    return f"{doubt}; if the clock is right, run `holdfast tend --clock-is-right`"


def _step(before: "Memory", after: "Memory") -> str:
    gone = ", now inactive" if before.active and not after.active else ""
    step = f"({say.number(before.confidence)} -> {say.number(after.confidence)}{gone})"
    return f"{say.headline(after)} {step}"


@contextmanager
def _progress(*, shown: bool) -> "Iterator[Callable[[EmbeddingProgress], None]]":
    """Shows the progress of a long embedding on a terminal; silent elsewhere."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Embedding", total=None)
        yield lambda vectors: bar.update(task, completed=vectors.done, total=vectors.total)


@click.command("undo-session")
@click.argument("session_id", metavar="SESSION")
@in_space
@click.pass_obj
def undo_session(call: Call, session_id: str) -> None:
    """Undo everything that a session wrote.

    Deletes what it added and reverts what it changed. Memories that others confirmed or revised since are
    kept and listed.

    \b
        holdfast undo-session run-42
    """
    with call.memories() as memories:
        undone = memories.undo_session(session_id)
    lines = [f"Deleted {say.headline(memory)}" for memory in undone.removed]
    lines += [f"Reverted {say.line(memory)}" for memory in undone.changed]
    lines += [f"Kept {say.line(memory)}: confirmed or revised by others since" for memory in undone.kept]
    if undone.links:
        lines.append(f"Removed {say.count(undone.links, 'link')}")
    call.tell("\n".join(lines or ["Nothing to undo: none of this session's changes are left"]), undone)


@click.command()
@on_store
@click.pass_obj
def migrate(call: Call) -> None:
    """Upgrade the database schema.

    A SQLite file is upgraded automatically, after a copy is made; PostgreSQL needs this command.

    \b
        holdfast migrate --db postgresql://holdfast@localhost/holdfast
    """
    from holdfast.app import wiring

    before, after = wiring.migrate(call.db)
    if before == after:
        text = f"Nothing to do: the schema is at {after}"
    else:
        text = f"Upgraded the schema to {after} (from {before or 'no tables'})"
    call.tell(text, {"before": before, "after": after})


@click.command()
@in_space
@click.pass_obj
def where(call: Call) -> None:
    """Print the path of the database.

    \b
        holdfast where
        sqlite3 "$(holdfast where)" .tables
    """
    from holdfast.settings import Settings

    settings = Settings.read()
    place = (call.db or settings.db).removeprefix("sqlite:///")
    if "://" in place:
        place = re.sub(r"(://[^/@:]*):[^/]*@", r"\1:***@", place)
    else:
        place = str(Path(place).expanduser().absolute())
    call.tell(say.one_line(place), {"db": place, "space": call.space or settings.space})
