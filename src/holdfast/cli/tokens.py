"""The commands for access tokens: create, list, change, rotate, revoke."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, on_store, store_options, wrong_usage
from holdfast.cli.limits import LimitType, named, quota_options
from holdfast.cli.tables import Table, TableColumn
from holdfast.domain.access import SCOPES
from holdfast.wire.values import to_json

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.space import Token
    from holdfast.engine.administration import Administration
    from holdfast.engine.ports import Store
    from holdfast.engine.tokens import IssuedToken

_RATE = click.option(
    "--max-requests",
    type=LimitType(),
    metavar="N|none",
    help="Most requests per minute, at each instance of the service.",
)


@click.group()
@store_options
def token() -> None:
    """Manage access tokens: create, list, change, rotate, revoke.

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
    help="write includes tools, tools includes read, admin includes all; repeatable.",
)
@click.option("--name", help="A label, shown in the list.")
@click.option("--person", help="Who uses it: what is written with it says so.")
@click.option(
    "--expires",
    default="365d",
    show_default=True,
    metavar="TIME|never",
    help="When it stops working: 24h, 90d, 8w.",
)
@_RATE
@quota_options
@on_store
def create(
    call: Call,
    spaces: tuple[str, ...],
    all_spaces: bool,
    scopes: tuple[str, ...],
    name: str | None,
    person: str | None,
    expires: str,
    max_requests: int | None,
    max_memories: int | None,
    max_messages: int | None,
    max_bytes: int | None,
) -> None:
    """Create a token and show its secret once.

    Scope tools is write without posting messages: those of the role user count as said by a person.
    Limits count what the token adds to each of its spaces; deleting gives nothing back.

    \b
        holdfast token create --space ops --scope write --name "the ops agent" --person ana
        holdfast token create --space ops --scope read --expires 90d --max-requests 120
        TOKEN=$(holdfast token create --space ops --scope read --json | jq -r .token)
    """
    from holdfast.domain.space import Quota
    from holdfast.engine.tokens import lifetime

    if bool(spaces) == all_spaces:
        raise wrong_usage("give either --space NAME or --all-spaces")
    quota = Quota(max_memories=max_memories, max_messages=max_messages, max_bytes=max_bytes)
    with call.store(creates=True) as store:
        made = _administration(call, store).create_token(
            *scopes,
            spaces=spaces or None,
            name=name,
            person=person,
            lifetime=lifetime(expires),
            max_requests=max_requests,
            quota=quota,
        )
    _tell_secret(call, "Created", made)


@token.command("list")
@on_store
def list_(call: Call) -> None:
    """List the tokens, without their secrets.

    \b
        holdfast token list
    """
    with call.store() as store:
        found = _administration(call, store).tokens()
    persons = ("person",) if any(one.person for one in found) else ()
    titles = ("id", "name", *persons, "access", "limits", "created", "used", "expires", "revoked")
    wide = ("name", "access", "limits")
    table = Table([TableColumn(title=title, wraps=title in wide) for title in titles])
    for one in found:
        expires = _day(one.expires_at) if one.expires_at else "never"
        days = (_day(one.created_at), _day(one.used_at), expires, _day(one.revoked_at))
        whose = [one.person or "-"] if persons else []
        table.rows.append([one.id, one.name or "-", *whose, _may(one), _limits(one), *days])
    none_yet = "No tokens yet: create one with `holdfast token create --space NAME --scope read`"
    call.tell(table if found else none_yet, {"tokens": found, "total": len(found)})


@token.command()
@click.argument("token_id", metavar="ID")
@_RATE
@quota_options
@on_store
def change(call: Call, token_id: str, **_: int | None) -> None:
    """Change the limits of a token; options that you leave out stay as they are.

    \b
        holdfast token change a1b2c3d4 --max-requests 120 --max-memories none
    """
    limits = named("max_requests")
    if not limits:
        raise wrong_usage(
            "nothing to change: add --max-requests, --max-memories, --max-messages or --max-bytes"
        )
    with call.store() as store:
        changed = _administration(call, store).change_token(token_id, **limits)
    call.tell(f"Token {changed.id}: {_limits(changed)}", {"token": changed})


@token.command()
@click.argument("token_id", metavar="ID")
@click.option(
    "--grace",
    default="0h",
    show_default=True,
    metavar="TIME",
    help="How long the old secret still works: 24h, 7d.",
)
@click.option(
    "--expires",
    metavar="TIME|never",
    help="When the new one expires. Default: after the same time as before.",
)
@on_store
def rotate(call: Call, token_id: str, grace: str, expires: str | None) -> None:
    """Give a token a new secret and show it once.

    The old secret stops working at once, or after --grace.

    \b
        holdfast token rotate a1b2c3d4
        holdfast token rotate a1b2c3d4 --grace 24h
    """
    from holdfast.engine.administration import SAME
    from holdfast.engine.tokens import duration, lifetime

    until = SAME if expires is None else lifetime(expires)
    with call.store() as store:
        administration = _administration(call, store)
        made = administration.rotate_token(token_id, grace=duration(grace, "grace"), lifetime=until)
    _tell_secret(call, "Rotated", made)


@token.command()
@click.argument("token_id", metavar="ID")
@on_store
def revoke(call: Call, token_id: str) -> None:
    """Revoke a token, effective immediately.

    \b
        holdfast token revoke a1b2c3d4
    """
    with call.store() as store:
        ended = _administration(call, store).revoke_token(token_id)
    call.tell(f"Revoked token {ended.id}: {_may(ended)}", {"revoked": ended})


def _tell_secret(call: Call, what: str, made: "IssuedToken") -> None:
    one = made.token
    until = f"expires on {_day(one.expires_at)}" if one.expires_at else "never expires"
    lines = [
        f"{what} token {click.style(one.id, fg='cyan')}: {_may(one)}, {until}",
        f"  {made.secret}",
        "  Copy it now: it is not shown again",
    ]
    if one.old_until is not None and one.rotated_at is not None:
        left = (
            f"works until {one.old_until:%Y-%m-%d %H:%M} UTC"
            if one.old_until > one.rotated_at
            else "no longer works"
        )
        lines.append(f"  The old secret {left}")
    call.tell("\n".join(lines), {**to_json(one), "token": made.secret})


def _administration(call: Call, store: "Store") -> "Administration":
    from holdfast.engine.administration import Administration

    return Administration(store, clock=call.time())


def _day(moment: "datetime | None") -> str:
    return moment.strftime("%Y-%m-%d") if moment else "-"


def _may(one: "Token") -> str:
    where = "all spaces" if one.spaces is None else ", ".join(one.spaces) or "no space (deleted)"
    whose = f", for {one.person}" if one.person else ""
    return say.one_line(f"{', '.join(one.scopes)} in {where}{whose}")


def _limits(one: "Token") -> str:
    most = {
        "requests/min": one.max_requests,
        "memories": one.quota.max_memories,
        "messages": one.quota.max_messages,
        "bytes": one.quota.max_bytes,
    }
    return ", ".join(f"{limit:,} {what}" for what, limit in most.items() if limit is not None) or "none"
