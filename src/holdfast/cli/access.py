"""The command access: who read what."""

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space
from holdfast.cli.tables import Table, TableColumn
from holdfast.engine.doors import DOORS

if TYPE_CHECKING:
    from holdfast.domain.space import Access

_FEW = 3  # ids in a row of the table


@click.command()
@click.option("--memory", metavar="ID", help="Only reads that showed this memory.")
@click.option("--token", metavar="ID", help="Only reads with this token; see `holdfast token list`.")
@click.option("--door", type=click.Choice(DOORS), help="Only reads through this interface.")
@click.option("--days", type=click.IntRange(1, 3_650), help="Only reads of the last N days.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="Maximum number of results."
)
@in_space
def access(
    call: Call, memory: str | None, token: str | None, door: str | None, days: int | None, limit: int
) -> None:
    """Show who read what, newest first.

    A space records it after `holdfast space change NAME --access-log 90d`. The log has ids, never texts;
    --json lists all of them.

    \b
        holdfast access
        holdfast access --memory a1b2c3d4 --days 30
    """
    since = call.time()() - timedelta(days=days) if days else None
    with call.memories() as memories:
        found = memories.access_log(memory=memory, token=token, door=door, since=since, limit=limit)
        space = memories.overview().space
        names = {one.id: one.name or one.id for one in memories.store.tokens.all()}
    titles = ("when", "who", "door", "verb", "memories")
    table = Table([TableColumn(title=title, wraps=title == "memories") for title in titles])
    table.rows.extend(_row(one, names) for one in found)
    turn_on = f"turn it on with {say.command('space change', space.name, '--access-log 90d')}"
    nothing = "Nothing recorded" if space.access_log else f"Space {space.name} keeps no access log: {turn_on}"
    answer = {"accesses": found, "on": space.access_log, "days": space.access_log_days}
    call.tell(table if found else nothing, answer)


def _row(one: "Access", names: dict[str, str]) -> list[str]:
    who = names.get(one.token, one.token) if one.token else "this machine's user"
    ids = ", ".join(one.memories[:_FEW])
    more = len(one.memories) - _FEW
    said = f"{len(one.messages):,} messages" if one.messages else ""
    what = ids + (f" and {more:,} more" if more > 0 else "")
    return [
        f"{one.at:%Y-%m-%d %H:%M:%S}",
        who,
        one.door,
        one.verb,
        "; ".join(filter(None, (what, said))) or "-",
    ]
