"""The stable JSON of the command line. Field names are those of the REST service; times are UTC with Z."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, assert_never

if TYPE_CHECKING:
    from holdfast.domain.history import Entry, Story, Use
    from holdfast.domain.memory import Link, Memory, Message, Session, Version
    from holdfast.domain.outcomes import Outcome
    from holdfast.domain.ranking import Hit
    from holdfast.engine.recall import Recall

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
        "project": item.project,
        "summary": item.summary,
        "pinned": item.pinned,
        "waiting_for": item.waiting_for,
        "confirmed_at": moment(item.confirmed_at),
        "accessed_at": moment(item.accessed_at),
        "accesses": item.accesses,
    }


def outcome(result: "Outcome") -> Json:
    """`outcome` names it, `memory` is what was stored or null; then comes what belongs to the outcome."""
    from holdfast.domain import outcomes

    match result:
        case outcomes.Added(stored, related):
            return _named("added", stored, related=[memory(other) for other in related])
        case outcomes.Reinforced(stored, _, counted):
            return _named("reinforced", stored, counted=counted)
        case outcomes.Merged(stored, previous):
            return _named("merged", stored, previous=memory(previous))
        case outcomes.Contradicting(stored, weakened):
            return _named("contradicting", stored, weakened=[memory(old) for old in weakened])
        case outcomes.UpdateSuggested(known, relation):
            return _named("update_suggested", None, known=memory(known), relation=relation)
        case outcomes.Waiting(stored, reason, others):
            return _named("waiting", stored, reason=reason, known=[memory(other) for other in others])
        case outcomes.Refused(reason, known_id):
            return _named("refused", None, reason=reason, known_id=known_id)
        case _:
            assert_never(result)


def _named(name: str, stored: "Memory | None", **rest: Any) -> Json:
    return {"outcome": name, "memory": memory(stored) if stored is not None else None, **rest}


def recall(found: "Recall") -> Json:
    return {"hits": [hit(each) for each in found.hits], "below": found.below, "matched": found.matched}


def hit(found: "Hit") -> Json:
    return {
        "memory": memory(found.memory),
        "score": found.score,
        "parts": dict(found.parts),
        "evidence": dict(found.evidence),
        "matched": found.matched,
    }


def version(wording: "Version") -> Json:
    return {
        "version": wording.number,
        "content": wording.content,
        "summary": wording.summary,
        "origin": wording.source.origin,
        "session": wording.source.session,
        "message": wording.source.message,
        "created_at": moment(wording.created_at),
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
        "session": _session(told.session) if told.session is not None else None,
        "messages": [_message(message) for message in told.messages],
        "uses": [_use(use) for use in told.uses],
    }


def _entry(entry: "Entry") -> Json:
    return {
        "action": entry.action,
        "origin": entry.origin,
        "session": entry.session,
        "before": entry.before,
        "after": entry.after,
        "note": entry.note,
        "created_at": moment(entry.created_at),
    }


def _session(session: "Session") -> Json:
    return {
        "id": session.id,
        "name": session.name,
        "client": session.client,
        "directory": session.directory,
        "project": session.project,
        "tier": session.tier,
        "started_at": moment(session.started_at),
        "ended_at": moment(session.ended_at),
        "exit_code": session.exit_code,
    }


def _message(message: "Message") -> Json:
    return {
        "id": message.id,
        "session": message.session,
        "number": message.number,
        "role": message.role,
        "speaker": message.speaker,
        "content": message.content,
        "said_at": moment(message.said_at),
    }


def _use(use: "Use") -> Json:
    return {
        "kind": use.kind,
        "session": use.session,
        "query": use.query,
        "version": use.version,
        "score": use.score,
        "parts": use.parts,
        "created_at": moment(use.created_at),
    }
