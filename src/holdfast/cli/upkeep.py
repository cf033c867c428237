"""The upkeep commands: tend, audit, migrate, where."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli import named_database, say
from holdfast.cli.call import Call, in_space, on_store

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.audit import Finding, Kind


@click.command()
@click.option("--preview", is_flag=True, help="Show what would be done without changing anything.")
@click.option("--clock-is-right", is_flag=True, help="Apply decay even after a pause of more than 180 days.")
@in_space
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
    with call.memories() as memories, call.progress("Embedding") as bar:
        done = memories.tend(
            lambda vectors: bar(completed=vectors.done, total=vectors.total), clock_is_right=clock_is_right
        )
    lines = [f"Decayed {_step(before, after)}" for before, after in done.decayed]
    if done.decayed:
        lines.append(f"{say.memories(len(done.decayed))} decayed, {done.deactivated:,} of them now inactive")
        lines.append(f"Undo with {say.command('undo-session', done.session or 'last')}")
    if done.clock_doubt:
        lines.append(_doubt(done.clock_doubt))
    lines += [f"Archived {say.headline(memory)} ({say.one_line(reason)})" for memory, reason in done.archived]
    if done.archived:
        lines.append(
            f"{say.memories(len(done.archived))} archived; restore one with {say.command('restore', 'ID')}"
        )
    lines += [f"Proposed {memory.id}: {say.one_line(memory.waiting_for or '')}" for memory in done.proposed]
    if done.proposed:
        proposals = say.count(len(done.proposed), "proposal")
        lines.append(f"{proposals} in the inbox; review with {say.command('inbox')}")
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
    return f"{doubt}; if the clock is right, run {say.command('tend --clock-is-right')}"


def _step(before: "Memory", after: "Memory") -> str:
    gone = ", now inactive" if before.active and not after.active else ""
    step = f"({say.number(before.confidence)} -> {say.number(after.confidence)}{gone})"
    return f"{say.headline(after)} {step}"


@click.command()
@click.option("--citus", is_flag=True, help="Distribute the tables over a Citus cluster, by space.")
@click.option("--shards", type=click.IntRange(1, 1_024), help="Number of shards, with --citus. Default: 32.")
@on_store
def migrate(call: Call, citus: bool, shards: int | None) -> None:
    """Upgrade the database schema.

    A SQLite file is upgraded automatically, after a copy is made; PostgreSQL needs this command. There it
    also gives spaces with more than 50,000 vectors an index for search by meaning.

    --citus distributes a new or a filled database, all of it or nothing; run it as the owner of the tables.
    Later upgrades keep it distributed.

    \b
        holdfast migrate --db postgresql://holdfast@localhost/holdfast
        holdfast migrate --citus --db postgresql://holdfast@localhost/holdfast
    """
    from holdfast.app import wiring

    if shards is not None and not citus:
        raise click.UsageError("--shards needs --citus")
    named_database.check(call.db, creates=True)
    distributed = wiring.distribute(call.db, shards) if citus else []
    before, after = wiring.migrate(call.db)
    built = wiring.index_large_spaces(call.db)
    if before == after:
        done = built or distributed
        text = f"The schema is at {after}" if done else f"Nothing to do: the schema is at {after}"
    else:
        text = f"Upgraded the schema to {after} (from {before or 'no tables'})"
    if distributed:
        text += f"\nDistributed {say.count(len(distributed), 'table')} by space"
    for index in built:
        text += (
            f"\nIndexed {index.count:,} {index.kind} vectors of the space {index.space}: "
            f"finds {index.recall:.1%} of what the exact search finds"
            + ("" if index.is_used else ", too few to be used")
        )
    indexes = [asdict(index) for index in built]
    call.tell(text, {"before": before, "after": after, "distributed": distributed, "indexes": indexes})


@click.command()
@in_space
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
def audit(call: Call) -> None:
    """Report duplicates, contradictions, secrets and unused memories.

    Also reports memories that need a date and vectors of another embedder, each with a suggested fix. Changes
    nothing. Exit code 1 when something was found, 0 when the space is clean.

    \b
        holdfast audit
        holdfast audit --space ops --json
    """
    with call.memories() as memories, call.progress("Comparing") as bar:
        found = memories.audit(lambda done, total: bar(completed=done, total=total))
    lines = [line for finding in found.findings for line in _finding_lines(finding)]
    looked = f"Checked {say.memories(found.memories)}"
    lines.append(f"{looked}: no problems found" if found.clean else looked)
    call.tell("\n".join(lines), found)
    if not found.clean:
        raise click.exceptions.Exit(1)


def _finding_lines(finding: "Finding") -> list[str]:
    if not finding.count:
        return []
    shown = [" and ".join(pair) for pair in finding.pairs] or list(finding.ids)
    more = [f"and {len(shown) - _SHOWN:,} more"] if len(shown) > _SHOWN else []
    name = finding.kind.replace("_", " ")
    return [
        f"{click.style(name, bold=True)}: {finding.count:,} {say.one_line(finding.says)}",
        f"  {', '.join([*map(say.one_line, shown[:_SHOWN]), *more])}",
        f"  {say.hint(say.one_line(_COMMANDS.get(finding.kind, finding.advice)))}",
    ]
