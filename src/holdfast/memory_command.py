"""`/memory`: what a person can ask about their memories in a line of text, and the answer as plain text.

One function for every place where somebody types: Telegram, the command line, a chat. It calls verbs and no
model. Knows nothing of where the text came from, nor how long a message may be there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.domain.query import Filter
from holdfast.domain.superseded import newer_first
from holdfast.domain.text import clean
from holdfast.errors import Conflict, HoldfastError, NotFound

if TYPE_CHECKING:
    from holdfast.client import Client
    from holdfast.domain.memory import Memory
    from holdfast.engine.inbox import Item
    from holdfast.memories import Memories

    Either = Memories | Client

COMMAND = "/memory"
_MOST_SHOWN = 500  # characters of one memory in a list
_MOST_ECHOED = 40  # of a word that nobody knows
_MOST_COMPARED = 10_000  # memories among which a mistyped id is looked for


@dataclass(frozen=True, slots=True)
class Question:
    """Something in the inbox that a person can decide."""

    memory_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What somebody is told; `questions` is what the text lists, for doors that have buttons."""

    text: str
    failed: bool = False
    questions: tuple[Question, ...] = ()


def answer(memories: "Either", text: str, *, command: str = COMMAND) -> str:
    """The text that answers `/memory …`; `command` is what people type there to reach this function."""
    return reply(memories, text, command=command).text


def asked(text: str) -> bool:
    """Whether `text` is the command, with or without words behind it."""
    return text.split(maxsplit=1)[:1] == [COMMAND]


def reply(memories: "Either", text: str, *, command: str = COMMAND) -> Reply:
    """The same, and whether it was done. What goes wrong is said, never raised."""
    words = text.split()
    if words[:1] == [COMMAND]:
        words = words[1:]
    word, rest = (words[0].lower(), words[1:]) if words else ("list", [])
    if word == "inbox" and rest and rest[0].lower() in _DECISIONS:
        word, rest = rest[0].lower(), rest[1:]
    try:
        if word in _ABOUT_ONE:
            return _about_one(memories, word, rest, command)
        if word in _ABOUT_ALL and not rest:
            return _ABOUT_ALL[word](memories, command)
    except HoldfastError as error:
        return Reply(f"That did not work: {error}.", failed=True)
    said = clean(" ".join([word, *rest]), one_line=True)[:_MOST_ECHOED]
    return Reply(f"I do not know {said!r}.\n\n{usage(command)}", failed=True)


def usage(command: str = COMMAND) -> str:
    """What can be typed."""
    return "\n".join(
        f"{command}{' ' if words else ''}{words} - {says}"
        for words, says in {
            "": "what is remembered",
            "delete ID": "forget one of them",
            "restore ID": "bring back a deleted one",
            "inbox": "what waits for your decision",
            "approve ID": "let it in",
            "reject ID": "turn it down for good",
        }.items()
    )


# ----------------------------------------------------------------------------------------------- all of them


def _listed(memories: "Either", command: str) -> Reply:
    page = memories.find(Filter())
    if not page.memories:
        return Reply("Nothing is remembered yet.")
    lines = [f"Your memories ({page.total:,}):"]
    for category, group in groupby(page.memories, key=lambda memory: memory.category):
        lines += ["", _capital(category), *map(_bullet, newer_first(list(group)))]
    more = page.total - len(page.memories)
    lines += ["", f"{more:,} more are not shown."] if more else []
    waiting = len(memories.inbox())
    lines += ["", f"{waiting:,} waiting for your decision: {command} inbox"] if waiting else []
    return Reply("\n".join([*lines, "", f"Use {command} delete ID to remove one."]))


def _inbox(memories: "Either", command: str) -> Reply:
    items = memories.inbox()
    if not items:
        return Reply("Nothing waits for your decision.")
    questions = tuple(Question(item.memory.id, _question(item)) for item in items)
    lines = [f"Waiting for your decision ({len(items):,}):", "", "\n\n".join(each.text for each in questions)]
    how = f"Use {command} approve ID to let one in, {command} reject ID to turn it down for good."
    return Reply("\n".join([*lines, "", how]), questions=questions)


def _help(_: "Either", command: str) -> Reply:
    return Reply(usage(command))


_ABOUT_ALL: Mapping[str, Callable[["Either", str], Reply]] = {"list": _listed, "inbox": _inbox, "help": _help}


# ----------------------------------------------------------------------------------------------- one of them


def _about_one(memories: "Either", word: str, rest: list[str], command: str) -> Reply:
    if len(rest) != 1:
        kind = f"{command} inbox" if word in _DECISIONS else command
        return Reply(f"Say which one: {command} {word} ID. {kind} shows them with their ids.", failed=True)
    # As it stands in a list or in a brief, copied with what is around it.
    memory_id = rest[0].strip("[]()<>'\"`.,").removeprefix("id:")
    try:
        return _ABOUT_ONE[word](memories, memory_id, command)
    except (NotFound, Conflict):
        return Reply(_otherwise(memories, memory_id, command), failed=True)


def _delete(memories: "Either", memory_id: str, command: str) -> Reply:
    gone = memories.forget(memory_id)
    back = (
        f"{command} restore {gone.memory.id} brings it back." if gone.restorable else "It is gone for good."
    )
    return Reply(f"Deleted: {_quoted(gone.memory)}\n{back}")


def _restore(memories: "Either", memory_id: str, command: str) -> Reply:
    back = memories.restore(memory_id)
    waits = f"\nIt waits for your decision again: {command} inbox" if back.state == "waiting" else ""
    return Reply(f"Restored: {_quoted(back)}{waits}")


def _approve(memories: "Either", memory_id: str, command: str) -> Reply:
    [known] = memories.approve(memory_id)
    return Reply(f"Approved: {_quoted(known)}\n{command} delete {known.id} removes it.")


def _reject(memories: "Either", memory_id: str, command: str) -> Reply:
    [gone] = memories.reject(memory_id)
    return Reply(f"Rejected: {_quoted(gone)}\nIt does not come back.")


_DECISIONS = ("approve", "reject")
_ABOUT_ONE: Mapping[str, Callable[["Either", str, str], Reply]] = {
    "delete": _delete,
    "forget": _delete,
    "restore": _restore,
    "approve": _approve,
    "reject": _reject,
}


def _otherwise(memories: "Either", memory_id: str, command: str) -> str:
    """Why nothing could be done to the memory of this id, and what can be."""
    try:
        known = memories.show(memory_id).memory
    except NotFound:
        return "\n".join([_missing(memory_id, command), *_meant(memories, memory_id)])
    match known.state:
        case "forgotten":
            return f"{known.id} is deleted: {command} restore {known.id} brings it back."
        case "waiting":
            return f"{known.id} waits for your decision: {command} approve {known.id}, or reject."
        case _:
            return f"{known.id} is there, nothing to decide: {_quoted(known)}"


def _missing(memory_id: str, command: str) -> str:
    shown = clean(memory_id, one_line=True)[:_MOST_ECHOED]
    return f"There is no memory {shown}: {command} shows those that there are."


def _meant(memories: "Either", memory_id: str) -> Iterator[str]:
    """Phones change the case of what is typed."""
    found = memories.find(Filter(states=("active", "inactive", "waiting", "forgotten")), limit=_MOST_COMPARED)
    for memory in found.memories:
        if memory.id.lower() == memory_id.lower():
            yield f"Did you mean {memory.id}? {_quoted(memory)}"


# -------------------------------------------------------------------------------------------- how they look


def _bullet(memory: "Memory") -> str:
    origin = "" if memory.source.trusted else f" (from {memory.source.origin})"
    led = (
        f" ({memory.created_at:%Y-%m-%d}, superseded by {memory.superseded_by})"
        if memory.superseded_by
        else ""
    )
    return f"• [{memory.id}] {_sentence(memory)}{origin}{led}"


def _question(item: "Item") -> str:
    lines = [f"[{item.memory.id}] {_sentence(item.memory)}"]
    reason = clean(item.memory.waiting_for or "", one_line=True)
    lines.append(f"  from {item.memory.source.origin}{': ' if reason else ''}{_shortened(reason)}")
    lines += [f"  known: [{known.id}] {_sentence(known)}" for known in item.known]
    return "\n".join(lines)


def _sentence(memory: "Memory") -> str:
    """Its text, with what it is about unless the text says so itself."""
    text = clean(memory.content, one_line=True).strip()
    subject = clean(memory.subject or "", one_line=True).strip()
    about = f"{subject}: " if subject and subject.casefold() not in text.casefold() else ""
    return _shortened(f"{about}{text}")


def _quoted(memory: "Memory") -> str:
    return f"'{_shortened(clean(memory.content, one_line=True).strip())}'"


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _capital(name: str) -> str:
    name = clean(name, one_line=True)
    return name[:1].upper() + name[1:]
