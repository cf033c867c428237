"""The commands that keep a store in order: tend, undo-session, migrate, where."""

import re
from pathlib import Path

import click

from holdfast.doors.cli import as_json, say
from holdfast.doors.cli.call import Call, in_space, on_store


@click.command()
@in_space
@click.pass_obj
def tend(call: Call) -> None:
    """Do the upkeep: let fade what nobody confirmed.

    Running it again changes nothing; briefs and sessions do it by themselves.

    \b
        holdfast tend --space ops
    """
    with call.memories() as memories:
        done = memories.tend()
    lines = []
    for before, after in done.decayed:
        gone = ", inactive now" if before.active and not after.active else ""
        step = f"({say.number(before.confidence)} -> {say.number(after.confidence)}{gone})"
        lines.append(f"faded {say.headline(after)} {step}")
    if done.decayed:
        lines.append(f"{say.memories(len(done.decayed))} faded, {done.deactivated:,} inactive now")
    if done.embedded:
        lines.append(f"{say.memories(done.embedded)} can be found by meaning now")
    lines = lines or ["nothing to do: all is up to date"]
    answer = {
        "decayed": [as_json.memory(after) for _, after in done.decayed],
        "deactivated": done.deactivated,
        "embedded": done.embedded,
    }
    call.tell("\n".join(lines), answer)


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
