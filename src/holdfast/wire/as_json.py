"""The stable JSON of command line and REST service: the same field names in both; times are UTC with Z.

Knows the engine's values and nothing of doors. `from_json` reads it back.
"""
# budget: a list of shapes; a reader looks for one here and nowhere else.

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, assert_never

from holdfast.domain.secrets import marks_in

if TYPE_CHECKING:
    from holdfast.domain.history import Entry, Story, Use
    from holdfast.domain.memory import Link, Memory, Message, Repetition, Session, Source, Version
    from holdfast.domain.operations import Attempt, Event, Standing
    from holdfast.domain.outcomes import Deletion, Outcome
    from holdfast.domain.ranking import Hit
    from holdfast.domain.spend import SpendReport, Spent
    from holdfast.engine.audit import Audit
    from holdfast.engine.brief import Brief
    from holdfast.engine.context import Context
    from holdfast.engine.erase import Erasure
    from holdfast.engine.imports import Imported, ImportResult
    from holdfast.engine.inbox import Item
    from holdfast.engine.ports import Job, Token
    from holdfast.engine.recall import Recall
    from holdfast.engine.spaces import Overview
    from holdfast.engine.split import Split
    from holdfast.engine.tend import Preview, Tended
    from holdfast.engine.undo import Undone

Json = dict[str, Any]


def moment(value: datetime | None) -> str | None:
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if value is not None else None


def memory(item: "Memory") -> Json:
    return {
        "id": item.id,
        "category": item.category,
        "subject": item.subject,
        "content": item.content,
        "version": item.version,
        "created_at": moment(item.created_at),
        "updated_at": moment(item.updated_at),
        "confidence": item.confidence,
        "importance": item.importance,
        "tags": list(item.tags),
        "state": item.state,
        "origin": item.source.origin,
        "session": item.source.session,
        "message": item.source.message,
        "tier": item.source.tier,
        "project": item.project,
        "summary": item.summary,
        "pinned": item.pinned,
        "waiting_for": item.waiting_for,
        "confirmed_at": moment(item.confirmed_at),
        "accessed_at": moment(item.accessed_at),
        "accesses": item.accesses,
        "redacted": redacted(item),
        "superseded_by": item.superseded_by,
    }


def redacted(item: "Memory") -> list[str]:
    """The kinds of secrets that were taken out of a memory before it was stored."""
    return marks_in(item.content, item.subject, item.summary, *item.tags)


def outcome(result: "Outcome") -> Json:
    """`outcome` names it, `memory` is what was stored or null; then comes what belongs to the outcome."""
    from holdfast.domain import outcomes

    match result:
        case outcomes.Added(stored, related):
            return _named("added", stored, related=[memory(other) for other in related])
        case outcomes.Reinforced(stored, previous, counted):
            return _named("reinforced", stored, previous=memory(previous), counted=counted)
        case outcomes.Merged(stored, previous):
            return _named("merged", stored, previous=memory(previous))
        case outcomes.Contradicting(stored, weakened):
            return _named("contradicting", stored, weakened=[memory(old) for old in weakened])
        case outcomes.UpdateSuggested(known, relation):
            return _named("update_suggested", None, known=memory(known), relation=relation)
        case outcomes.Waiting(stored, reason, others):
            return _named("waiting", stored, reason=reason, known=[memory(other) for other in others])
        case outcomes.Refused(reason, known_id, deleted):
            return _named(
                "refused",
                None,
                reason=reason,
                known_id=known_id,
                deleted=deletion(deleted) if deleted else None,
            )
        case _:
            assert_never(result)


def deletion(deleted: "Deletion") -> Json:
    """What was deleted before: a person may say it again with `anyway`, or restore its memory."""
    return {"reason": deleted.reason, "at": moment(deleted.at), "restorable": deleted.restorable}


def _named(name: str, stored: "Memory | None", **rest: Any) -> Json:
    return {"outcome": name, "memory": memory(stored) if stored is not None else None, **rest}


def recall(found: "Recall") -> Json:
    return {
        "hits": [hit(each) for each in found.hits],
        "below": found.below,
        "matched": found.matched,
        "other_projects": found.other_projects,
    }


def hit(found: "Hit") -> Json:
    """`kind` says which: a memory with the message that it cites or null, or a message with its session."""
    from holdfast.domain.ranking import MemoryHit

    if isinstance(found, MemoryHit):
        cites = message(found.cites) if found.cites is not None else None
        owner = {"kind": "memory", "memory": memory(found.memory), "cites": cites}
    else:
        told = session(found.session) if found.session is not None else None
        owner = {"kind": "message", "message": message(found.message), "session": told}
    return {
        **owner,
        "score": found.score,
        "parts": dict(found.parts),
        "evidence": dict(found.evidence),
        "matched": found.matched,
    }


def context(made: "Context") -> Json:
    return {
        "text": made.text,
        "sha256": made.sha256,
        "tokens": made.tokens,
        "hits": [hit(each) for each in made.hits],
        "left_out": made.left_out,
    }


def version(wording: "Version") -> Json:
    return {
        "version": wording.number,
        "content": wording.content,
        "summary": wording.summary,
        **_source(wording.source),
        "created_at": moment(wording.created_at),
    }


def _repetition(wording: "Repetition") -> Json:
    return {
        "number": wording.number,
        "content": wording.content,
        "category": wording.category,
        "subject": wording.subject,
        "project": wording.project,
        **_source(wording.source),
        "created_at": moment(wording.created_at),
    }


def _source(source: "Source") -> Json:
    return {
        "origin": source.origin,
        "session": source.session,
        "message": source.message,
        "tier": source.tier,
    }


def split(done: "Split") -> Json:
    return {
        "memory": memory(done.memory),
        "original": memory(done.original),
        "previous": memory(done.previous),
    }


def link(tie: "Link") -> Json:
    return {
        "from": tie.from_id,
        "to": tie.to_id,
        "kind": tie.kind,
        "session": tie.session,
        "created_at": moment(tie.created_at),
    }


def story(told: "Story") -> Json:
    return {
        "memory": memory(told.memory),
        "versions": [version(wording) for wording in told.versions],
        "entries": [_entry(entry) for entry in told.entries],
        "links": [link(tie) for tie in told.links],
        "session": session(told.session) if told.session is not None else None,
        "messages": [message(said) for said in told.messages],
        "uses": [_use(use) for use in told.uses],
        "repetitions": [_repetition(wording) for wording in told.repetitions],
    }


def _entry(entry: "Entry") -> Json:
    return {
        "seq": entry.seq,
        "action": entry.action,
        "origin": entry.origin,
        "session": entry.session,
        "before": entry.before,
        "after": entry.after,
        "note": entry.note,
        "judged": entry.judged,
        "created_at": moment(entry.created_at),
    }


def session(run: "Session") -> Json:
    return {
        "id": run.id,
        "name": run.name,
        "client": run.client,
        "directory": run.directory,
        "project": run.project,
        "tier": run.tier,
        "started_at": moment(run.started_at),
        "ended_at": moment(run.ended_at),
        "exit_code": run.exit_code,
        "usage": dict(run.usage) if run.usage is not None else None,
    }


def message(said: "Message") -> Json:
    return {
        "id": said.id,
        "session": said.session,
        "number": said.number,
        "role": said.role,
        "speaker": said.speaker,
        "content": said.content,
        "said_at": moment(said.said_at),
        "redacted": marks_in(said.content),
    }


def _use(use: "Use") -> Json:
    return {
        "receipt": use.receipt,
        "kind": use.kind,
        "session": use.session,
        "query": use.query,
        "version": use.version,
        "score": use.score,
        "parts": use.parts,
        "created_at": moment(use.created_at),
    }


def brief(made: "Brief") -> Json:
    return {
        "text": made.text,
        "sha256": made.sha256,
        "tokens": made.tokens,
        "included": list(made.included),
        "left_out": made.left_out,
        "frozen": made.frozen,
    }


def waiting(item: "Item") -> Json:
    return {
        "memory": memory(item.memory),
        "reason": item.memory.waiting_for,
        "known": [memory(known) for known in item.known],
    }


def undone(result: "Undone") -> Json:
    return {
        "removed": [memory(item) for item in result.removed],
        "changed": [memory(item) for item in result.changed],
        "kept": [memory(item) for item in result.kept],
        "links": result.links,
    }


def erasure(result: "Erasure") -> Json:
    return {
        "memories": list(result.memories),
        "versions": result.versions,
        "links": result.links,
        "messages": result.messages,
        "receipts": result.receipts,
        "left": list(result.left),
    }


def imported(part: "Imported") -> Json:
    return {
        "added": part.added,
        "known": part.known,
        "different": list(part.different),
        "buried": list(part.buried),
    }


def told(result: "ImportResult") -> Json:
    return {"line": result.line, **outcome(result.outcome)}


def event(seen: "Event") -> Json:
    return {
        "id": seen.id,
        "level": seen.level,
        "service": seen.service,
        "content": seen.content,
        "session": seen.session,
        "created_at": moment(seen.created_at),
    }


def attempt(made: "Attempt") -> Json:
    return {
        "id": made.id,
        "succeeded": made.succeeded,
        "content": made.content,
        "session": made.session,
        "created_at": moment(made.created_at),
    }


def standing(found: "Standing") -> Json:
    return {
        "service": found.service,
        "action": found.cooldown.name,
        "most": found.cooldown.most,
        "hours": found.cooldown.hours,
        "allowed": found.allowed,
        "free_at": moment(found.free_at),
        "attempts": [attempt(made) for made in found.attempts],
    }


def spend(report: "SpendReport") -> Json:
    return {
        "by": report.by,
        "groups": [{"name": name, **_spent(sums)} for name, sums in report.groups],
        "total": _spent(report.total),
        "today": _spent(report.today),
        "daily_cap": _dollars(report.caps.daily),
        "session_cap": _dollars(report.caps.session),
        "stopped": report.stopped,
    }


def _spent(sums: "Spent") -> Json:
    return {
        "calls": sums.calls,
        "input_tokens": sums.usage.input,
        "cached_tokens": sums.usage.cached,
        "output_tokens": sums.usage.output,
        "dollars": _dollars(sums.micro_dollars),
        "calls_without_price": sums.unpriced_calls,
    }


def _dollars(micro: int | None) -> float | None:
    return None if micro is None else micro / 1_000_000


def job(work: "Job") -> Json:
    """Without what the job works on, which may be anything."""
    return {
        "id": work.id,
        "kind": work.kind,
        "state": work.state,
        "attempts": work.attempts,
        "error": work.error,
        "due_at": moment(work.due_at),
        "created_at": moment(work.created_at),
    }


def tended(done: "Tended") -> Json:
    return {
        "decayed": [memory(after) for _, after in done.decayed],
        "deactivated": done.deactivated,
        "archived": [{"memory": memory(after), "reason": reason} for after, reason in done.archived],
        "proposed": [memory(each) for each in done.proposed],
        "embedded": done.embedded,
        "trouble": done.trouble,
        "clock_doubt": done.clock_doubt,
        "session": done.session,
    }


def tend_preview(plan: "Preview") -> Json:
    """What would fade (as it would be), be archived and be proposed."""
    return {
        "decayed": [memory(after) for _, after in plan.decayed],
        "deactivated": sum(before.active and not after.active for before, after in plan.decayed),
        "archived": [{"memory": memory(each.memory), "reason": each.reason} for each in plan.archived],
        "proposed": [
            {
                "kept": memory(each.kept),
                "dropped": memory(each.dropped),
                "content": each.wording.content,
                "reason": each.reason,
            }
            for each in plan.proposed
        ],
        "clock_doubt": plan.clock_doubt,
    }


def audit(found: "Audit") -> Json:
    return {
        "memories": found.memories,
        "clean": found.clean,
        "findings": [
            {
                "kind": each.kind,
                "count": each.count,
                "ids": list(each.ids),
                "pairs": [list(pair) for pair in each.pairs],
                "says": each.says,
                "advice": each.advice,
            }
            for each in found.findings
        ],
    }


def overview(found: "Overview") -> Json:
    return {
        "name": found.space.name,
        "profile": found.space.profile,
        "keeps_messages": found.space.keeps_messages,
        "active": found.active,
        "inactive": found.inactive,
        "waiting": found.waiting,
        "forgotten": found.forgotten,
        "sessions": found.sessions,
        "created_at": moment(found.space.created_at),
    }


def token(known: "Token") -> Json:
    """Without the hash, which is nobody's business either."""
    return {
        "id": known.id,
        "name": known.name,
        "scopes": list(known.scopes),
        "spaces": None if known.spaces is None else list(known.spaces),
        "created_at": moment(known.created_at),
        "revoked_at": moment(known.revoked_at),
        "used_at": moment(known.used_at),
    }
