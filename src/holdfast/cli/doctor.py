"""The command `doctor`: checks the installation and suggests fixes."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import named_database, say
from holdfast.cli.call import Call, on_store
from holdfast.cli.spaces import overview_table
from holdfast.wire.values import to_json

if TYPE_CHECKING:
    from holdfast.app.checkup import Checkup
    from holdfast.domain.health import Cluster, Damage, Health, ReplicaState
    from holdfast.engine.reading_queue import ReadingState

_NO_MODEL = "none: capture uses the built-in model only"
_LARGEST = 5  # spaces
_NO_EMBEDDER = "none: keyword search only"


@click.command()
@click.option("--repair", is_flag=True, help="Rebuild indexes and repair what can be repaired.")
@click.option("--all-spaces", is_flag=True, help="Look into every space, however many there are.")
@on_store
def doctor(call: Call, repair: bool, all_spaces: bool) -> None:
    """Check the installation and suggest fixes.

    Checks the database (path, permissions, size, schema, integrity, checksums of texts), a test write, the
    embedder, the service, connected agents, the hook log, the disk and the clock. Shows for each space
    its counts, texts that are not embedded yet, and the cost of models. Of a Citus cluster it shows the
    nodes, the shards, the largest spaces and what is not distributed. Exit code 1 when there is a problem.
    Of more than 100 spaces it looks into 100, others each time; --all-spaces into every one.

    --repair rebuilds vectors and the word index, removes orphaned rows, and restores damaged texts from their
    second copy.

    \b
        holdfast doctor
        holdfast doctor --json
        holdfast doctor --repair
        holdfast doctor --all-spaces
    """
    from holdfast.app import wiring
    from holdfast.app.checkup import checkup

    named_database.check(call.db, creates=False)
    seen = checkup(call.db, wiring.open_embedder(), clock=call.time(), mend=repair, every_space=all_spaces)
    if call.json:
        call.tell("", _as_json(seen))
    else:
        _show(seen)
    if not seen.healthy:
        raise click.exceptions.Exit(1)


def _models() -> str:
    from holdfast.settings import Settings

    settings = Settings.read()
    named = {
        "gate": settings.gate_model,
        "extract": settings.extract_model,
        "judge": settings.judge_model,
    }
    return ", ".join(f"{purpose} {spec.name}" for purpose, spec in named.items() if spec) or _NO_MODEL


def _spent(models: "Sequence[ReadingState]") -> str:
    from holdfast.domain.spend import dollars, total

    whole = total(one.spent for one in models)
    unknown = f", {say.count(whole.unpriced_calls, 'call')} with unknown price" * bool(whole.unpriced_calls)
    waiting = sum(one.waiting for one in models)
    queue = f", {say.count(waiting, 'passage')} to read" * bool(waiting)
    return f"{dollars(whole.micro_dollars)} in {say.count(whole.calls, 'call')}{unknown}{queue}"


def _facts(health: "Health") -> list[tuple[str, str]]:
    product = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[health.kind]
    checked = "damaged" if health.damage else "ok" if health.kind == "sqlite" else "checked by the server"
    facts = [
        ("database", say.one_line(health.where)),
        ("runs on", f"{product} {health.version or ''}".strip()),
    ]
    if not health.exists:
        return facts
    facts.append(("size", f"{health.size or 0:,} bytes"))
    facts += [("mode", f"{health.mode:04o}")] if health.mode is not None else []
    facts += [("log", f"{health.log_size:,} bytes")] if health.log_size is not None else []
    facts += [("schema", health.revision or "no tables"), ("integrity", checked)]
    return facts + (_nodes(health.cluster) if health.cluster else [])


def _nodes(cluster: "Cluster") -> list[tuple[str, str]]:
    on = Counter(cluster.places.values())
    nodes = [
        ("citus", f"{say.count(cluster.shards, 'shard')} a table, {say.count(len(cluster.nodes), 'node')}")
    ]
    for node in cluster.nodes:
        holds = say.count(on[node.name], "space") if node.holds else "coordinator, no spaces"
        nodes.append(("node", f"{node.name}: {holds if node.reached else 'UNREACHABLE'}"))
    return nodes


def _largest(seen: "Checkup") -> list[tuple[str, str]]:
    """The spaces with the most memories, and their nodes."""
    places = seen.health.cluster.places if seen.health.cluster else {}
    by_size = sorted(seen.spaces, key=lambda one: (-one.active - one.inactive, one.space.name))
    return [
        (
            "largest",
            f"{one.space.name}: {say.memories(one.active + one.inactive)}, on {places[one.space.name]}",
        )
        for one in by_size[:_LARGEST]
        if one.space.name in places
    ]


def _replica(replica: "ReplicaState | None") -> list[tuple[str, str]]:
    if replica is None:
        return []
    lag = f"{replica.bytes_behind:,} bytes behind" if replica.trouble is None else "not used"
    return [("replica", f"{say.one_line(replica.where)} ({lag})")]


def _show(seen: "Checkup") -> None:
    waiting = sum(one.waiting for one in seen.spaces)
    facts = [*_facts(seen.health), *_replica(seen.replica)]
    if len(seen.spaces) < seen.existing:
        facts.append(("spaces", f"{len(seen.spaces):,} of {seen.existing:,}: all that follows is of these"))
    facts.append(("inbox", f"{waiting:,} waiting"))
    facts += [("embedder", seen.embedder or _NO_EMBEDDER), ("models", _models())]
    facts += [("spent", _spent(seen.models)), *_largest(seen)]
    for name, value in facts:
        click.echo(f"{click.style(name.rjust(9), dim=True)}  {value}")
    if seen.spaces:
        click.echo()
        overview_table(list(seen.spaces)).show()
    click.echo()
    for damage in seen.mended:
        click.echo(f"{click.style('repaired', fg='green')}: {_mended(damage)}")
    for finding in seen.findings:
        todo = say.one_line(finding.command or finding.advice)
        colour = "red" if finding.level == "problem" else "yellow"
        click.echo(f"{click.style(finding.level, fg=colour)}: {say.one_line(finding.says)}")
        click.echo(f"  {say.hint(todo)}")
    if waiting:
        click.echo(f"{click.style('note', fg='yellow')}: {_waiting(waiting)} for approval")
        click.echo(say.hint("  review with `holdfast inbox`, per space"))
    if seen.healthy:
        click.echo(click.style("No problems found", fg="green"))


def _mended(damage: "Damage") -> str:
    counts = (
        (len(damage.texts), "text"),
        (damage.vectors, "vector"),
        (damage.words, "word index entry", "word index entries"),
        (damage.orphans, "orphan"),
    )
    found = [say.count(*each) for each in counts if each[0]]
    return f"space {damage.space}: {', '.join(found) or 'nothing to repair'}"


def _waiting(amount: int) -> str:
    return f"{say.memories(amount)} {'is' if amount == 1 else 'are'} waiting"


def _as_json(seen: "Checkup") -> dict[str, Any]:
    mode = seen.health.mode
    models = [
        {
            "space": one.space,
            "waiting": one.waiting,
            "failed": one.failed,
            "error": one.error,
            "calls": one.spent.calls,
            "dollars": one.spent.micro_dollars / 1_000_000,
        }
        for one in seen.models
    ]
    return {
        "healthy": seen.healthy,
        "database": {**to_json(seen.health), "mode": None if mode is None else f"{mode:04o}"},
        "findings": [
            {"level": one.level, "says": one.says, "advice": one.command or one.advice}
            for one in seen.findings
        ],
        "spaces": seen.spaces,
        "existing_spaces": seen.existing,
        "replica": seen.replica,
        "waiting": sum(one.waiting for one in seen.spaces),
        "embedder": seen.embedder,
        "repaired": seen.mended,
        "vectors": seen.vectors,
        "models": models,
    }
