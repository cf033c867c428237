"""remember: stores a draft as a new memory, or changes the confidence of a known one."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import assert_never

from holdfast.domain.confidence import reinforced, weakened
from holdfast.domain.memory import Draft, Memory, Tombstone
from holdfast.domain.outcomes import (
    Added,
    Contradicting,
    Merged,
    Outcome,
    Refused,
    Reinforced,
    UpdateSuggested,
    Waiting,
)
from holdfast.domain.retention import archived as is_archived
from holdfast.domain.text import normal_form
from holdfast.engine import changes
from holdfast.engine.admission import (
    archived_before,
    brought_back,
    forbidden,
    propose,
    protected,
    refused,
    wait,
    why_wait,
)
from holdfast.engine.corrections import corrected
from holdfast.engine.idempotency import fingerprint, once
from holdfast.engine.intake import sanitize
from holdfast.engine.model_judge import Opinion, apply_opinions, judged
from holdfast.engine.neighbours import JudgedCandidates, findings, look, still
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext, known_spelling, of_that_name
from holdfast.engine.split import keep_wording
from holdfast.engine.supersession import lead_again, mark, supersede
from holdfast.engine.tool_dedupe import saved_already, saved_by_tools
from holdfast.language.news import News


def remember(
    draft: Draft,
    *,
    ctx: SpaceContext,
    key: str | None = None,
    anyway: bool = False,
    told: Opinion | None = None,
    captured: bool = False,
    news: News | None = None,
    unattended: bool = False,
) -> Outcome:
    """Stores a draft, with exactly one outcome, in one transaction.

    A repeated `key` returns the first outcome and changes nothing. `anyway` stores a deleted text again.
    `told` is a model's opinion on the draft and a known memory. A draft that was `captured` is a duplicate if
    a tool saved it during the same turn; `news` is its message, which supersedes the memories that the finder
    considers outdated by it. `unattended` (implied by `captured`) means that nobody reads the outcome, so
    advice to update a memory becomes a proposal in the inbox.
    Raises: Invalid and its kinds; Conflict, if `key` was used for something else.
    """
    draft = sanitize(draft, ctx.profile)
    saved = saved_by_tools(draft, ctx) if captured else ()
    ctx = ctx.among(draft.private_to)  # there is nothing but what the same people see
    seen = look(draft, ctx, extra=saved)
    held, replaced = corrected(draft, news, seen.meaning, ctx) if news is not None else (draft, ())
    words = (*((told,) if told is not None else judged(draft, seen, ctx=ctx)), *replaced)
    draft = held
    with ctx.write() as tx:
        decided = partial(
            decide,
            draft,
            tx,
            ctx,
            still(seen, draft, tx, ctx),
            anyway=anyway,
            told=words,
            captured=captured,
            unattended=unattended,
        )
        return once(tx, key, fingerprint(draft), ctx.now(), lambda: _cited(decided(), draft, tx))


def _cited(outcome: Outcome, draft: Draft, tx: Transaction) -> Outcome:
    """Cites the message in a known, waiting or deleted memory, also if nothing else changed."""
    match outcome:
        case Reinforced(memory) | Merged(memory) | Waiting(memory) | UpdateSuggested(memory, "same"):
            changes.cite(tx, memory.id, draft.source, draft.content)
        case Refused(_, str(known_id)):
            changes.cite(tx, known_id, draft.source, draft.content)
        case _:
            pass
    return outcome


def decide(
    draft: Draft,
    tx: Transaction,
    ctx: SpaceContext,
    around: JudgedCandidates,
    *,
    anyway: bool = False,
    told: tuple[Opinion, ...] = (),
    captured: bool = False,
    unattended: bool = False,
) -> Outcome:
    """The outcome of a checked draft with its judged candidates."""
    now = ctx.now()
    draft = known_spelling(replace(draft, source=known_session(tx, draft.source, now)), tx, ctx)
    found = findings(around, draft)
    tx.journal.judged(found.note)
    if found.same is None and (refusal := forbidden(draft, tx, around, anyway)) is not None:
        return refusal
    if captured and (saved := saved_already(draft, tx, around)):
        return _saved(saved, draft, tx, now)
    if named := of_that_name(draft, tx, ctx):
        return _overwritten(named[0], draft, tx, ctx, now)
    weighed = apply_opinions(told, found, draft, tx)
    found, draft = weighed.findings, weighed.draft
    if weighed.replaces is not None:
        return _overwritten(weighed.replaces, draft, tx, ctx, now)
    if reason := why_wait(draft, found, tx):
        return wait(reason, draft, found, tx, ctx, now, around)
    if found.same is not None:
        return _repeat(found.same, found.contradicted, draft, tx, ctx, now)
    archived = archived_before(draft, around)
    if found.contradicted:
        return _contradicted(
            found.contradicted, archived, draft, tx, ctx, now, unattended=unattended or captured
        )
    if archived is not None:
        return _back(archived, draft, tx, ctx, now)
    return _added(draft, found.related, tx, ctx, now)


def _added(
    draft: Draft, related: tuple[Memory, ...], tx: Transaction, ctx: SpaceContext, now: datetime
) -> Outcome:
    memory = changes.add(tx, ctx, draft, now=now)
    for other in related:
        changes.connect(tx, memory.id, other.id, "related", source=draft.source, now=now)
    return Added(memory, related)


def _saved(saved: Memory | Tombstone, draft: Draft, tx: Transaction, now: datetime) -> Outcome:
    """The outcome of a captured draft that a tool saved before: only its wording is kept."""
    if isinstance(saved, Tombstone):
        return refused(saved, tx)
    if saved.private:  # the captured draft would be shared
        return Refused("a tool stored this in the same turn")
    keep_wording(saved, draft, tx, now)
    if saved.state == "waiting":
        return Waiting(saved, saved.waiting_for or "")
    return Reinforced(saved, saved, counted=False)


def _back(known: Memory, draft: Draft, tx: Transaction, ctx: SpaceContext, now: datetime) -> Outcome:
    """Reactivates an archived memory, then treats the draft as a duplicate of it."""
    session = draft.source.session
    if not draft.source.trusted and session and tx.journal.said_by(session, known.id, ("added", "waiting")):
        keep_wording(known, draft, tx, now)
        return Reinforced(known, known, counted=False)  # the same file was read again
    back = brought_back(known, draft, tx, now)
    outcome = _known_already(back, draft, tx, ctx, now)
    match outcome:
        case Merged(memory, _):
            return Merged(memory, known)
        case Reinforced(memory, _, _):
            return Reinforced(memory, known)
        case UpdateSuggested():  # it is active again, unchanged: nothing to decide
            return Reinforced(back, known)
        case _:
            return outcome


def _repeat(
    known: Memory,
    against: tuple[Memory, ...],
    draft: Draft,
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
) -> Outcome:
    """Treats the draft as a duplicate; the known memory then supersedes those that had superseded it."""
    outcome = _known_already(known, draft, tx, ctx, now)
    if isinstance(outcome, Merged) or (isinstance(outcome, Reinforced) and outcome.counted):
        lead_again(known, against, tx, source=draft.source, now=now)
    return outcome


def _known_already(known: Memory, draft: Draft, tx: Transaction, ctx: SpaceContext, now: datetime) -> Outcome:
    match ctx.profile.policy.on_same:
        case "suggest":
            if draft.source.message is not None:  # captured: nobody reads the advice
                keep_wording(known, draft, tx, now)
            return UpdateSuggested(known, "same")
        case "overwrite":
            return _overwritten(known, draft, tx, ctx, now)
        case "reinforce":
            return _reinforced(known, draft, tx, ctx, now)
        case "merge":
            return _merged(known, draft, tx, ctx, now)
        case never:
            assert_never(never)


def _reinforced(known: Memory, draft: Draft, tx: Transaction, ctx: SpaceContext, now: datetime) -> Outcome:
    note = keep_wording(known, draft, tx, now)
    if not _counts(known, draft, tx):
        return Reinforced(known, known, counted=False)
    after = reinforced(known, ctx.profile.policy, now)
    after = changes.change(tx, known, after, "reinforced", source=draft.source, now=now, note=note)
    return Reinforced(after, known)


def _merged(known: Memory, draft: Draft, tx: Transaction, ctx: SpaceContext, now: datetime) -> Outcome:
    note = keep_wording(known, draft, tx, now)
    if not _counts(known, draft, tx):
        return Reinforced(known, known, counted=False)
    importance = min(known.importance + ctx.profile.policy.raise_importance_by, 5)
    merged = replace(
        known.confirmed(now), importance=importance, tags=tuple(sorted({*known.tags, *draft.tags}))
    )
    if _adds_words(draft.content, known.content):
        merged = merged.worded(draft.content, summary=draft.summary or known.summary, now=now)
    merged = changes.change(tx, known, merged, "merged", source=draft.source, now=now, note=note)
    return Merged(merged, known)


def _overwritten(known: Memory, draft: Draft, tx: Transaction, ctx: SpaceContext, now: datetime) -> Outcome:
    if draft.doubtful or protected(known, draft, tx):
        return propose(known, draft, tx, ctx, now)
    assert draft.category is not None
    after = known.confirmed(now).worded(draft.content, summary=draft.summary or known.summary, now=now)
    after = replace(after, category=draft.category, tags=draft.tags or known.tags)
    if is_archived(known, ctx.profile):
        after = replace(after, state="active")
    return Merged(changes.change(tx, known, after, "merged", source=draft.source, now=now), known)


def _contradicted(
    known: tuple[Memory, ...],
    archived: Memory | None,
    draft: Draft,
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
    *,
    unattended: bool,
) -> Outcome:
    policy = ctx.profile.policy
    if policy.on_contradiction == "suggest":
        if not unattended:
            return UpdateSuggested(known[0], "contradicts")
        return propose(known[0], draft, tx, ctx, now, f"it contradicts memory {known[0].id}: update that one")
    if policy.on_contradiction == "overwrite":
        return _overwritten(known[0], draft, tx, ctx, now)
    if archived is not None:
        memory = brought_back(archived, draft, tx, now)
    else:
        memory = changes.add(tx, ctx, draft, now=now)
    by = replace(memory, source=draft.source)  # the source of the draft, not that of the memory
    now_held = tuple(weaken(old, by, tx, ctx, now) for old in known)
    return Contradicting(memory, tuple(mark(now_held, tx)))


def weaken(old: Memory, by: Memory, tx: Transaction, ctx: SpaceContext, now: datetime) -> Memory:
    """Links a memory to the one that contradicts and supersedes it; lowers its confidence once a session."""
    changes.connect(tx, by.id, old.id, "contradicts", source=by.source, now=now)
    supersede(by, old, tx, source=by.source, now=now)
    policy, session = ctx.profile.policy, by.source.session
    if policy.on_contradiction != "weaken":
        return old
    if session and tx.journal.said_by(session, old.id, ("contradicted",)):
        return old
    lower = weakened(old, policy)
    return changes.change(tx, old, lower, "contradicted", source=by.source, now=now, note=f"by {by.id}")


def _counts(known: Memory, draft: Draft, tx: Transaction) -> bool:
    """Whether this repetition is evidence: from another session, not doubtful, no untrusted copy."""
    if draft.doubtful or (known.source.trusted and not draft.source.trusted):
        return False
    session = draft.source.session
    if session is None:
        return True
    return not tx.journal.said_by(session, known.id, ("added", "reinforced", "merged", "revised", "waiting"))


def _adds_words(new: str, old: str) -> bool:
    """Whether the new text has other words; a text that only omits words would lose detail."""
    return not set(normal_form(new).split()) <= set(normal_form(old).split())
