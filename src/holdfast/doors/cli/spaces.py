"""The commands about spaces: create, list, show, change, delete."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, confirm, on_store
from holdfast.doors.cli.tables import Column, Table
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.domain.profile import Profile
    from holdfast.engine.spaces import Overview


_MESSAGES = click.option(
    "--messages",
    type=click.Choice(("on", "off")),
    help="Whether what is said in sessions is kept and searched; on if not said.",
)


@click.group()
@on_store
def space() -> None:
    """Create, list, show, change and delete spaces.

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
    help="default, ops, assistant, semantic, files, or a TOML file of your own.",
)
@_MESSAGES
@on_store
@click.pass_obj
def create(call: Call, name: str, profile: str, messages: str | None) -> None:
    """Create a space with a profile.

    \b
        holdfast space create ops --profile ops
        holdfast space create lab --profile lab.toml --messages off
    """
    from holdfast.engine.spaces import create_space, set_keeps_messages

    text = _profile_text(profile) if profile.endswith(".toml") else None
    with call.store() as store:
        made = create_space(name, store=store, clock=call.time(), profile=profile, text=text)
        if messages == "off":
            made = set_keeps_messages(name, False, store=store)
    answer = {
        "space": {
            "name": made.name,
            "profile": made.profile,
            "keeps_messages": made.keeps_messages,
            "created_at": as_json.moment(made.created_at),
        }
    }
    kept = "" if made.keeps_messages else "; messages are not kept"
    call.tell(f"created space {made.name} with the profile {made.profile}{kept}", answer)


@space.command()
@click.argument("name")
@_MESSAGES
@on_store
@click.pass_obj
def change(call: Call, name: str, messages: str | None) -> None:
    """Change what a space keeps.

    Without messages, memories can't cite what was said and recall can't quote it. What was said before the
    change stays.

    \b
        holdfast space change ops --messages off
    """
    from holdfast.engine.spaces import set_keeps_messages

    if messages is None:
        raise click.UsageError("nothing to change: add --messages on or off", click.get_current_context())
    with call.store() as store:
        changed = set_keeps_messages(name, messages == "on", store=store)
    told = "keeps" if changed.keeps_messages else "no longer keeps"
    answer = {"space": {"name": changed.name, "keeps_messages": changed.keeps_messages}}
    call.tell(f"space {changed.name} {told} what is said in its sessions", answer)


def _profile_text(file: str) -> str:
    """A profile's TOML, checked with the file's own name in what is wrong with it."""
    from holdfast.profiles import parse

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise Invalid(f"the profile {file!r} can't be read: {why}", field="profile") from None
    parse(text, where=file)
    return text


@space.command("list")
@on_store
@click.pass_obj
def list_(call: Call) -> None:
    """List all spaces.

    \b
        holdfast space list
    """
    from holdfast.engine.spaces import overview

    with call.store() as store:
        found = [overview(one.name, store=store) for one in store.spaces()]
    if call.json:
        call.tell("", {"spaces": [as_json.overview(one) for one in found], "total": len(found)})
    elif found:
        overview_table(found).show()
    else:
        click.echo(
            "no spaces yet: `default` comes with the first memory, or use `holdfast space create NAME`"
        )


@space.command()
@click.argument("name")
@on_store
@click.pass_obj
def show(call: Call, name: str) -> None:
    """Show a space, its rules and what is in it.

    \b
        holdfast space show ops
    """
    from holdfast.engine.spaces import overview, profile_of

    with call.store() as store:
        found = overview(name, store=store)
    profile = profile_of(found.space)
    answer = {"space": as_json.overview(found), "profile": {"name": profile.name, "says": profile.says}}
    answer["profile"]["categories"] = list(profile.category_names)
    call.tell(_described(found, profile), answer)


@space.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@on_store
@click.pass_obj
def delete(call: Call, name: str, yes: bool) -> None:
    """Delete a space with everything in it, for good.

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
    call.tell(f"deleted space {name} with {say.memories(held)}", {"deleted": name, "memories": held})


def overview_table(found: list["Overview"]) -> Table:
    counted = ("active", "inactive", "waiting", "forgotten", "sessions")
    columns = [Column(title="space", style="cyan"), Column(title="profile")]
    table = Table([*columns, *(Column(title=name, justify="right") for name in counted)])
    for one in found:
        numbers = [f"{getattr(one, name):,}" for name in counted]
        table.rows.append([one.space.name, one.space.profile, *numbers])
    return table


def _described(found: "Overview", profile: "Profile") -> str:
    policy, limits, block = profile.policy, profile.limits, profile.block
    width = max(map(len, profile.category_names))
    fades = (
        f"{say.number(policy.decay_by)} a week after {policy.decay_after_days} days"
        if policy.decay_by
        else "never"
    )
    line = ", one line" if limits.one_line else ""
    lines = [
        f"{click.style(found.space.name, fg='cyan')}, profile {profile.name}: {say.one_line(profile.says)}",
        f"  holds      {found.active:,} active, {found.inactive:,} inactive, {found.waiting:,} waiting, "
        f"{found.forgotten:,} forgotten; {say.count(found.sessions, 'session')}",
        f"  text       {limits.content_min:,} to {limits.content_max:,} characters{line}",
        f"  known      {policy.on_same}; contradicted: {policy.on_contradiction}; removal: {policy.removal}",
        f"  fades      {fades}",
        f"  brief      {block.layout}, {block.budget:,} tokens",
        f"  messages   {'kept and searched' if found.space.keeps_messages else 'not kept'}",
        "  categories",
    ]
    for category in profile.categories:
        default = " (taken when none is given)" if category.name == profile.default_category else ""
        lines.append(f"    {category.name.ljust(width)}  {say.one_line(category.says)}{default}")
    return "\n".join(lines)
