"""The commands events and cooldowns."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from holdfast.domain.operations import Standing

_GENERAL = "general"


@click.command()
@click.option("--level", help="Only this level.")
@click.option("-s", "--service", help="Only this service.")
@click.option("--session", help="Only events of this session.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of results."
)
@in_space
@click.pass_obj
def events(call: Call, /, **asked: Any) -> None:
    """List events that agents reported, newest first.

    Agents report events with markers such as [EVENT:warning:jellyfin] in their output; see `holdfast run`.

    \b
        holdfast events --level critical --space ops
    """
    with call.memories() as memories:
        found = memories.events(**asked)
    if call.json or not found:
        return call.tell("No events", {"events": found})
    table = Table(
        [
            TableColumn(title="when (UTC)", style="dim"),
            TableColumn(title="level"),
            TableColumn(title="service", most=24),
            TableColumn(title="event", wraps=True, least=30),
        ]
    )
    for event in found:
        table.rows.append(
            (say.moment(event.created_at), event.level, event.service or _GENERAL, event.content)
        )
    return table.show()


@click.command()
@click.option("-s", "--service", help="Only this service.")
@in_space
@click.pass_obj
def cooldowns(call: Call, service: str | None) -> None:
    """List actions on cooldown.

    Shows recent actions with a cooldown and when the next one is allowed. The profile sets how many are
    allowed in how many hours.

    \b
        holdfast cooldowns --space ops
    """
    with call.memories() as memories:
        found = memories.cooldowns(service=service)
    if call.json or not found:
        nothing = "No recent actions with a cooldown"
        return call.tell(nothing, {"cooldowns": found})
    table = Table(
        [
            TableColumn(title="service", most=24),
            TableColumn(title="action"),
            TableColumn(title="used"),
            TableColumn(title="last"),
            TableColumn(title="next", wraps=True, least=20),
        ]
    )
    table.rows.extend(_row(standing) for standing in found)
    return table.show()


def _row(standing: "Standing") -> tuple[str, ...]:
    cooldown, last = standing.cooldown, standing.attempts[0]
    done = f"{len(standing.attempts)} of {cooldown.most} in {cooldown.hours:g} h"
    how = "success" if last.succeeded else "failure"
    another = "allowed now" if standing.free_at is None else f"from {say.moment(standing.free_at)} UTC"
    return standing.service, cooldown.name, done, f"{say.moment(last.created_at)} {how}", another
