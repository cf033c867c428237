"""The commands about tokens: create, list, revoke."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, on_store
from holdfast.cli.tables import Table, TableColumn
from holdfast.domain.access import SCOPES
from holdfast.wire.values import to_json

if TYPE_CHECKING:
    from holdfast.engine.administration import Administration
    from holdfast.engine.ports import Store, Token


@click.group()
@on_store
def token() -> None:
    """Manage access tokens: create, list, revoke.

    A token gives a program access to spaces of the service. Only a hash of its secret is stored.

    \b
        holdfast token create --space ops --scope read
        holdfast token list
    """


@token.command()
@click.option("--space", "spaces", multiple=True, metavar="NAME", help="A space; repeatable.")
@click.option("--all-spaces", is_flag=True, help="All spaces, including future ones.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(SCOPES),
    help="write includes read, admin includes all; repeatable.",
)
@click.option("--name", help="A label, shown in the list.")
@on_store
@click.pass_obj
def create(
    call: Call, spaces: tuple[str, ...], all_spaces: bool, scopes: tuple[str, ...], name: str | None
) -> None:
    """Create a token and show its secret once.

    \b
        holdfast token create --space ops --scope write --name "the ops agent"
        holdfast token create --all-spaces --scope admin
        TOKEN=$(holdfast token create --space ops --scope read --json | jq -r .token)
    """
    if bool(spaces) == all_spaces:
        raise click.UsageError("give either --space NAME or --all-spaces", click.get_current_context())
    with call.store() as store:
        made = _administration(call, store).create_token(*scopes, spaces=spaces or None, name=name)
    lines = [
        f"Created token {click.style(made.token.id, fg='cyan')}: {_may(made.token)}",
        f"  {made.secret}",
        "  Copy it now: it is not shown again",
    ]
    call.tell("\n".join(lines), {**to_json(made.token), "token": made.secret})


@token.command("list")
@on_store
@click.pass_obj
def list_(call: Call) -> None:
    """List the tokens, without their secrets.

    \b
        holdfast token list
    """
    with call.store() as store:
        found = _administration(call, store).tokens()
    if call.json:
        call.tell("", {"tokens": found, "total": len(found)})
        return
    if not found:
        click.echo("No tokens yet: create one with `holdfast token create --space NAME --scope read`")
        return
    titles = ("id", "name", "access", "created", "used", "revoked")
    table = Table([TableColumn(title=title, wraps=title in ("name", "access")) for title in titles])
    for one in found:
        days = (one.created_at, one.used_at, one.revoked_at)
        table.rows.append(
            [one.id, one.name or "-", _may(one), *(day.strftime("%Y-%m-%d") if day else "-" for day in days)]
        )
    table.show()


@token.command()
@click.argument("token_id", metavar="ID")
@on_store
@click.pass_obj
def revoke(call: Call, token_id: str) -> None:
    """Revoke a token, effective immediately.

    \b
        holdfast token revoke a1b2c3d4
    """
    with call.store() as store:
        ended = _administration(call, store).revoke_token(token_id)
    call.tell(f"Revoked token {ended.id}: {_may(ended)}", {"revoked": ended})


def _administration(call: Call, store: "Store") -> "Administration":
    from holdfast.engine.administration import Administration

    return Administration(store, clock=call.time())


def _may(one: "Token") -> str:
    where = "all spaces" if one.spaces is None else ", ".join(one.spaces) or "no space (deleted)"
    return say.one_line(f"{', '.join(one.scopes)} in {where}")
