"""The commands show and why: a memory's details and its history."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.history import Entry, Story, Use
    from holdfast.domain.memory import Link, Memory, Message, Repetition, Source, Version
    from holdfast.engine.find import Details

_INDENT = "  "
_SEEN_FROM_THE_OTHER_END = {
    "contradicts": "contradicted by",
    "supersedes": "superseded by",
    "elaborates": "elaborated by",
    "related": "related to",
}


@click.command()
@click.argument("memory_id", metavar="ID")
@in_space
def show(call: Call, memory_id: str) -> None:
    """Show one memory in full.

    \b
        holdfast show a1b2c3d4
    """
    with call.memories() as memories:
        found = memories.show(memories.find_memory(memory_id))
    call.tell(details(found), found)


@click.command()
@click.argument("memory_id", metavar="ID")
@in_space
def why(call: Call, memory_id: str) -> None:
    """Explain where a memory came from and why it is trusted.

    Shows its source, history, versions, links, and the prompts that it was used in.

    \b
        holdfast why a1b2c3d4
    """
    with call.memories() as memories:
        found = memories.why(memories.find_memory(memory_id))
    call.tell(story(found), found)


def details(found: "Details") -> str:
    """`show`: one memory in full."""
    memory = found.memory
    fields = [
        ("category", memory.category),
        ("subject", memory.subject),
        ("summary", memory.summary),
        ("project", memory.project),
        ("tags", ", ".join(memory.tags)),
        ("state", _state(memory)),
        ("private", f"only {memory.source.person} sees it" if memory.private else ""),
        ("confidence", say.number(memory.confidence)),
        ("importance", str(memory.importance)),
        ("origin", _source(memory.source)),
        ("version", str(memory.version)),
        ("created", f"{say.moment(memory.created_at)} UTC"),
        ("updated", f"{say.moment(memory.updated_at)} UTC"),
        ("recalled", _accesses(memory)),
    ]
    width = max(len(name) for name, _ in fields)
    lines = [say.identifier(memory.id), ""]
    lines += [_INDENT + text for text in say.visible(memory.content).split("\n")]
    lines.append("")
    lines += [f"{_dim(name.rjust(width))}  {say.one_line(value)}" for name, value in fields if value]
    if len(found.versions) > 1:
        lines += _section("Versions", map(_version, found.versions))
    lines += _section("Links", (_link(memory, tie) for tie in found.links))
    return "\n".join(lines)


def story(told: "Story") -> str:
    """`why`: its source and its history up to now."""
    memory = told.memory
    lines = [say.headline(memory), f"{_INDENT}{_belief(memory)}"]
    came = [f"{_source(memory.source)}, {say.moment(memory.created_at)} UTC"]
    if told.session is not None:
        session = told.session
        about = [session.name, session.client, session.project and f"project {session.project}"]
        rest = ", ".join(part for part in about if part)
        opened = f"session {session.id}, started {say.moment(session.started_at)} UTC"
        came.append(f"{opened}{f' ({rest})' if rest else ''}")
    came += [_message(message) for message in told.messages]
    lines += _section("Source", came)
    lines += _section("History", map(_entry, told.entries))
    lines += _section("Versions", map(_version, told.versions))
    lines += _section("Duplicates", map(_repetition, told.repetitions))
    if told.repetitions:
        lines.append(f"{_INDENT}Split off a wrong one with {say.command('split', memory.id, 'N')}")
    lines += _section("Links", (_link(memory, tie) for tie in told.links))
    lines += _section("Used in prompts", map(_use, told.uses))
    return "\n".join(lines)


def _section(title: str, rows: "Iterable[str]") -> list[str]:
    found = list(rows)
    if not found:
        return []
    return ["", click.style(title, bold=True), *(_INDENT + say.one_line(row) for row in found)]


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _belief(memory: "Memory") -> str:
    return f"confidence {say.number(memory.confidence)}, {_state(memory)}, version {memory.version}"


def _state(memory: "Memory") -> str:
    waits = f" ({memory.waiting_for})" if memory.waiting_for else ""
    pinned = ", pinned" if memory.pinned else ""
    return f"{say.state(memory.state)}{say.one_line(waits)}{pinned}"


def _source(source: "Source") -> str:
    tier = f", tier {source.tier}" if source.tier is not None else ""
    by = f"{source.person} ({source.origin})" if source.person else source.origin
    return f"{by}{f' in session {source.session}' if source.session else ''}{tier}"


def _accesses(memory: "Memory") -> str:
    if memory.accessed_at is None:
        return "never"
    return f"{say.count(memory.accesses, 'time')}, last {say.moment(memory.accessed_at)} UTC"


def _message(message: "Message") -> str:
    who = message.speaker or message.role
    said = f'"{message.content}"' if message.content is not None else "(text erased)"
    return f"message {message.number}, {say.moment(message.said_at)} UTC, {who}: {said}"


def _entry(entry: "Entry") -> str:
    notes: list[str] = [f"{entry.person} ({entry.origin})" if entry.person else entry.origin]
    notes += [f"session {entry.session}"] if entry.session else []
    notes += [entry.note] if entry.note else []
    notes += [entry.judged] if entry.judged else []
    did = say.state(entry.action)
    return f"{say.moment(entry.created_at)}  {did:<12}  {_step(entry):<12}  {', '.join(notes)}"


def _step(entry: "Entry") -> str:
    before = entry.before.get("confidence") if entry.before else None
    after = entry.after.get("confidence") if entry.after else None
    if after is None:
        return ""
    if before is None or before == after:
        return say.number(after)
    return f"{say.number(before)} -> {say.number(after)}"


def _version(version: "Version") -> str:
    when = say.moment(version.created_at)
    by = version.source.person or version.source.origin
    return f"{version.number}  {when}  {by}: {version.content}"


def _repetition(wording: "Repetition") -> str:
    return f"{wording.number}  {say.moment(wording.created_at)}  {_source(wording.source)}: {wording.content}"


def _link(memory: "Memory", tie: "Link") -> str:
    if tie.from_id == memory.id:
        how = "related to" if tie.kind == "related" else tie.kind
        return f"{how} {tie.to_id}  ({say.moment(tie.created_at)})"
    return f"{_SEEN_FROM_THE_OTHER_END[tie.kind]} {tie.from_id}  ({say.moment(tie.created_at)})"


def _use(use: "Use") -> str:
    told = [use.kind]
    told += [f'"{use.query}"'] if use.query else []
    told += [f"session {use.session}"] if use.session else []
    told += [f"version {use.version}"]
    told += ["marked as not helpful"] if use.unhelpful_at else []
    if use.score is not None:
        parts = " x ".join(f"{name} {say.number(value)}" for name, value in (use.parts or {}).items())
        told.append(f"score {say.number(use.score)}{f' = {parts}' if parts else ''}")
    return f"{say.moment(use.created_at)}  {', '.join(told)}"
