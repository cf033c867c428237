"""The commands events, cooldowns and spend."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from holdfast.domain.operations import CooldownStatus
    from holdfast.domain.spend import GroupedBy, SpendReport, Spent

_GENERAL = "general"


@click.command()
@click.option("--level", help="Only this level.")
@click.option("-s", "--service", help="Only this service.")
@click.option("--session", help="Only events of this session.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of results."
)
@in_space
def events(call: Call, /, **asked: Any) -> None:
    """List events that agents reported, newest first.

    Agents report events with markers such as [EVENT:warning:jellyfin] in their output; see `holdfast run`.

    \b
        holdfast events --level critical --space ops
    """
    with call.memories() as memories:
        found = memories.events(**asked)
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
    call.tell(table if found else "No events", {"events": found})


@click.command()
@click.option("-s", "--service", help="Only this service.")
@in_space
def cooldowns(call: Call, service: str | None) -> None:
    """List actions on cooldown.

    Shows recent actions with a cooldown and when the next one is allowed. The profile sets how many are
    allowed in how many hours.

    \b
        holdfast cooldowns --space ops
    """
    with call.memories() as memories:
        found = memories.cooldowns(service=service)
    table = Table(
        [
            TableColumn(title="service", most=24),
            TableColumn(title="action"),
            TableColumn(title="used"),
            TableColumn(title="last"),
            TableColumn(title="next", wraps=True, least=20),
        ]
    )
    table.rows.extend(_cooldown_row(standing) for standing in found)
    call.tell(table if found else "No recent actions with a cooldown", {"cooldowns": found})


def _cooldown_row(standing: "CooldownStatus") -> tuple[str, ...]:
    cooldown, last = standing.cooldown, standing.attempts[0]
    done = f"{len(standing.attempts)} of {cooldown.most} in {cooldown.hours:g} h"
    how = "success" if last.succeeded else "failure"
    another = "allowed now" if standing.free_at is None else f"from {say.moment(standing.free_at)} UTC"
    return standing.service, cooldown.name, done, f"{say.moment(last.created_at)} {how}", another


@click.command()
@click.option(
    "--by",
    type=click.Choice(["purpose", "model", "day", "session"]),
    default="purpose",
    show_default=True,
    help="Group by.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Only the last N days, including today.")
@in_space
def spend(call: Call, by: "GroupedBy", days: int | None) -> None:
    """Show language model usage and cost.

    Costs are estimates from list prices; "+" marks calls to models without a known price. By default no model
    is used and nothing is spent. Set limits with HOLDFAST_DAILY_CAP and HOLDFAST_SESSION_CAP.

    \b
        holdfast spend
        holdfast spend --by day --days 7
    """
    with call.memories() as memories:
        report = memories.spend(by=by, days=days)
    if call.json:
        call.tell("", report)
    else:
        _show_spend(report)


def _show_spend(report: "SpendReport") -> None:
    from holdfast.cli.tables import Table, TableColumn

    if not report.total.calls:
        click.echo("Nothing spent")
    else:
        figures = [
            TableColumn(title=title, justify="right") for title in ("calls", "input", "cached", "output")
        ]
        table = Table([TableColumn(title=report.by), *figures, TableColumn(title="cost", justify="right")])
        for name, spent in report.groups:
            table.rows.append(_spend_row(say.one_line(name or "(none)"), spent))
        table.rows.append(_spend_row("total", report.total))
        table.show()
    click.echo(f"Today: {_money(report.today)}{_caps(report)}")
    if report.stopped:
        click.echo(f"Models are paused until tomorrow (UTC), rules continue: {report.stopped}")


def _spend_row(name: str, spent: "Spent") -> list[str]:
    usage = spent.usage
    counts = (spent.calls, usage.input, usage.cached, usage.output)
    return [name, *(f"{count:,}" for count in counts), _money(spent)]


def _money(spent: "Spent") -> str:
    from holdfast.domain.spend import dollars

    return dollars(spent.micro_dollars) + ("+" if spent.unpriced_calls else "")


def _caps(report: "SpendReport") -> str:
    from holdfast.domain.spend import dollars

    caps = [
        f"{dollars(cap)} per {name}"
        for cap, name in ((report.caps.daily, "day"), (report.caps.session, "session"))
        if cap is not None
    ]
    return f" (limit: {', '.join(caps)})" if caps else ""
