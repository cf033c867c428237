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
    from holdfast.engine.embedding_progress import EmbeddingProgress


@click.command()
@in_space
@click.pass_obj
def tend(call: Call) -> None:
    """Do the upkeep: let fade what nobody confirmed.

    Running it again changes nothing; briefs and sessions do it by themselves. It also embeds what has no
    vector yet, after a change of the embedder everything; stopped, it goes on where it was the next time.

    \b
        holdfast tend --space ops
    """
    with call.memories() as memories, _progress(shown=not call.json) as report:
        done = memories.tend(report)
    lines = []
    for before, after in done.decayed:
        gone = ", inactive now" if before.active and not after.active else ""
        step = f"({say.number(before.confidence)} -> {say.number(after.confidence)}{gone})"
        lines.append(f"faded {say.headline(after)} {step}")
    if done.decayed:
        lines.append(f"{say.memories(len(done.decayed))} faded, {done.deactivated:,} inactive now")
    if done.embedded:
        lines.append(f"{say.count(done.embedded, 'text')} can be found by meaning now")
    if done.trouble:
        lines.append(f"the rest waits for its vectors: {say.one_line(done.trouble)}")
    lines = lines or ["nothing to do: all is up to date"]
    answer = {
        "decayed": [as_json.memory(after) for _, after in done.decayed],
        "deactivated": done.deactivated,
        "embedded": done.embedded,
        "trouble": done.trouble,
    }
    call.tell("\n".join(lines), answer)


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
