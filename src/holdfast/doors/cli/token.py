"""The commands about tokens: create, list, revoke."""

from typing import TYPE_CHECKING

import click

from holdfast import as_json
from holdfast.domain.grant import SCOPES
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, on_store
from holdfast.doors.cli.tables import Column, Table

if TYPE_CHECKING:
    from holdfast.administration import Administration
    from holdfast.engine.ports import Store, Token


@click.group()
@on_store
def token() -> None:
    """Create, list and revoke tokens for the service.

    A token lets its holder into spaces, to read or to write. Of its secret only a hash is kept.

    \b
        holdfast token create --space ops --scope read
        holdfast token list
    """


@token.command()
@click.option("--space", "spaces", multiple=True, metavar="NAME", help="A space; may be repeated.")
@click.option("--all-spaces", is_flag=True, help="Every space, those to come as well.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(SCOPES),
    help="write includes read, admin includes all; may be repeated.",
)
@click.option("--name", help="What it is for, so that you know it again.")
@on_store
@click.pass_obj
def create(
    call: Call, spaces: tuple[str, ...], all_spaces: bool, scopes: tuple[str, ...], name: str | None
) -> None:
    """Create a token and show its secret, once.

    \b
        holdfast token create --space ops --scope write --name "the ops agent"
        holdfast token create --all-spaces --scope admin
        TOKEN=$(holdfast token create --space ops --scope read --json | jq -r .token)
    """
    if bool(spaces) == all_spaces:
        raise click.UsageError("name the spaces: --space NAME, or --all-spaces", click.get_current_context())
    with call.store() as store:
        made = _administration(call, store).create_token(*scopes, spaces=spaces or None, name=name)
    lines = [
        f"created token {click.style(made.token.id, fg='cyan')}: {_may(made.token)}",
        f"  {made.secret}",
        "  it is not shown again: keep it where the program finds it",
    ]
    call.tell("\n".join(lines), {**as_json.token(made.token), "token": made.secret})


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
        call.tell("", {"tokens": [as_json.token(one) for one in found], "total": len(found)})
        return
    if not found:
        click.echo("no tokens yet: `holdfast token create --space NAME --scope read` makes one")
        return
    titles = ("id", "name", "may", "created", "used", "revoked")
    table = Table([Column(title=title, wraps=title in ("name", "may")) for title in titles])
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
    """End a token at once.

    \b
        holdfast token revoke a1b2c3d4
    """
    with call.store() as store:
        ended = _administration(call, store).revoke_token(token_id)
    call.tell(f"revoked token {ended.id}: {_may(ended)}", {"revoked": as_json.token(ended)})


def _administration(call: Call, store: "Store") -> "Administration":
    from holdfast.administration import Administration

    return Administration(store, clock=call.time())


def _may(one: "Token") -> str:
    where = "all spaces" if one.spaces is None else ", ".join(one.spaces) or "no space any more"
    return say.one_line(f"{', '.join(one.scopes)} in {where}")
