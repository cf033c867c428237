"""Texts for models about their memory: short sentences with the next step. Stored text is escaped."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from holdfast.agents.tools.definition import Answer
from holdfast.domain import outcomes
from holdfast.domain.outcomes import Outcome
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.domain.render import inline, label
from holdfast.wire.values import to_json

if TYPE_CHECKING:
    from holdfast.domain.history import Story
    from holdfast.domain.memory import Memory
    from holdfast.domain.ranking import Hit

_MAX_QUOTED = 1_000  # characters of one message

#: What every change answers, for programs.
CHANGED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "outcome": {"type": "string"},
        "id": {"type": ["string", "null"]},
        "said": {"type": "string"},
        "redacted": {"type": "array", "items": {"type": "string"}},
        "deleted": {"type": "object", "description": "The earlier deletion: reason, at, restorable."},
    },
    "required": ["outcome", "id", "said"],
}

_MEMORY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "category": {"type": "string"},
        "subject": {"type": ["string", "null"]},
        "content": {"type": "string"},
        "state": {"type": "string"},
        "origin": {"type": "string"},
        "updated_at": {"type": "string"},
    },
    "required": ["id", "category", "subject", "content", "state", "origin", "updated_at"],
}
#: What a list answers, for programs; the text of each memory is as stored, so it is data and nothing else.
LISTED: dict[str, Any] = {
    "type": "object",
    "properties": {"memories": {"type": "array", "items": _MEMORY}, "total": {"type": "integer"}},
    "required": ["memories", "total"],
}
_OBJECTS: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
#: And why a memory is there.
STORY: dict[str, Any] = {
    "type": "object",
    "properties": {"memory": _MEMORY, "sources": _OBJECTS, "changes": _OBJECTS, "versions": _OBJECTS},
    "required": ["memory", "sources", "changes", "versions"],
}


def changed(
    outcome: str,
    memory_id: str | None,
    said: str,
    *,
    failed: bool = False,
    stored: "Memory | None" = None,
) -> Answer:
    """The answer to a call that changes something, with what was redacted in the `stored` memory."""
    redacted = list(stored.redacted) if stored else []
    if redacted:
        said += f"\nRedacted before storing: {', '.join(redacted)}."
    return Answer(said, {"outcome": outcome, "id": memory_id, "said": said, "redacted": redacted}, failed)


def line(memory: "Memory") -> str:
    """`- [id:a1b2c3d4] [timing] jellyfin: Takes 60s to start`, with its origin unless that is plain."""
    about = f"{label(memory.subject)}: " if memory.subject else ""
    notes = [] if memory.source.trusted else [f"from {memory.source.origin}"]
    if memory.source.person:
        notes.append(f"{'private to' if memory.private else 'by'} {label(memory.source.person)}")
    notes += [memory.state] if memory.state != "active" else []
    if memory.superseded_by:
        notes.append(f"of {memory.created_at:%Y-%m-%d}, superseded by {memory.superseded_by}")
    note = f" ({', '.join(notes)})" if notes else ""
    return f"- [id:{memory.id}] [{label(memory.category)}] {about}{inline(memory.content)}{note}"


def lines(memories: Sequence["Memory"]) -> str:
    return "\n".join(map(line, memories))


def remembered(outcome: Outcome, *, revise: str) -> Answer:
    """The outcome of a draft; `revise` is the name of the tool that changes a known memory."""
    match outcome:
        case outcomes.Added(memory, related):
            near = f"\nSimilar memories, kept separate:\n{lines(related)}" if related else ""
            return changed("added", memory.id, f"Remembered as {memory.id}.{near}", stored=memory)
        case outcomes.Reinforced(memory):
            said = f"Already known, confirmed:\n{line(memory)}"
            return changed("reinforced", memory.id, said, stored=memory)
        case outcomes.Merged(memory):
            said = f"Merged into the known memory:\n{line(memory)}"
            return changed("merged", memory.id, said, stored=memory)
        case outcomes.Contradicting(memory, weakened):
            said = f"Remembered as {memory.id}. It supersedes these, which are kept:\n{lines(weakened)}"
            return changed("contradicting", memory.id, said, stored=memory)
        case outcomes.UpdateSuggested(known, relation):
            how = "Duplicate of" if relation == "same" else "Contradicts"
            said = f"Not stored. {how}:\n{line(known)}\nIf it changed, call {revise} with id {known.id}."
            return changed("update_suggested", known.id, said)
        case outcomes.Waiting(memory, reason):
            said = f"Not stored yet: waiting for the user's approval ({inline(reason)})."
            return changed("waiting", memory.id, said, stored=memory)
        case outcomes.Refused(reason, known_id, deleted):
            how = "restore it" if deleted is not None and deleted.restorable else "add it again"
            back = f". Only the user can {how}" if deleted is not None else ""
            answer = changed("refused", known_id, f"Not stored: {inline(reason)}{back}.", failed=True)
            if deleted is None:
                return answer
            return replace(answer, values={**(answer.values or {}), "deleted": to_json(deleted)})
        case _:
            assert_never(outcome)


def hits(found: Sequence["Hit"]) -> str:
    """The hits of a search: memories with their ids, and quoted messages."""
    shown = []
    for hit in found:
        match hit:
            case MemoryHit(memory=memory):
                shown.append(line(memory))
            case MessageHit(message=message):
                who = inline(message.speaker or message.role)
                said = inline((message.content or "")[:_MAX_QUOTED])
                shown.append(f"- [said {message.said_at:%Y-%m-%d} by {who}] {said}")
            case _:
                assert_never(hit)
    return "\n".join(shown)


def listed(memories: Sequence["Memory"], total: int) -> dict[str, Any]:
    """A list for programs. Some clients show it to the model in place of the text: so it is escaped too."""
    return {"memories": [_values(memory) for memory in memories], "total": total}


def _values(memory: "Memory") -> dict[str, Any]:
    return {
        "id": memory.id,
        "category": label(memory.category),
        "subject": label(memory.subject) if memory.subject else None,
        "content": inline(memory.content),
        "state": memory.state,
        "origin": memory.source.origin,
        "updated_at": memory.updated_at.isoformat(),
    }


def story_values(told: "Story") -> dict[str, Any]:
    """The source of a memory and its changes, oldest first, for programs."""
    return {
        "memory": _values(told.memory),
        "sources": [
            {
                "said_on": f"{message.said_at:%Y-%m-%d}",
                "by": inline(message.speaker or message.role),
                "text": inline((message.content or "(erased)")[:_MAX_QUOTED]),
            }
            for message in told.messages
        ],
        "changes": [
            {
                "on": f"{entry.created_at:%Y-%m-%d}",
                "action": entry.action,
                "by": f"{label(entry.person)} ({entry.origin})" if entry.person else entry.origin,
                "session": inline(entry.session) if entry.session else None,
                "note": inline(entry.note) if entry.note else None,
            }
            for entry in told.entries
        ],
        "versions": [{"number": each.number, "content": inline(each.content)} for each in told.versions],
        "repetitions": [
            {
                "on": f"{each.created_at:%Y-%m-%d}",
                "by": each.source.origin,
                "session": inline(each.source.session) if each.source.session else None,
                "content": inline(each.content),
            }
            for each in told.repetitions
        ],
    }


def story(told: "Story") -> str:
    """The same as text."""
    values = story_values(told)
    shown = [line(told.memory)]
    shown += [
        f"- source: said {each['said_on']} by {each['by']}: {each['text']}" for each in values["sources"]
    ]
    for each in values["changes"]:
        session = f" in session {each['session']}" if each["session"] else ""
        note = f": {each['note']}" if each["note"] else ""
        shown.append(f"- {each['on']} {each['action']} by {each['by']}{session}{note}")
    if len(told.versions) > 1:
        shown += [f"- version {each['number']}: {each['content']}" for each in values["versions"]]
    for each in values["repetitions"]:
        session = f" in session {each['session']}" if each["session"] else ""
        shown.append(f"- counted as a repetition, {each['on']} by {each['by']}{session}: {each['content']}")
    return "\n".join(shown)


def lines_with(text: str, piece: str) -> list[int]:
    """The numbers of the lines on which `piece` begins."""
    places, start = [], text.find(piece)
    while start >= 0:
        places.append(text.count("\n", 0, start) + 1)
        start = text.find(piece, start + 1)
    return places
