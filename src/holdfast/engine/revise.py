"""revise: changes the text, confidence or labels of a memory; promote: makes it global."""

from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.confidence import believed
from holdfast.domain.memory import PEOPLE, Draft, Memory, Revision, Source
from holdfast.domain.outcomes import Waiting
from holdfast.domain.profile import Profile
from holdfast.domain.subjects import same_subject
from holdfast.engine import changes
from holdfast.engine.admission import propose, protected
from holdfast.engine.candidates import looks_across
from holdfast.engine.consolidate import keep_apart, proposals_about
from holdfast.engine.intake import sanitize
from holdfast.engine.neighbours import find_tombstone, look_at_deleted
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext, existing, expect, known_spelling, refuse_taken_name
from holdfast.errors import Conflict, Invalid, NotFound


@dataclass(frozen=True, slots=True)
class Revised:
    """A memory before and after a change."""

    memory: Memory
    previous: Memory


def revise(
    memory_id: str,
    revision: Revision,
    *,
    ctx: SpaceContext,
    source: Source,
    expect_version: int | None = None,
) -> Revised | Waiting:
    """Changes a memory; the old version is kept.

    A change of an operator's memory by a tool, an import or a file waits in the inbox.
    Raises: NotFound, Conflict, Invalid and its kinds.
    """
    if revision.empty:
        raise Invalid("nothing to change: give a text, a confidence, a category or another field")
    _judge_ahead(memory_id, revision, source, ctx)
    with ctx.write() as tx:
        now = ctx.now()
        known = existing(tx, memory_id)
        expect(known, expect_version)
        return revised(known, revision, tx=tx, ctx=ctx, source=source, now=now)


def _judge_ahead(memory_id: str, revision: Revision, source: Source, ctx: SpaceContext) -> None:
    """Judges a new wording before the space is locked; the judge caches the verdicts."""
    if revision.content is None:
        return
    with ctx.read() as tx:
        draft = _drafted(existing(tx, memory_id), revision, source, ctx.profile)
        look_at_deleted(draft, tx, ctx.judge, across=looks_across(ctx))


def revised(
    known: Memory,
    revision: Revision,
    *,
    tx: Transaction,
    ctx: SpaceContext,
    source: Source,
    now: datetime,
    vouched: bool = False,
) -> Revised | Waiting:
    """As `revise`, inside a transaction; `vouched`: a person allows it to change an operator's memory."""
    source = known_session(tx, source, now)
    revision = _with_earlier_wording(revision, known, tx)
    draft = _drafted(known, revision, source, ctx.profile)
    if not same_subject(draft.subject, known.subject):  # otherwise the spelling is to be changed
        draft = known_spelling(draft, tx, ctx)
    _refuse_buried(draft, known, tx, ctx)
    if (draft.subject, draft.project) != (known.subject, known.project):
        refuse_taken_name(draft, known.id, tx, ctx)
    _check_privacy(draft, known, source, ctx)
    after = _applied(known, draft, revision, ctx.profile, now)
    if replace(after, updated_at=known.updated_at) == known:
        return Revised(known, known)  # nothing changes
    if not vouched and protected(known, draft, tx):
        return propose(known, draft, tx, ctx, now)
    if source.origin in PEOPLE:
        after = after.confirmed(now)
    if after.private != known.private:
        _part(known, tx, source, now)
    changes.change(tx, known, after, "revised", source=source, now=now)
    return Revised(after, known)


def _with_earlier_wording(revision: Revision, known: Memory, tx: Transaction) -> Revision:
    if revision.version is None:
        return revision
    wording = tx.versions.get(known.id, revision.version) if 1 <= revision.version <= known.version else None
    if wording is None:
        raise NotFound(
            f"memory {known.id} has no version {revision.version}: it has versions 1 to {known.version}"
        )
    return replace(revision, content=wording.content, summary=wording.summary)


def _drafted(known: Memory, revision: Revision, source: Source, profile: Profile) -> Draft:
    """The memory as a draft with the changes applied, validated."""
    draft = Draft(
        content=known.content if revision.content is None else revision.content,
        category=known.category if revision.category is None else revision.category,
        subject=revision.subject,
        summary=known.summary if revision.summary is None else revision.summary,
        project=known.project if revision.project is None else revision.project,
        tags=_tags(known, revision),
        confidence=known.confidence if revision.confidence is None else revision.confidence,
        importance=known.importance if revision.importance is None else revision.importance,
        source=replace(source, person=known.source.person) if known.private else source,
        private=known.private if revision.private is None else revision.private,
    )
    ready = sanitize(draft, profile)
    # A category of other rules stays.
    return ready if revision.subject is not None else replace(ready, subject=known.subject)


def _check_privacy(draft: Draft, known: Memory, source: Source, ctx: SpaceContext) -> None:
    """Only who wrote a memory may make it private."""
    if draft.private and not known.private and known.source.person != source.person:
        raise Invalid(
            f"memory {known.id} was not written by {source.person}: only its writer can make it private",
            field="private",
        )


def _part(memory: Memory, tx: Transaction, source: Source, now: datetime) -> None:
    """Ends what ties a memory to those that other people see than will see it."""
    for proposal in proposals_about(memory.id, tx):
        keep_apart(proposal, tx, source, now)
    for link in tx.links.of(memory.id):
        tx.links.remove(link.from_id, link.to_id, link.kind)
    tx.files.strike(memory.id)
    tx.calls.strike(memory.id)


def _tags(known: Memory, revision: Revision) -> tuple[str, ...]:
    kept = known.tags if revision.tags is None else revision.tags
    kept = tuple(tag for tag in kept if tag not in revision.drop_tags)
    return tuple(dict.fromkeys((*kept, *revision.add_tags)))


def _refuse_buried(draft: Draft, known: Memory, tx: Transaction, ctx: SpaceContext) -> None:
    if draft.content == known.content:
        return
    around = look_at_deleted(draft, tx, ctx.judge, across=looks_across(ctx))
    tombstone = find_tombstone(draft, tx, around)
    if tombstone is not None:
        gone = tx.memories.get(tombstone.memory) if tombstone.memory else None
        back = f"restore {gone.id} or " if gone is not None and gone.state == "forgotten" else ""
        raise Conflict(f"this {tombstone.says} and is not stored again: {back}use another text")


def _applied(known: Memory, draft: Draft, revision: Revision, profile: Profile, now: datetime) -> Memory:
    assert draft.confidence is not None
    pinned = known.pinned if revision.pinned is None else revision.pinned
    after = replace(known.as_in(draft, now), pinned=pinned, private=draft.private, updated_at=now)
    # A new wording doesn't change the confidence, even of an inactive memory.
    return believed(after, draft.confidence, profile.policy) if revision.confidence is not None else after


def promote(memory_id: str, *, ctx: SpaceContext, source: Source) -> Revised | Waiting:
    """Makes a memory global; a global one stays as it is.

    Raises: NotFound; Conflict, if a global memory has its name.
    """
    with ctx.write() as tx:
        known = existing(tx, memory_id)
        if known.project is None:
            return Revised(known, known)
        return revised(known, Revision(project=""), tx=tx, ctx=ctx, source=source, now=ctx.now())
