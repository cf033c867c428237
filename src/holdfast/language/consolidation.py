"""Proposals to merge two memories: which one to keep, with which text, and why. Pure.

A person decides about a proposal in the inbox; until then both memories stay as they are.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from holdfast.domain.memory import PEOPLE, Draft, Memory, Source
from holdfast.domain.subjects import subject_key
from holdfast.domain.text import normal_form
from holdfast.language.comparison import Verdict

#: How long a contradiction stays open before it is proposed to drop the older memory.
SETTLED_AFTER = timedelta(days=14)
_CONTRADICTS = " contradicts the older "


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two memories that could be merged: `kept` would get the text `content`, `dropped` would be removed."""

    kept: Memory
    dropped: Memory
    wording: Memory  # the memory whose text is used
    reason: str

    @property
    def id(self) -> str:
        return pair_id(self.kept.id, self.dropped.id)

    @property
    def content(self) -> str:
        return self.wording.content

    @property
    def ids(self) -> tuple[str, str]:
        return self.kept.id, self.dropped.id

    @property
    def outdates(self) -> bool:
        """Whether the kept memory contradicts the dropped one; else they are duplicates."""
        return _CONTRADICTS in self.reason

    def draft(self) -> Draft:
        """The merged memory as a draft."""
        return Draft(
            content=self.wording.content,
            summary=self.wording.summary or self.kept.summary or self.dropped.summary,
            category=self.kept.category,
            subject=self.kept.subject or self.dropped.subject,
            project=self.kept.project,
            tags=tuple(sorted({*self.kept.tags, *self.dropped.tags})),
            confidence=max(self.kept.confidence, self.dropped.confidence),
            importance=max(self.kept.importance, self.dropped.importance),
            source=Source(origin=self.wording.source.origin, person=self.wording.source.person),
            private=self.kept.private,
        )


def pair_id(one: str, other: str) -> str:
    """The id of a pair, independent of its order; a proposal and its answer are stored by it."""
    return f"tend-{sha256(' '.join(sorted((one, other))).encode()).hexdigest()[:24]}"


def may_be_one(one: Memory, other: Memory) -> bool:
    """Whether two memories are worth comparing: in use, of one project, for the same people, and not about
    different things.
    """
    subjects = {subject_key(memory.subject) for memory in (one, other) if memory.subject}
    return (
        one.id != other.id
        and one.active
        and other.active
        and one.project == other.project
        and one.private_to == other.private_to
        and len(subjects) < 2
        and not (one.pinned and other.pinned)
    )


def duplicate(one: Memory, other: Memory, verdict: Verdict) -> Proposal | None:
    """The proposal for two duplicates; None if they are not certain duplicates."""
    if verdict.relation != "same" or not verdict.certain:
        return None
    kept, dropped = sorted((one, other), key=_standing, reverse=True)
    says_more = normal_form(one.content) != normal_form(other.content)
    how = "in other words" if says_more else "in the same words"
    reason = f"{kept.id} and {dropped.id} say the same {how}: merge them into {kept.id}"
    return Proposal(kept, dropped, _fuller(kept, dropped), reason)


def outdated(newer: Memory, older: Memory, now: datetime) -> Proposal | None:
    """The proposal for an older memory that a newer one contradicts and that nobody confirmed for a while."""
    in_time = (
        older.unconfirmed_for(newer.created_at) > timedelta() and now - newer.created_at >= SETTLED_AFTER
    )
    if not in_time or older.pinned or not (newer.active and older.active):
        return None
    reason = (
        f"{newer.id}{_CONTRADICTS}{older.id}, which has not been confirmed since: keep only the newer one"
    )
    return Proposal(newer, older, newer, reason)


def united(proposal: Proposal, waiting: Memory, now: datetime) -> Memory:
    """The kept memory with everything that was proposed, confirmed by the approval."""
    kept, dropped = proposal.kept, proposal.dropped
    accesses = [each.accessed_at for each in (kept, dropped) if each.accessed_at is not None]
    after = replace(
        kept.confirmed(now),
        subject=waiting.subject,
        tags=waiting.tags,
        importance=waiting.importance,
        pinned=kept.pinned or dropped.pinned,
        accesses=kept.accesses + dropped.accesses,
        accessed_at=max(accesses, default=None),
    )
    if (waiting.content, waiting.summary) != (kept.content, kept.summary):
        after = after.worded(waiting.content, summary=waiting.summary, now=now)
    return after


def _standing(memory: Memory) -> tuple[bool, bool, float, float, str]:
    """The sort key for which memory to keep: pinned, a person's, more confident, older."""
    return (
        memory.pinned,
        memory.source.origin in PEOPLE,
        memory.confidence,
        -memory.created_at.timestamp(),
        memory.id,
    )


def _fuller(kept: Memory, dropped: Memory) -> Memory:
    """The memory whose text loses less; if equal, the kept one."""
    ours, theirs = set(normal_form(kept.content).split()), set(normal_form(dropped.content).split())
    return dropped if len(theirs - ours) > len(ours - theirs) else kept
