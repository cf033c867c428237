"""`/memory`: the chat command for memories, with plain text answers.

One function for Telegram, the command line and the chat agent. It calls no model; the
caller splits long answers.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, assert_never

from holdfast.agents.memory_lines import bullet, capital, question, quote, quoted, sentence
from holdfast.domain import outcomes
from holdfast.domain.query import Filter, newer_first
from holdfast.domain.text import clean
from holdfast.errors import Conflict, HoldfastError, NotFound

if TYPE_CHECKING:
    from holdfast.client import Client
    from holdfast.engine.memories import Memories

    Either = Memories | Client

COMMAND = "/memory"
_MAX_ECHOED = 40  # of an unknown command
_MAX_COMPARED = 10_000  # memories among which a mistyped id is looked for


@dataclass(frozen=True, slots=True)
class InboxQuestion:
    """Something in the inbox that a person can decide."""

    memory_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CommandReply:
    """The answer; `questions` holds the inbox items that it lists, for interfaces with buttons."""

    text: str
    failed: bool = False
    questions: tuple[InboxQuestion, ...] = ()


def answer(memories: "Either", text: str, *, command: str = COMMAND) -> str:
    """The text that answers `/memory …`; `command` is what people type there to reach this function."""
    return reply(memories, text, command=command).text


def asked(text: str) -> bool:
    """Whether `text` is the command, with or without words behind it."""
    return is_command((text.split(maxsplit=1) or [""])[0])


def is_command(word: str) -> bool:
    """Whether a word is the command: phones begin what is typed with a capital."""
    return word.casefold() == COMMAND


def reply(memories: "Either", text: str, *, command: str = COMMAND) -> CommandReply:
    """The same, with whether it was done. Errors are part of the text, never raised."""
    words = text.split()
    if words and is_command(words[0]):
        words, text = words[1:], text.split(maxsplit=1)[1] if words[1:] else ""
    word, rest = (words[0].lower(), words[1:]) if words else ("list", [])
    if word == "inbox" and rest and rest[0].lower() in _DECISIONS:
        word, rest = rest[0].lower(), rest[1:]
    try:
        if word in _WITH_TEXT:
            return _WITH_TEXT[word](memories, text.split(maxsplit=1)[1] if rest else "", command)
        if word in _ABOUT_SOME:
            return _about_some(memories, word, rest, command)
        if word == "list" and len(rest) == 1:
            return _listed(memories, command, rest[0].lower())
        if word in _ABOUT_ALL and not rest:
            return _ABOUT_ALL[word](memories, command)
    except HoldfastError as error:
        return CommandReply(f"Failed: {error}.", failed=True)
    said = clean(" ".join([word, *rest]), one_line=True)[:_MAX_ECHOED]
    return CommandReply(f"Unknown command {said!r}.\n\n{usage(command)}", failed=True)


def usage(command: str = COMMAND) -> str:
    """What can be typed."""
    return "\n".join(
        f"{command}{' ' if words else ''}{words} - {says}"
        for words, says in {
            "": "list memories",
            "list CATEGORY": "list one category; `list deleted` lists deleted memories",
            "show ID": "show a memory with its earlier versions",
            "add TEXT": "add a memory; start TEXT with #CATEGORY to set its category",
            "update ID TEXT": "replace the text of a memory",
            "delete ID": "delete one or more memories",
            "restore ID": "restore a deleted memory",
            "inbox": "list memories waiting for approval",
            "approve ID": "approve a waiting memory",
            "reject ID": "reject a waiting memory for good",
        }.items()
    )


# ----------------------------------------------------------------------------------------------- all of them


def _listed(memories: "Either", command: str, which: str = "all") -> CommandReply:
    """All of them, those of a category, or those that were deleted."""
    deleted = which == "deleted"
    page = memories.find(
        Filter(states=("forgotten",)) if deleted else Filter(category=None if which == "all" else which)
    )
    if not page.memories:
        what = " yet" if which == "all" else _of(which)
        return CommandReply("No deleted memories." if deleted else f"No memories{what}.")
    lines = [f"Your {'deleted ' if deleted else ''}memories ({page.total:,}):"]
    for category, group in groupby(page.memories, key=lambda memory: memory.category):
        lines += ["", capital(category), *map(bullet, newer_first(list(group)))]
    more = page.total - len(page.memories)
    lines += ["", f"{more:,} more not shown."] if more else []
    if deleted:
        return CommandReply("\n".join([*lines, "", f"Use {command} restore ID to restore one."]))
    waiting = len(memories.inbox())
    lines += ["", f"{waiting:,} waiting for approval: {command} inbox"] if waiting else []
    return CommandReply("\n".join([*lines, "", f"Use {command} delete ID to remove one."]))


def _inbox(memories: "Either", command: str) -> CommandReply:
    items = memories.inbox()
    if not items:
        return CommandReply("The inbox is empty.")
    questions = tuple(InboxQuestion(item.memory.id, question(item)) for item in items)
    lines = [f"Waiting for approval ({len(items):,}):", "", "\n\n".join(each.text for each in questions)]
    how = f"Use {command} approve ID or {command} reject ID."
    return CommandReply("\n".join([*lines, "", how]), questions=questions)


def _help(_: "Either", command: str) -> CommandReply:
    return CommandReply(usage(command))


def _of(category: str) -> str:
    return f" in category {clean(category, one_line=True)[:_MAX_ECHOED]}"


_ABOUT_ALL: Mapping[str, Callable[["Either", str], CommandReply]] = {
    "list": _listed,
    "inbox": _inbox,
    "help": _help,
}


# ----------------------------------------------------------------------------------------------- one of them


def _about_some(memories: "Either", word: str, rest: list[str], command: str) -> CommandReply:
    """Applies a command to each id in order; a failure of one does not stop the others."""
    if not rest:
        return _say_which(word, command)
    told = [_about_one(memories, word, each, command) for each in dict.fromkeys(map(_id_in, rest))]
    return CommandReply("\n".join(each.text for each in told), failed=any(each.failed for each in told))


def _about_one(memories: "Either", word: str, memory_id: str, command: str) -> CommandReply:
    try:
        return _ABOUT_SOME[word](memories, memory_id, command)
    except (NotFound, Conflict):
        return CommandReply(_otherwise(memories, memory_id, command), failed=True)


def _id_in(word: str) -> str:
    """An id as copied from a list or a brief, without the characters around it."""
    bare = word.strip("[]()<>'\"`.,")
    return bare[3:] if bare[:3].lower() == "id:" else bare


def _say_which(word: str, command: str) -> CommandReply:
    kind = f"{command} inbox" if word in _DECISIONS else command
    return CommandReply(f"Missing id: {command} {word} ID. {kind} lists the ids.", failed=True)


def _show(memories: "Either", memory_id: str, command: str) -> CommandReply:
    found = memories.show(memory_id)
    known = found.memory
    facts = [known.state, f"{known.created_at:%Y-%m-%d}", f"from {known.source.origin}"]
    lines = [f"[{known.id}] {sentence(known)}", f"  {capital(known.category)}, {', '.join(facts)}"]
    earlier = found.versions[:-1]
    lines += [f"  {each.created_at:%Y-%m-%d}: {quote(each.content)}" for each in earlier]
    return CommandReply("\n".join(lines))


def _delete(memories: "Either", memory_id: str, command: str) -> CommandReply:
    gone = memories.forget(memory_id)
    back = f"Undo: {command} restore {gone.memory.id}" if gone.restorable else "It can't be restored."
    return CommandReply(f"Deleted: {quoted(gone.memory)}\n{back}")


def _restore(memories: "Either", memory_id: str, command: str) -> CommandReply:
    back = memories.restore(memory_id)
    waits = f"\nIt is waiting for approval again: {command} inbox" if back.state == "waiting" else ""
    return CommandReply(f"Restored: {quoted(back)}{waits}")


def _approve(memories: "Either", memory_id: str, command: str) -> CommandReply:
    [known] = memories.approve(memory_id)
    return CommandReply(f"Approved: {quoted(known)}\nUndo: {command} delete {known.id}")


def _reject(memories: "Either", memory_id: str, command: str) -> CommandReply:
    [gone] = memories.reject(memory_id)
    return CommandReply(f"Rejected: {quoted(gone)}\nIt will not be proposed again.")


_DECISIONS = ("approve", "reject")
_ABOUT_SOME: Mapping[str, Callable[["Either", str, str], CommandReply]] = {
    "show": _show,
    "delete": _delete,
    "forget": _delete,
    "restore": _restore,
    "approve": _approve,
    "reject": _reject,
}


# ------------------------------------------------------------------------------------------------- new words


def _add(memories: "Either", text: str, command: str) -> CommandReply:
    first, _, behind = text.partition(" ")
    category = first[1:].lower() if first.startswith("#") else None
    content = behind.strip() if category else text
    if not content:
        return CommandReply(f"Missing text: {command} add TEXT.", failed=True)
    outcome = memories.remember(content, category=category)
    match outcome:
        case outcomes.Added(memory) | outcomes.Contradicting(memory):
            return CommandReply(f"Added: [{memory.id}] {quoted(memory)}")
        case outcomes.Reinforced(memory) | outcomes.Merged(memory):
            return CommandReply(f"Already known, confirmed: [{memory.id}] {quoted(memory)}")
        case outcomes.UpdateSuggested(known):
            how = f"To change it: {command} update {known.id} TEXT"
            return CommandReply(
                f"Not stored, already known: [{known.id}] {quoted(known)}\n{how}", failed=True
            )
        case outcomes.Waiting(memory):
            return CommandReply(f"Waiting for approval: {command} approve {memory.id}, or reject.")
        case outcomes.Refused(reason):
            return CommandReply(f"Not stored: {clean(reason, one_line=True)}.", failed=True)
        case _:
            assert_never(outcome)


def _update(memories: "Either", text: str, command: str) -> CommandReply:
    word, _, content = text.partition(" ")
    if not content.strip():
        return CommandReply(f"Missing id or text: {command} update ID TEXT.", failed=True)
    try:
        made = memories.revise(_id_in(word), content.strip())
    except NotFound:
        return CommandReply(_otherwise(memories, _id_in(word), command), failed=True)
    if isinstance(made, outcomes.Waiting):
        return CommandReply(f"Waiting for approval: {command} approve {made.memory.id}, or reject.")
    return CommandReply(f"Updated: {quoted(made.previous)} -> {quoted(made.memory)}")


_WITH_TEXT: Mapping[str, Callable[["Either", str, str], CommandReply]] = {"add": _add, "update": _update}


def _otherwise(memories: "Either", memory_id: str, command: str) -> str:
    """Why the command does not apply to this id, and what does."""
    try:
        known = memories.show(memory_id).memory
    except NotFound:
        return "\n".join([_missing(memory_id, command), *_meant(memories, memory_id)])
    match known.state:
        case "forgotten":
            return f"{known.id} is deleted. Restore it with {command} restore {known.id}."
        case "waiting":
            return f"{known.id} is waiting for approval: {command} approve {known.id}, or reject."
        case _:
            return f"{known.id} is active, nothing to do: {quoted(known)}"


def _missing(memory_id: str, command: str) -> str:
    shown = clean(memory_id, one_line=True)[:_MAX_ECHOED]
    return f"No memory {shown}. {command} lists the ids."


def _meant(memories: "Either", memory_id: str) -> Iterator[str]:
    """Phones change the case of what is typed."""
    found = memories.find(Filter(states=("active", "inactive", "waiting", "forgotten")), limit=_MAX_COMPARED)
    for memory in found.memories:
        if memory.id.lower() == memory_id.lower():
            yield f"Did you mean {memory.id}? {quoted(memory)}"
