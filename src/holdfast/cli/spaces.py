"""The commands about spaces: create, list, show, change, delete."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, confirm, on_store, store_options, wrong_usage
from holdfast.cli.limits import named, quota_options
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.domain.profile import Profile
    from holdfast.domain.space import Space
    from holdfast.engine.spaces import Overview


_MESSAGES = click.option(
    "--messages",
    type=click.Choice(("on", "off")),
    help="Store and search session messages. New spaces: on.",
)


@click.group()
@store_options
def space() -> None:
    """Manage spaces: create, list, show, change, delete.

    A space is a named, isolated set of memories with one profile.

    \b
        holdfast space create ops --profile ops
        holdfast space list
    """


@space.command()
@click.argument("name")
@click.option(
    "--profile",
    default="default",
    show_default=True,
    metavar="NAME|FILE.toml",
    help="default, ops, assistant, semantic, files, or your own TOML file.",
)
@_MESSAGES
@on_store
def create(call: Call, name: str, profile: str, messages: str | None) -> None:
    """Create a space with a profile.

    \b
        holdfast space create ops --profile ops
        holdfast space create lab --profile lab.toml --messages off
    """
    from holdfast.engine.spaces import create_space, set_keeps_messages

    text = _profile_text(profile) if profile.endswith(".toml") else None
    with call.store(creates=True) as store:
        made = create_space(name, store=store, clock=call.time(), profile=profile, text=text)
        if messages == "off":
            made = set_keeps_messages(name, False, store=store)
    kept = "" if made.keeps_messages else "; messages are not stored"
    call.tell(f"Created space {made.name} with profile {made.profile}{kept}", {"space": made})


@space.command()
@click.argument("name")
@_MESSAGES
@quota_options
@click.option(
    "--access-log",
    metavar="TIME|off",
    help="Record who reads what and keep the entries this long, such as 90d; or off. See `holdfast access`.",
)
@on_store
def change(call: Call, name: str, messages: str | None, access_log: str | None, **_: int | None) -> None:
    """Change the settings of a space; options that you leave out stay as they are.

    Without messages, memories can't cite their source messages and recall can't quote them. Messages stored
    before the change are kept. A quota limits new writes; existing data beyond it is kept.

    \b
        holdfast space change ops --messages off
        holdfast space change ops --max-memories 10000 --max-bytes none
        holdfast space change ops --access-log 90d
    """
    from holdfast.engine.administration import Administration

    changes = named()
    if messages is not None:
        changes["keeps_messages"] = messages == "on"
    if access_log is not None:
        changes |= _logging(access_log)
    if not changes:
        raise wrong_usage(
            "nothing to change: add --messages, --max-memories, --max-messages, --max-bytes or --access-log"
        )
    with call.store() as store:
        changed = Administration(store, clock=call.time()).change_space(name, **changes)
    call.tell(f"Space {changed.name}: {_settings(changed)}", {"space": changed})


def _logging(asked: str) -> dict[str, bool | int]:
    """What --access-log sets."""
    from holdfast.engine.tokens import duration

    if asked == "off":
        return {"access_log": False}
    days = duration(asked, "access-log").days
    if not days:
        raise Invalid("--access-log must be at least 1d, or off", field="access-log")
    return {"access_log": True, "access_log_days": days}


def _settings(found: "Space") -> str:
    quota = found.quota
    most = {"memories": quota.max_memories, "messages": quota.max_messages, "bytes": quota.max_bytes}
    limits = ", ".join(f"{limit:,} {what}" for what, limit in most.items() if limit is not None)
    log = f"kept for {say.count(found.access_log_days, 'day')}" if found.access_log else "off"
    stored = "stored" if found.keeps_messages else "not stored"
    return f"messages {stored}; quota: {limits or 'none'}; access log: {log}"


def _profile_text(file: str) -> str:
    """A profile's TOML, checked with the file's own name in what is wrong with it."""
    from holdfast.profiles import parse

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise Invalid(f"the profile {file!r} can't be read: {why}", field="profile") from None
    parse(text, where=file)
    return text


@space.command("list")
@on_store
def list_(call: Call) -> None:
    """List all spaces.

    \b
        holdfast space list
    """
    from holdfast.engine.spaces import overview

    with call.store() as store:
        found = [overview(one.name, store=store) for one in store.spaces()]
    none_yet = (
        "No spaces yet: `default` is created with the first memory; create others with "
        "`holdfast space create NAME`"
    )
    call.tell(overview_table(found) if found else say.hint(none_yet), {"spaces": found, "total": len(found)})


@space.command()
@click.argument("name")
@on_store
def show(call: Call, name: str) -> None:
    """Show a space: its profile, rules and counts.

    \b
        holdfast space show ops
    """
    from holdfast.engine.spaces import overview, profile_of

    with call.store() as store:
        found = overview(name, store=store)
    profile = profile_of(found.space)
    rules = {"name": profile.name, "says": profile.says, "categories": profile.category_names}
    call.tell(_described(found, profile), {"space": found, "profile": rules})


@space.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@on_store
def delete(call: Call, name: str, yes: bool) -> None:
    """Delete a space and everything in it for good.

    \b
        holdfast space delete lab
        holdfast space delete lab --yes
    """
    from holdfast.engine.spaces import delete_space, overview

    with call.store() as store:
        found = overview(name, store=store)
        held = found.active + found.inactive + found.waiting + found.forgotten
        confirm(
            f"This deletes space {name} with {say.memories(held)} and {say.count(found.sessions, 'session')} "
            "for good",
            yes=yes,
        )
        delete_space(name, store=store)
    call.tell(f"Deleted space {name} with {say.memories(held)}", {"deleted": name, "memories": held})


def overview_table(found: list["Overview"]) -> Table:
    counted = {"active": "active", "inactive": "inactive", "waiting": "waiting"}
    counted |= {"deleted": "forgotten", "sessions": "sessions"}
    columns = [TableColumn(title="space", style="cyan"), TableColumn(title="profile")]
    table = Table([*columns, *(TableColumn(title=title, justify="right") for title in counted)])
    for one in found:
        numbers = [f"{getattr(one, name):,}" for name in counted.values()]
        table.rows.append([one.space.name, one.space.profile, *numbers])
    return table


def _described(found: "Overview", profile: "Profile") -> str:
    policy, limits, block = profile.policy, profile.limits, profile.block
    width = max(map(len, profile.category_names))
    fades = (
        f"{say.number(policy.decay_by)} per week, after {policy.decay_after_days} days unconfirmed"
        if policy.decay_by
        else "never"
    )
    line = ", single line" if limits.one_line else ""
    lines = [
        f"{click.style(found.space.name, fg='cyan')}, profile {profile.name}: {say.one_line(profile.says)}",
        f"  memories   {found.active:,} active, {found.inactive:,} inactive, {found.waiting:,} waiting, "
        f"{found.forgotten:,} deleted; {say.count(found.sessions, 'session')}",
        f"  text       {limits.content_min:,} to {limits.content_max:,} characters{line}",
        f"  duplicate  {policy.on_same}; contradiction: {policy.on_contradiction}; "
        f"deletion: {policy.removal}",
        f"  decay      {fades}",
        f"  brief      {block.layout}, {block.budget:,} tokens",
        f"  settings   {_settings(found.space)}",
        f"  holds      {found.stored.memories:,} memories, {found.stored.messages:,} messages, "
        f"{found.stored.bytes:,} bytes of text",
        "  categories",
    ]
    for category in profile.categories:
        default = " (default)" if category.name == profile.default_category else ""
        lines.append(f"    {category.name.ljust(width)}  {say.one_line(category.says)}{default}")
    return "\n".join(lines)
