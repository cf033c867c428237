"""What became of a draft, as the command line says it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

import click

from holdfast.cli import say

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.domain.outcomes import Outcome, Refused


def outcome(result: "Outcome", *, weighed: bool = True) -> str:
    """The outcome of a draft."""
    from holdfast.domain import outcomes

    stored = outcomes.settled(result)
    return _outcome(result, weighed) + (redacted(stored) if stored is not None else "")


def redacted(memory: "Memory") -> str:
    """A further line that names what was redacted in a memory; empty when nothing was."""
    return f"\n  Redacted before storing: {', '.join(memory.redacted)}" if memory.redacted else ""


def _outcome(result: "Outcome", weighed: bool) -> str:
    from holdfast.domain import outcomes

    match result:
        case outcomes.Added(memory, related):
            near = [f"  Similar: {say.line(other, weighed=weighed)}" for other in related]
            return "\n".join([_done("Added", say.line(memory, weighed=weighed)), *near])
        case outcomes.Reinforced(memory, previous, counted):
            return _reinforced(memory, previous, counted)
        case outcomes.Merged(memory, previous):
            return _done("Merged into", f"{say.line(memory, weighed=weighed)}{_grown(memory, previous)}")
        case outcomes.Contradicting(memory, weakened):
            return _contradicting(memory, weakened, weighed)
        case outcomes.UpdateSuggested(known, relation):
            how = "duplicate of" if relation == "same" else "contradicts"
            return "\n".join(
                [
                    f"Not stored: {how} {say.line(known, weighed=weighed)}",
                    f"  Edit it with {say.command('revise', known.id, 'TEXT')}",
                ]
            )
        case outcomes.Waiting(memory, reason, known):
            return _waiting(memory, reason, known)
        case outcomes.Refused():
            return f"Not stored: {refused(result)}"
        case _:
            assert_never(result)


def refused(result: "Refused") -> str:
    """Why a draft was not stored, and how to restore a deleted memory."""
    if result.deleted is None:
        return say.one_line(result.reason)
    back = f"{say.command('restore', result.known_id or '')} or " if result.deleted.restorable else ""
    return f"{say.one_line(result.reason)}: use {back}--anyway to store it again"


def _done(word: str, rest: str) -> str:
    return f"{click.style(word, fg='green')} {rest}"


def _reinforced(memory: "Memory", previous: "Memory", counted: bool) -> str:
    if not counted:
        why = "Already counted for this session; nothing changed"
        return f"Duplicate of {say.line(memory)}\n  {why}"
    step = f"{say.number(previous.confidence)} -> " if previous.confidence != memory.confidence else ""
    return _done(
        "Reinforced" if previous.active else "Reactivated",
        f"{say.identifier(memory.id)} ({step}{say.number(memory.confidence)})",
    )


def _grown(memory: "Memory", previous: "Memory") -> str:
    grown = []
    if memory.version != previous.version:
        grown.append(f"now version {memory.version}")
    if memory.importance != previous.importance:
        grown.append(f"importance {previous.importance} -> {memory.importance}")
    return f"\n  {', '.join(grown)}" if grown else ""


def _contradicting(memory: "Memory", weakened: Iterable["Memory"], weighed: bool) -> str:
    word = click.style("Added", fg="yellow")
    lines = [f"{word} {say.line(memory, weighed=weighed)}"]
    for old in weakened:
        now = f" (now {say.number(old.confidence)})" if weighed else ""
        lines.append(f"  Contradicts {say.identifier(old.id)}{now}: {say.one_line(old.content)}")
    return "\n".join([*lines, f"  All are kept and linked; see {say.command('why', memory.id)}"])


def _waiting(memory: "Memory", reason: str, known: Iterable["Memory"]) -> str:
    lines = [
        f"{click.style('Waiting', fg='yellow')} {say.headline(memory)}",
        f"  Reason: {say.one_line(reason)}",
    ]
    lines += [f"  Existing: {say.line(other)}" for other in known]
    lines.append(f"  Approve it with {say.command('inbox approve', memory.id)}, or use `reject`")
    return "\n".join(lines)
