"""subject_story: what became of the memories about one subject, the newest change first."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.history import Entry
from holdfast.domain.memory import STATES, Memory
from holdfast.domain.query import Filter
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext

MOST: int = 200  # memories, and changes of them


@dataclass(frozen=True, slots=True)
class SubjectChange:
    """A change of one memory, and the text that it had then."""

    entry: Entry
    memory: Memory
    content: str


@dataclass(frozen=True, slots=True)
class SubjectStory:
    """The changes; `more` if there were earlier ones."""

    memories: int
    changes: tuple[SubjectChange, ...]
    more: bool


def subject_story(subject: str | None, *, ctx: SpaceContext) -> SubjectStory:
    """The latest changes of the memories about a subject; without one, of general knowledge."""
    about = Filter(states=STATES, subject=subject, general=subject is None)
    with ctx.read() as tx:
        memories = tx.memories.find(about, order="recent", limit=MOST + 1)
        known = {memory.id: memory for memory in memories[:MOST]}
        entries = tx.journal.latest_of(list(known), MOST + 1)
        more = len(memories) > MOST or len(entries) > MOST
        return SubjectStory(len(known), tuple(_changes(entries[:MOST], known, tx)), more)


def _changes(entries: Sequence[Entry], known: dict[str, Memory], tx: Transaction) -> list[SubjectChange]:
    changes = []
    for entry in entries:
        memory = known[entry.memory or ""]
        number = (entry.after or entry.before or {}).get("version", memory.version)
        wording = tx.versions.get(memory.id, number) if number != memory.version else None
        changes.append(SubjectChange(entry, memory, wording.content if wording else memory.content))
    return changes
