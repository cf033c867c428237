"""What a person decides about a proposal of consolidation: the two become one, or stay two for good.

An approved one is a revision of what stays and a forgetting of what goes, in a session of their own: the
history tells both, and `undo-session` takes them back together.
"""

from dataclasses import replace
from datetime import datetime

from holdfast.domain.belief import believed
from holdfast.domain.memory import Memory, Source
from holdfast.engine import changes
from holdfast.engine.forget import bury
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict
from holdfast.language.consolidation import Proposal, pair_id, united


def proposal_of(waiting: Memory, tx: Transaction) -> Proposal | None:
    """What a waiting memory proposes to make one; none, when it is an ordinary one."""
    kept, dropped = None, None
    for link in tx.links.of(waiting.id):
        if link.from_id == waiting.id and link.kind == "elaborates":
            kept = tx.memories.get(link.to_id)
        elif link.from_id == waiting.id and link.kind == "supersedes":
            dropped = tx.memories.get(link.to_id)
    if kept is None or dropped is None or tx.sessions.get(pair_id(kept.id, dropped.id)) is None:
        return None
    return Proposal(kept, dropped, waiting, waiting.waiting_for or "")


def merge(
    proposal: Proposal, waiting: Memory, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime
) -> Memory:
    """Makes two memories one, as was proposed.

    Raises: Conflict, when one of them is not what it was.
    """
    kept, dropped = proposal.kept, proposal.dropped
    for memory in (kept, dropped):
        reworded = tx.versions.get(memory.id, memory.version)
        if not memory.active or (reworded is not None and reworded.created_at > waiting.created_at):
            raise Conflict(f"memory {memory.id} has changed since this was proposed: reject {waiting.id}")
    decided = replace(source, session=proposal.id)
    _settle(waiting, "approved", tx, source, now)
    after = believed(united(proposal, waiting, now), waiting.confidence, ctx.profile.policy)
    note = f"with {dropped.id}"
    after = changes.change(tx, kept, after, "revised", source=decided, now=now, note=note)
    keeping = {version.content for version in tx.versions.of(kept.id)}
    bury(tx, dropped, "forgotten", now, but=keeping)
    gone = replace(dropped, state="forgotten")
    changes.change(tx, dropped, gone, "forgotten", source=decided, now=now, note=f"into {kept.id}")
    changes.connect(tx, kept.id, dropped.id, "supersedes", source=decided, now=now)
    return after


def keep_apart(waiting: Memory, tx: Transaction, source: Source, now: datetime) -> Memory:
    """Turns a proposal down: both stay as they are, and the pair is not proposed again."""
    return _settle(waiting, "rejected", tx, source, now)


def proposals_about(memory_id: str, tx: Transaction) -> list[Memory]:
    """The waiting proposals that would make a memory one with another: they hold its text."""
    found = []
    for link in tx.links.of(memory_id):
        other = tx.memories.get(link.from_id) if link.to_id == memory_id else None
        if other is not None and other.state == "waiting" and proposal_of(other, tx) is not None:
            found.append(other)
    return found


def merged_into(memory_id: str, tx: Transaction) -> list[Memory]:
    """The memories that went into one: forgotten now, and saying the same."""
    found = []
    for link in tx.links.of(memory_id):
        if link.from_id == memory_id and link.kind == "supersedes":
            other = tx.memories.get(link.to_id)
            is_pair = tx.sessions.get(pair_id(memory_id, link.to_id)) is not None
            if other is not None and other.state == "forgotten" and is_pair:
                found.append(other)
    return found


def _settle(waiting: Memory, action: str, tx: Transaction, source: Source, now: datetime) -> Memory:
    """A proposal that was decided has done its work: its text is in the memories that it was about."""
    if action == "approved":
        tx.journal.write("approved", source=source, now=now, before=waiting)
    else:
        tx.journal.write("rejected", source=source, now=now, before=waiting)
    tx.memories.remove(waiting.id)
    return replace(waiting, state="forgotten", waiting_for=None)
