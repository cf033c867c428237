"""The engine's values out of the JSON that the service answers with: what `as_json` wrote, read back.

What the service does not tell is left at its default: a space's key, what a job works on, steps of decay.
"""

from datetime import datetime
from typing import Any

from holdfast.domain import outcomes
from holdfast.domain.history import Entry, Story, Use
from holdfast.domain.memory import Link, Memory, Message, Repetition, Session, Source, Version
from holdfast.domain.operations import Attempt, Event, Standing
from holdfast.domain.outcomes import Outcome
from holdfast.domain.profile import Cooldown
from holdfast.domain.ranking import Hit, MemoryHit, MessageHit
from holdfast.engine.brief import Brief
from holdfast.engine.context import Context
from holdfast.engine.erase import Erasure
from holdfast.engine.imports import Imported, ImportResult
from holdfast.engine.inbox import Item
from holdfast.engine.ports import Job, Space
from holdfast.engine.recall import Recall
from holdfast.engine.spaces import Overview
from holdfast.engine.split import Split
from holdfast.engine.undo import Undone

Json = dict[str, Any]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def deletion(told: Json | None) -> outcomes.Deletion | None:
    return (told and outcomes.Deletion(told["reason"], moment(told["at"]), told["restorable"])) or None


class JsonReader:
    """Reads what belongs to one space, whose name the answers leave out."""

    def __init__(self, space: str) -> None:
        self._space = space

    def memory(self, told: Json) -> Memory:
        return Memory(
            id=told["id"],
            space=self._space,
            category=told["category"],
            content=told["content"],
            subject=told["subject"],
            summary=told["summary"],
            project=told["project"],
            confidence=told["confidence"],
            importance=told["importance"],
            tags=tuple(told["tags"]),
            state=told["state"],
            waiting_for=told["waiting_for"],
            pinned=told["pinned"],
            version=told["version"],
            source=source(told),
            created_at=moment(told["created_at"]),
            updated_at=moment(told["updated_at"]),
            confirmed_at=moment(told["confirmed_at"]),
            accessed_at=moment_or_none(told["accessed_at"]),
            accesses=told["accesses"],
            superseded_by=told.get("superseded_by"),
        )

    def memories(self, told: list[Json]) -> tuple[Memory, ...]:
        return tuple(map(self.memory, told))

    def outcome(self, told: Json) -> Outcome:
        """From an answer whose own fields are the memory's, or from a problem that names the known one."""
        match told["outcome"]:
            case "update_suggested":
                return outcomes.UpdateSuggested(self.memory(told["memory"]), told["relation"])
            case "refused":
                return outcomes.Refused(told["detail"], told.get("id"), deletion(told.get("deleted")))
        stored = self.memory(told)
        match told["outcome"]:
            case "added":
                return outcomes.Added(stored, self.memories(told["related"]))
            case "reinforced":
                return outcomes.Reinforced(stored, self.memory(told["previous"]), told["counted"])
            case "merged":
                return outcomes.Merged(stored, self.memory(told["previous"]))
            case "contradicting":
                return outcomes.Contradicting(stored, self.memories(told["weakened"]))
            case _:
                return outcomes.Waiting(stored, told["reason"], self.memories(told["known"]))

    def told(self, answer: Json) -> ImportResult:
        """One draft of an import: there the memory stands in a field of its own."""
        flat = {**(answer["memory"] or {}), **{k: v for k, v in answer.items() if k != "memory"}}
        match answer["outcome"]:
            case "refused":
                deleted = deletion(answer.get("deleted"))
                reason = outcomes.Refused(answer["reason"], answer["known_id"], deleted)
                return ImportResult(answer["line"], reason)
            case "update_suggested":
                flat["memory"] = answer["known"]
        return ImportResult(answer["line"], self.outcome(flat))

    def hit(self, told: Json) -> Hit:
        scored = (told["score"], told["parts"], told["evidence"], told["matched"])
        if told["kind"] == "memory":
            cites = message(told["cites"]) if told["cites"] is not None else None
            return MemoryHit(self.memory(told["memory"]), *scored, cites)
        session = self.session(told["session"]) if told["session"] is not None else None
        return MessageHit(message(told["message"]), session, *scored)

    def recall(self, told: Json) -> Recall:
        hits = tuple(map(self.hit, told["hits"]))
        return Recall(hits, told["below"], told["matched"], told.get("other_projects", 0))

    def context(self, told: Json) -> Context:
        return Context(told["text"], told["tokens"], tuple(map(self.hit, told["hits"])), told["left_out"])

    def session(self, told: Json) -> Session:
        return Session(
            id=told["id"],
            space=self._space,
            name=told["name"],
            client=told["client"],
            directory=told["directory"],
            project=told["project"],
            tier=told["tier"],
            started_at=moment(told["started_at"]),
            ended_at=moment_or_none(told["ended_at"]),
            exit_code=told["exit_code"],
            usage=told["usage"],
        )

    def story(self, told: Json) -> Story:
        memory = self.memory(told["memory"])
        return Story(
            memory=memory,
            versions=tuple(version(memory.id, each) for each in told["versions"]),
            entries=tuple(_entry(memory.id, each) for each in told["entries"]),
            links=tuple(map(link, told["links"])),
            session=self.session(told["session"]) if told["session"] is not None else None,
            messages=tuple(map(message, told["messages"])),
            uses=tuple(map(_use, told["uses"])),
            repetitions=tuple(_repetition(memory.id, each) for each in told["repetitions"]),
        )

    def item(self, told: Json) -> Item:
        return Item(self.memory(told["memory"]), self.memories(told["known"]))

    def split(self, told: Json) -> Split:
        return Split(*(self.memory(told[name]) for name in ("memory", "original", "previous")))

    def undone(self, told: Json) -> Undone:
        removed, changed, kept = (self.memories(told[name]) for name in ("removed", "changed", "kept"))
        return Undone(removed, changed, kept, told["links"])


def source(told: Json) -> Source:
    return Source(origin=told["origin"], session=told["session"], message=told["message"], tier=told["tier"])


def version(memory_id: str, told: Json) -> Version:
    return Version(
        memory=memory_id,
        number=told["version"],
        content=told["content"],
        summary=told["summary"],
        source=source(told),
        created_at=moment(told["created_at"]),
    )


def _repetition(memory_id: str, told: Json) -> Repetition:
    return Repetition(
        memory=memory_id,
        number=told["number"],
        content=told["content"],
        category=told["category"],
        subject=told["subject"],
        project=told["project"],
        source=source(told),
        created_at=moment(told["created_at"]),
    )


def link(told: Json) -> Link:
    return Link(
        from_id=told["from"],
        to_id=told["to"],
        kind=told["kind"],
        created_at=moment(told["created_at"]),
        session=told["session"],
    )


def message(told: Json) -> Message:
    known = {name: value for name, value in told.items() if name != "redacted"}  # which its text tells
    return Message(**{**known, "said_at": moment(told["said_at"])})


def brief(told: Json) -> Brief:
    return Brief(**{**told, "included": tuple(told["included"])})


def erasure(told: Json) -> Erasure:
    return Erasure(**{**told, "memories": tuple(told["memories"]), "left": tuple(told["left"])})


def imported(told: Json) -> Imported:
    return Imported(told["added"], told["known"], tuple(told["different"]), tuple(told["buried"]))


def event(told: Json) -> Event:
    return Event(**{**told, "created_at": moment(told["created_at"])})


def attempt(told: Json, action: str, service: str) -> Attempt:
    return Attempt(**{**told, "created_at": moment(told["created_at"])}, action=action, service=service)


def standing(told: Json) -> Standing:
    return Standing(
        service=told["service"],
        cooldown=Cooldown(name=told["action"], most=told["most"], hours=told["hours"]),
        attempts=tuple(attempt(each, told["action"], told["service"]) for each in told["attempts"]),
        free_at=moment_or_none(told["free_at"]),
    )


def job(told: Json) -> Job:
    times = {name: moment(told[name]) for name in ("due_at", "created_at")}
    return Job(**{**told, **times}, payload={})


def overview(told: Json) -> Overview:
    space = Space(
        name=told["name"],
        profile=told["profile"],
        profile_text=None,
        key="",
        created_at=moment(told["created_at"]),
        keeps_messages=told["keeps_messages"],
    )
    counts = (told[name] for name in ("active", "inactive", "waiting", "forgotten", "sessions"))
    return Overview(space, *counts)


def _entry(memory_id: str, told: Json) -> Entry:
    return Entry(**{**told, "created_at": moment(told["created_at"])}, memory=memory_id)


def _use(told: Json) -> Use:
    return Use(**{**told, "created_at": moment(told["created_at"])})
