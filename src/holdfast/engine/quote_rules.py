"""Which parts of messages an agent may be given: none of memories that are deleted, waiting or outdated.

Applied to the few messages that a recall found. People see everything, with `why`, in the inbox and on the
session's page.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.domain import markers
from holdfast.domain.history import Entry
from holdfast.domain.memory import Citation, Link, Memory, Message
from holdfast.domain.passage import Span, pieces, without
from holdfast.domain.profile import Policy
from holdfast.domain.terms import held
from holdfast.domain.text import normal_form
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Transaction
from holdfast.language.consolidation import pair_id

_MOST_PIECES = 200  # sentences of one message that are compared with deleted ones
_MOSTLY = 2  # times as long as the withheld part: then the rest is probably the point


@dataclass(frozen=True, slots=True)
class _Quotation:
    """What may be quoted of a message."""

    said: str
    withheld: str


class Quotations:
    """What may be quoted of messages, looked up once for each; `everything`, if a person asks."""

    def __init__(self, policy: Policy, tx: Transaction, *, everything: bool = False) -> None:
        self._policy = policy
        self._tx = tx
        self._everything = everything
        self._read: dict[str, _Quotation] = {}

    def look_up(self, messages: Iterable[Message]) -> None:
        """Reads what is known of these messages, in a few queries."""
        new = {message.id: message for message in messages if message.id not in self._read}
        if not new:
            return
        spans = {} if self._everything else _withheld(list(new.values()), self._policy, self._tx)
        for message in new.values():
            text = message.content or ""
            cut = [*spans[message.id], *markers.lines(text)] if spans else []
            said = without(text, cut) if cut else text
            self._read[message.id] = _Quotation(said, " ".join(text[start:end] for start, end in cut))

    def of(self, message: Message) -> Message | None:
        """The message with what may be quoted of it; None if that is nothing."""
        if self._everything or message.content is None:
            return message
        self.look_up([message])
        said = self._read[message.id].said
        return replace(message, content=said) if said else None

    def answers(self, message: Message, terms: Sequence[str]) -> bool:
        """Whether the part that may be quoted is still an answer."""
        self.look_up([message])
        quotation = self._read[message.id]
        if not quotation.said or not quotation.withheld:
            return bool(quotation.said)
        left, gone = held(quotation.said), held(quotation.withheld)
        by_left = len(left.stems.intersection(terms))
        by_gone = len((gone.stems - left.stems).intersection(terms))
        if by_left or by_gone:
            return by_left > by_gone
        return len(quotation.said) > _MOSTLY * len(quotation.withheld)


def deleted_from(message_id: str, tx: Transaction) -> bool:
    """Whether a memory that was taken from a message has been deleted since."""
    cited = {each.memory for each in tx.citations.of_messages([message_id]) if not each.reworded}
    kept = [memory.id for memory in tx.memories.many(sorted(cited)) if memory.state != "forgotten"]
    return len(kept) < len(cited)


def quotable(memory_id: str, tx: Transaction) -> bool:
    """Whether the text that a memory was taken from may be quoted."""
    return _StatementSources([memory_id], tx).alive(memory_id)


def _withheld(messages: Sequence[Message], policy: Policy, tx: Transaction) -> dict[str, list[Span]]:
    """The parts that may not be quoted, by message."""
    citations = tx.citations.of_messages([message.id for message in messages])
    standing = _StatementSources({each.memory for each in citations}, tx)
    found: dict[str, list[Span]] = {}
    for message in messages:
        here = [each for each in citations if each.message == message.id]
        dead = [each for each in here if not standing.stands_for(each, message, policy)]
        alive = {standing.wording(each.memory) for each in here if each not in dead}
        length = len(message.content or "")
        found[message.id] = [
            (each.begins, length if each.ends is None else each.ends)
            for each in dead
            if standing.wording(each.memory) not in alive  # a memory in use says the same
        ]
    for message_id, span in _copies(messages, standing, tx):
        found[message_id].append(span)
    return found


def _copies(
    messages: Sequence[Message], standing: "_StatementSources", tx: Transaction
) -> Iterable[tuple[str, Span]]:
    """Sentences that are identical to deleted ones, whichever message those were in."""
    if not tx.tombstones.count():
        return []
    key = tx.space.key
    hashes: dict[str, list[tuple[str, Span]]] = {}
    for message in messages:
        text = message.content or ""
        spans = [(0, len(text)), *pieces(text)][: _MOST_PIECES + 1]
        for start, end in spans:
            hashes.setdefault(text_hash(text[start:end], key), []).append((message.id, (start, end)))
    gone = [stone for stone in tx.tombstones.among(hashes.keys()) if not standing.alive(stone.memory or "")]
    return [place for stone in gone for place in hashes[stone.hash]]


class _StatementSources:
    """The current state of the memories that cite these messages."""

    def __init__(self, memory_ids: Iterable[str], tx: Transaction) -> None:
        self._tx = tx
        wanted = sorted(set(memory_ids))
        self._memories: dict[str, Memory | None] = dict.fromkeys(wanted)
        self._links: dict[str, list[Link]] = {memory_id: [] for memory_id in wanted}
        if wanted:
            self._memories |= {memory.id: memory for memory in tx.memories.many(wanted)}
            for link in tx.links.into(wanted):
                self._links[link.to_id].append(link)

    def stands_for(self, cited: Citation, message: Message, policy: Policy) -> bool:
        """Whether the citing memory is in use, with a wording that still holds."""
        memory = self._memory(cited.memory)
        if memory is None or not self.alive(cited.memory):
            return False
        return memory.version == 1 or not self._replaced(memory, message, policy)

    def wording(self, memory_id: str) -> str | None:
        memory = self._memory(memory_id)
        return normal_form(memory.content) if memory is not None else None

    def alive(self, memory_id: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a memory is in use and not superseded, or was merged into such a one."""
        memory = self._memory(memory_id)
        if memory is None or memory_id in seen:
            return False
        over = [link for link in self._into(memory_id) if link.kind == "supersedes"]
        doubted = {link.from_id for link in self._into(memory_id) if link.kind == "contradicts"}
        made_one = [
            link
            for link in over
            if link.session == pair_id(link.from_id, link.to_id) and link.from_id not in doubted
        ]
        if memory.state == "forgotten":
            return any(self.alive(link.from_id, seen | {memory_id}) for link in made_one)
        return memory.active and not any(self._active(link.from_id) for link in over if link not in made_one)

    def _replaced(self, memory: Memory, message: Message, policy: Policy) -> bool:
        """Whether the wording that a memory had from a message was replaced since."""
        versions = self._tx.versions.of(memory.id)
        before = [one for one in versions if one.created_at <= message.said_at] or versions[:1]
        given = [one for one in versions if one.source.message == message.id] or before
        if not given or given[-1].content == memory.content:
            return False
        later = (
            entry for entry in self._tx.journal.of(memory.id) if _version(entry.after) > given[-1].number
        )
        return any(_replaces(entry, policy) for entry in later)

    def _active(self, memory_id: str) -> bool:
        memory = self._memory(memory_id)
        return memory is not None and memory.active

    def _memory(self, memory_id: str) -> Memory | None:
        if memory_id not in self._memories:
            self._memories[memory_id] = self._tx.memories.get(memory_id)
        return self._memories[memory_id]

    def _into(self, memory_id: str) -> list[Link]:
        if memory_id not in self._links:
            self._links[memory_id] = self._tx.links.into([memory_id])
        return self._links[memory_id]


def _version(side: Mapping[str, object] | None) -> int:
    number = side.get("version") if side else None
    return number if isinstance(number, int) else 0


def _replaces(entry: Entry, policy: Policy) -> bool:
    """Whether a change of wording changed the statement; merging duplicates does not."""
    if _version(entry.before) == _version(entry.after):
        return False
    if entry.action == "merged":
        return policy.on_same != "merge"
    made_one = entry.action == "revised" and (entry.session or "").startswith("tend-")
    return entry.action in ("revised", "undone") and not made_one
