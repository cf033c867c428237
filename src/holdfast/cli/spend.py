"""The command `spend`: language model usage and cost."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.domain.spend import GroupedBy, SpendReport, Spent


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
@click.pass_obj
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
        _show(report)


def _show(report: "SpendReport") -> None:
    from holdfast.cli.tables import Table, TableColumn

    if not report.total.calls:
        click.echo("Nothing spent")
    else:
        figures = [
            TableColumn(title=title, justify="right") for title in ("calls", "input", "cached", "output")
        ]
        table = Table([TableColumn(title=report.by), *figures, TableColumn(title="cost", justify="right")])
        for name, spent in report.groups:
            table.rows.append(_row(say.one_line(name or "(none)"), spent))
        table.rows.append(_row("total", report.total))
        table.show()
    click.echo(f"Today: {_money(report.today)}{_caps(report)}")
    if report.stopped:
        click.echo(f"Models are paused until tomorrow (UTC), rules continue: {report.stopped}")


def _row(name: str, spent: "Spent") -> list[str]:
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
