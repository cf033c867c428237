"""The commands that keep a store in order: tend, undo-session, migrate, where."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space, on_store

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.embedding_progress import EmbeddingProgress


@click.command()
@click.option("--preview", is_flag=True, help="Say what would be done, and change nothing.")
@click.option("--clock-is-right", is_flag=True, help="Let memories fade after a pause of over 180 days.")
@in_space
@click.pass_obj
def tend(call: Call, preview: bool, clock_is_right: bool) -> None:
    """Do the upkeep: fade, archive and propose, or show what it would do.

    What nobody confirmed fades and what had its time is archived, as the profile says; pinned memories stay.
    What says the same twice, or was outdated by a newer word, is proposed in the inbox: nothing is merged or
    deleted by itself. After a pause of more than 180 days nothing fades, for the clock may be wrong. Running
    it again changes nothing; the service does it by itself. It also embeds what has no vector yet,
    after a change of the embedder everything; stopped, it goes on where it was.

    \b
        holdfast tend --space ops
        holdfast tend --preview --json
    """
    if preview:
        _preview(call)
        return
    with call.memories() as memories, _progress(shown=not call.json) as report:
        done = memories.tend(report, clock_is_right=clock_is_right)
    lines = [_faded(before, after) for before, after in done.decayed]
    if done.decayed:
        lines.append(f"{say.memories(len(done.decayed))} faded, {done.deactivated:,} inactive now")
        lines.append(f"`holdfast undo-session {done.session}` takes it back")
    if done.clock_doubt:
        lines.append(_doubt(done.clock_doubt))
    lines += [f"archived {say.headline(memory)} ({say.one_line(reason)})" for memory, reason in done.archived]
    if done.archived:
        lines.append(f"{say.memories(len(done.archived))} archived; `holdfast restore ID` brings one back")
    lines += [f"proposed {memory.id}: {say.one_line(memory.waiting_for or '')}" for memory in done.proposed]
    if done.proposed:
        lines.append(f"{say.count(len(done.proposed), 'proposal')} in the inbox; `holdfast inbox` decides")
    if done.embedded:
        lines.append(f"{say.count(done.embedded, 'text')} can be found by meaning now")
    if done.trouble:
        lines.append(f"the rest waits for its vectors: {say.one_line(done.trouble)}")
    call.tell("\n".join(lines or ["nothing to do: all is up to date"]), as_json.tended(done))


def _preview(call: Call) -> None:
    with call.memories() as memories:
        plan = memories.tend_preview()
    lines = [f"would be {_faded(before, after)}" for before, after in plan.decayed]
    lines += [
        f"would be archived: {say.headline(each.memory)} ({say.one_line(each.reason)})"
        for each in plan.archived
    ]
    lines += [f"would be proposed: {say.one_line(each.reason)}" for each in plan.proposed]
    lines += [_doubt(plan.clock_doubt)] if plan.clock_doubt else []
    lines = [*lines, "nothing was changed"] if lines else ["nothing to do: all is up to date"]
    call.tell("\n".join(lines), as_json.tend_preview(plan))


def _doubt(doubt: str) -> str:
    return f"{doubt}; `holdfast tend --clock-is-right` if the clock is right"


def _faded(before: "Memory", after: "Memory") -> str:
    gone = ", inactive now" if before.active and not after.active else ""
    step = f"({say.number(before.confidence)} -> {say.number(after.confidence)}{gone})"
    return f"faded {say.headline(after)} {step}"


@contextmanager
def _progress(*, shown: bool) -> "Iterator[Callable[[EmbeddingProgress], None]]":
    """Shows on a terminal how far a long embedding is; silent where nobody looks."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("embedding", total=None)
        yield lambda vectors: bar.update(task, completed=vectors.done, total=vectors.total)


@click.command("undo-session")
@click.argument("session_id", metavar="SESSION")
@in_space
@click.pass_obj
def undo_session(call: Call, session_id: str) -> None:
    """Take back everything that one session wrote.

    What it added is forgotten, what it changed goes back; what others confirmed or revised since stays
    and is named.

    \b
        holdfast undo-session run-42
    """
    with call.memories() as memories:
        undone = memories.undo_session(session_id)
    lines = [f"removed {say.headline(memory)}" for memory in undone.removed]
    lines += [f"changed back {say.line(memory)}" for memory in undone.changed]
    lines += [f"kept {say.line(memory)}: others relied on it since" for memory in undone.kept]
    if undone.links:
        lines.append(f"removed {say.count(undone.links, 'link')}")
    answer = {
        "removed": [as_json.memory(memory) for memory in undone.removed],
        "changed": [as_json.memory(memory) for memory in undone.changed],
        "kept": [as_json.memory(memory) for memory in undone.kept],
        "links": undone.links,
    }
    call.tell("\n".join(lines or ["that session changed nothing that is still there"]), answer)


@click.command()
@on_store
@click.pass_obj
def migrate(call: Call) -> None:
    """Bring the database to this release's schema.

    A SQLite file does it by itself, with a copy made first; a PostgreSQL database waits for this command.

    \b
        holdfast migrate --db postgresql://holdfast@localhost/holdfast
    """
    from holdfast import wiring

    before, after = wiring.migrate(call.db)
    if before == after:
        text = f"nothing to do: the schema is at {after}"
    else:
        text = f"the schema is at {after} now (before: {before or 'no tables'})"
    call.tell(text, {"before": before, "after": after})


@click.command()
@in_space
@click.pass_obj
def where(call: Call) -> None:
    """Print where the database is.

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
