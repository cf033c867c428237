"""The commands that show what happened to services: events, cooldowns."""

from typing import TYPE_CHECKING, Any

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space
from holdfast.doors.cli.tables import Column, Table

if TYPE_CHECKING:
    from holdfast.domain.operations import Standing

_GENERAL = "general"


@click.command()
@click.option("--level", help="Only this level.")
@click.option("-s", "--service", help="Only this service.")
@click.option("--session", help="Only what this session recorded.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most this many.")
@in_space
@click.pass_obj
def events(call: Call, /, **asked: Any) -> None:
    """List what agents reported, the latest first.

    An agent reports with markers such as [EVENT:warning:jellyfin] in its answers; see `holdfast run`.

    \b
        holdfast events --level critical --space ops
    """
    with call.memories() as memories:
        found = memories.events(**asked)
    if call.json or not found:
        return call.tell("no events", {"events": [as_json.event(event) for event in found]})
    table = Table(
        [
            Column(title="when (UTC)", style="dim"),
            Column(title="level"),
            Column(title="service", most=24),
            Column(title="what", wraps=True, least=30),
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
    """List the actions that services are resting from, and whether another is allowed.

    The profile says which actions count and how many are allowed within how many hours.

    \b
        holdfast cooldowns --space ops
    """
    with call.memories() as memories:
        found = memories.cooldowns(service=service)
    if call.json or not found:
        nothing = "nothing was done of late that has a cooldown"
        return call.tell(nothing, {"cooldowns": [as_json.standing(standing) for standing in found]})
    table = Table(
        [
            Column(title="service", most=24),
            Column(title="action"),
            Column(title="done"),
            Column(title="last"),
            Column(title="another", wraps=True, least=20),
        ]
    )
    table.rows.extend(_row(standing) for standing in found)
    return table.show()


def _row(standing: "Standing") -> tuple[str, ...]:
    cooldown, last = standing.cooldown, standing.attempts[0]
    done = f"{len(standing.attempts)} of {cooldown.most} in {cooldown.hours:g} h"
    how = "success" if last.succeeded else "failure"
    another = "allowed" if standing.free_at is None else f"not before {say.moment(standing.free_at)} UTC"
    return standing.service, cooldown.name, done, f"{say.moment(last.created_at)} {how}", another
