"""The command that checks the database and says what to do."""

from typing import TYPE_CHECKING, Any

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, on_store
from holdfast.doors.cli.spaces import overview_table

if TYPE_CHECKING:
    from holdfast.domain.health import Finding, Health
    from holdfast.engine.embedding_progress import EmbeddingProgress
    from holdfast.engine.spaces import Overview

_NO_EMBEDDER = "none: recall works by words only"


@click.command()
@on_store
@click.pass_obj
def doctor(call: Call) -> None:
    """Check the database and say what to do.

    Looks at place, rights, size, log, schema and integrity, tries the embedder, then counts what each space
    holds and what of it still has to be embedded. Ends with 1 when there is a problem.

    \b
        holdfast doctor
        holdfast doctor --json
    """
    from holdfast import wiring
    from holdfast.domain.health import findings

    health = wiring.examine(call.db)
    embedder = wiring.open_embedder()
    name = embedder.name if embedder else None
    usable = health.exists and not health.damage and health.revision == health.head
    spaces, vectors = _spaces(call, name) if usable else ([], [])
    found = [*findings(health), *_embedding(wiring.try_embedder(embedder)), *_unfinished(vectors)]
    sick = any(finding.level == "problem" for finding in found)
    if call.json:
        call.tell("", _as_json(health, found, spaces, name, healthy=not sick) | _vectors_json(vectors))
    else:
        _show(health, found, spaces, name)
    if sick:
        raise click.exceptions.Exit(1)


def _embedding(trouble: str | None) -> "list[Finding]":
    from holdfast.domain.health import Finding

    if trouble is None:
        return []
    says = f"the embedder does not work: {trouble}"
    advice = "memories are kept and found by words; mend it, or set HOLDFAST_EMBEDDER=none"
    return [Finding("problem", says, advice)]


def _unfinished(vectors: "list[EmbeddingProgress]") -> "list[Finding]":
    """What is said of spaces whose vectors are not those that are wanted yet."""
    from holdfast.domain.health import Finding

    found = []
    for one in vectors:
        figures = f"{one.done:,} of {one.total:,}"
        if one.changing:
            says = f"re-embedding: {figures} in space {one.space!r}, with {one.wanted}"
            advice = f"until then {one.searched} is searched; `holdfast tend --space {one.space}` finishes it"
        elif not one.complete:
            says = f"embedding: {figures} in space {one.space!r}"
            advice = f"the next question does it, or `holdfast tend --space {one.space}`"
        else:
            continue
        found.append(Finding("note", says, advice))
    return found


def _spaces(call: Call, embedder: str | None) -> "tuple[list[Overview], list[EmbeddingProgress]]":
    from holdfast.engine.embedding_progress import embedding_progress
    from holdfast.engine.spaces import overview

    spaces, vectors = [], []
    with call.store() as store:
        for space in store.spaces():
            spaces.append(overview(space.name, store=store))
            with store.read(space.name) as tx:
                vectors.append(embedding_progress(embedder, tx))
    return spaces, vectors


def _vectors_json(vectors: "list[EmbeddingProgress]") -> dict[str, Any]:
    return {
        "vectors": [
            {
                "space": one.space,
                "wanted": one.wanted,
                "searched": one.searched,
                "done": one.done,
                "total": one.total,
                "complete": one.complete,
            }
            for one in vectors
        ]
    }


def _facts(health: "Health") -> list[tuple[str, str]]:
    product = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[health.kind]
    checked = "damaged" if health.damage else "ok" if health.kind == "sqlite" else "left to the server"
    facts = [
        ("database", say.one_line(health.where)),
        ("runs on", f"{product} {health.version or ''}".strip()),
    ]
    if not health.exists:
        return facts
    facts.append(("size", f"{health.size or 0:,} bytes"))
    facts += [("mode", f"{health.mode:04o}")] if health.mode is not None else []
    facts += [("log", f"{health.log_size:,} bytes")] if health.log_size is not None else []
    return [*facts, ("schema", health.revision or "no tables"), ("integrity", checked)]


def _show(health: "Health", found: "list[Finding]", spaces: "list[Overview]", embedder: str | None) -> None:
    waiting = sum(one.waiting for one in spaces)
    facts = [*_facts(health), ("inbox", f"{waiting:,} waiting"), ("embedder", embedder or _NO_EMBEDDER)]
    for name, value in facts:
        click.echo(f"{click.style(name.rjust(9), dim=True)}  {value}")
    if spaces:
        click.echo()
        overview_table(spaces).show()
    click.echo()
    for finding in found:
        colour = "red" if finding.level == "problem" else "yellow"
        click.echo(f"{click.style(finding.level, fg=colour)}: {say.one_line(finding.says)}")
        click.echo(f"  {say.one_line(finding.advice)}")
    if waiting:
        click.echo(f"{click.style('note', fg='yellow')}: {_waiting(waiting)} for a decision")
        click.echo("  `holdfast inbox` shows what waits in a space")
    if not any(finding.level == "problem" for finding in found):
        click.echo(click.style("all is well", fg="green"))


def _waiting(amount: int) -> str:
    return f"{say.memories(amount)} {'waits' if amount == 1 else 'wait'}"


def _as_json(
    health: "Health",
    found: "list[Finding]",
    spaces: "list[Overview]",
    embedder: str | None,
    *,
    healthy: bool,
) -> dict[str, Any]:
    return {
        "healthy": healthy,
        "database": {
            "where": health.where,
            "kind": health.kind,
            "exists": health.exists,
            "version": health.version,
            "size": health.size,
            "mode": None if health.mode is None else f"{health.mode:04o}",
            "log_size": health.log_size,
            "revision": health.revision,
            "head": health.head,
            "damage": list(health.damage),
        },
        "findings": [{"level": one.level, "says": one.says, "advice": one.advice} for one in found],
        "spaces": [as_json.overview(one) for one in spaces],
        "waiting": sum(one.waiting for one in spaces),
        "embedder": embedder,
    }
