"""The commands about sessions: list, show, name, undo."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space, wide_option
from holdfast.cli.tables import Styled, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.domain.memory import Session
    from holdfast.engine.memories import Memories


@click.group(invoke_without_command=True)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Maximum number of results."
)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Skip this many results.")
@click.option("--agent", "client", help="Only this agent, such as claude-code.")
@click.option("--project", help="Only this project.")
@click.option("--failed", is_flag=True, help="Only sessions that ended with an exit code other than 0.")
@wide_option
@in_space
def sessions(call: Call, limit: int, offset: int, wide: bool, **asked: Any) -> None:
    """List sessions of agents; show one or name it.

    Newest first. A session without a name is listed with the beginning of its first prompt.

    \b
        holdfast sessions
        holdfast sessions show last
        holdfast sessions name last "Upgrade of PostgreSQL"
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    from holdfast.domain.query import SessionFilter

    where = SessionFilter(upkeep=False, **asked)
    with call.memories() as memories:
        found = memories.sessions(limit=limit, offset=offset, where=where)
        total = memories.session_totals(where).sessions
        ids = [session.id for session in found]
        titles, tallies = memories.session_titles(*ids), memories.session_tallies(*ids)
    answer = [{"session": one, "title": titles.get(one.id), "counts": tallies[one.id]} for one in found]
    call.tell(_table(found, titles, tallies, wide) if found else "", {"sessions": answer})
    if not call.json:
        shown = say.part(len(found), offset, total, say.count(total, "session"))
        say.echo(click.style(shown if total else "No sessions", dim=True))


def _table(
    found: "list[Session]", titles: "Mapping[str, str]", tallies: "Mapping[str, tuple[int, int]]", wide: bool
) -> Table:
    ids = [session.id for session in found]
    table = Table(
        [
            TableColumn(title="started (UTC)", style="dim"),
            TableColumn(title="session", wraps=True, least=24),
            TableColumn(title="agent", most=16, spare=True),
            TableColumn(title="project", most=20, spare=True),
            TableColumn(title="messages", justify="right", spare=True),
            TableColumn(title="memories", justify="right", spare=True),
            TableColumn(title="id", style="cyan"),
        ],
        wide=wide,
    )
    told = ids if wide or not say.on_terminal() else _beginnings(ids)
    for one, known in zip(found, told, strict=True):
        name = [Styled(titles.get(one.id, "-"))]
        name += [Styled(f"(exit code {one.exit_code})", "red")] if one.exit_code else []
        about = (one.client or "-", one.project or "-", *map(str, tallies[one.id]))
        table.rows.append((say.moment(one.started_at), name, *about, known))
    return table


def _beginnings(ids: list[str]) -> list[str]:
    """Of each id as much as tells it from the others; every command takes that."""
    size = 8
    while len({known[:size] for known in ids}) < len(ids):
        size += 4
    return [known[:size] for known in ids]


@sessions.command()
@click.argument("session", metavar="SESSION")
@in_space
def show(call: Call, session: str) -> None:
    """Show what was said in a session and which memories came from it.

    SESSION is an id, a name or the beginning of either, or "last".

    \b
        holdfast sessions show last
    """
    with call.memories() as memories:
        session_id = memories.find_session(session)
        text, answer = _shown(memories, session_id)
    call.tell(text, answer)


def _shown(memories: "Memories", session_id: str) -> tuple[str, dict[str, object]]:
    from holdfast.domain.query import Filter

    found = memories.session(session_id)
    made = memories.find(Filter(session=session_id, states=("active", "inactive", "waiting"))).memories
    title = memories.session_titles(session_id).get(session_id)
    lines = [click.style(say.one_line(title or session_id), bold=True), f"  {_about(found.session)}", ""]
    for one in found.messages:
        said = say.one_line(one.content) if one.content is not None else "(text erased)"
        lines.append(f"{say.moment(one.said_at)}  {one.speaker or one.role}: {said}")
    if made:
        lines += ["", click.style("Memories", bold=True), *(f"  {say.line(memory)}" for memory in made)]
    return "\n".join(lines), {"title": title, "conversation": found, "memories": made}


def _about(session: "Session") -> str:
    ended = f", ended {say.moment(session.ended_at)} UTC" if session.ended_at else ", still open"
    failed = f" with exit code {session.exit_code}" if session.exit_code else ""
    of = [session.client, session.project and f"project {session.project}"]
    told = "".join(f", {say.one_line(part)}" for part in of if part)
    return f"{session.id}, started {say.moment(session.started_at)} UTC{ended}{failed}{told}"


@sessions.command()
@click.argument("session", metavar="SESSION")
@click.argument("name")
@in_space
def name(call: Call, session: str, name: str) -> None:
    """Give a session a name.

    \b
        holdfast sessions name last "Upgrade of PostgreSQL"
    """
    with call.memories() as memories:
        named = memories.name_session(memories.find_session(session), name)
    call.tell(f"Named session {named.id}: {say.one_line(named.name or '')}", {"session": named})


@click.command("undo-session")
@click.argument("session", metavar="SESSION")
@in_space
def undo_session(call: Call, session: str) -> None:
    """Undo everything that a session wrote.

    Deletes what it added and reverts what it changed. Memories that others confirmed or revised since are
    kept and listed. SESSION is an id, a name or the beginning of either, or "last": the latest session that
    changed a memory.

    \b
        holdfast undo-session last
        holdfast undo-session run-42
    """
    with call.memories() as memories:
        session_id = memories.find_session(session, wrote=True)
        title = memories.session_titles(session_id).get(session_id)
        started_at = memories.session(session_id).session.started_at
        undone = memories.undo_session(session_id)
    name = f"{session_id}{f' “{title}”' if title and title != session_id else ''}"
    which = say.one_line(f"session {name}, started {say.moment(started_at)} UTC")
    lines = [f"Deleted {say.headline(memory)}" for memory in undone.removed]
    lines += [f"Reverted {say.line(memory)}" for memory in undone.changed]
    lines += [f"Kept {say.line(memory)}: confirmed or revised by others since" for memory in undone.kept]
    if undone.links:
        lines.append(f"Removed {say.count(undone.links, 'link')}")
    if undone.removed:
        back = say.command("restore", *(memory.id for memory in undone.removed))
        lines.append(f"  Restore what was deleted with {back}")
    done = undone.removed or undone.changed or undone.links
    call.tell("\n".join([f"{'Undid' if done else 'Nothing to undo in'} {which}", *lines]), undone)
