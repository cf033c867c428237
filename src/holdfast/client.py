"""`Client`: the memories of a space that a service keeps, with the verbs, values and errors of `Memories`."""
# budget: a list of all verbs, each of which only asks the service for it.

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from urllib.parse import quote
from uuid import uuid4

from holdfast.domain.history import Story
from holdfast.domain.jobs import Job, JobState
from holdfast.domain.memory import (
    Draft,
    DraftFields,
    LinkKind,
    Memory,
    Message,
    Origin,
    RevisionFields,
    Session,
    SessionFields,
)
from holdfast.domain.operations import Attempt, CooldownStatus, Event
from holdfast.domain.outcomes import Outcome, Waiting
from holdfast.domain.query import Filter, Order, QueryFields
from holdfast.engine.brief import Brief
from holdfast.engine.context import Context, ContextFields
from holdfast.engine.erase import Erasure
from holdfast.engine.find import Details, Page
from holdfast.engine.forget import Forgotten
from holdfast.engine.imports import Imported, ImportResult
from holdfast.engine.inbox import Item
from holdfast.engine.recall import Recall
from holdfast.engine.revise import Revised
from holdfast.engine.sessions import Conversation, MessageFields, NewMessage
from holdfast.engine.spaces import Overview
from holdfast.engine.split import Split
from holdfast.engine.undo import Undone
from holdfast.errors import Conflict
from holdfast.wire.http_errors import ServiceConnection
from holdfast.wire.values import from_json

if TYPE_CHECKING:
    import httpx2

Value = TypeVar("Value")

_PAGE = 1_000


class Client:
    """The memories of one space, over HTTP.

    `token` says which space; where it reaches several, `space` names one. Close it, or use it as a context
    manager, to let go of the connection.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        space: str | None = None,
        http: "httpx2.Client | None" = None,
    ) -> None:
        self._line = ServiceConnection(url, token, space=space, http=http)
        self._origin: Origin | None = None
        self._session: str | None = None
        self._project: str | None = None
        self._name: str | None = None

    def speaking_as(
        self, origin: Origin, *, session: str | None = None, project: str | None = None
    ) -> "Client":
        """The same memories for another speaker; the connection is shared."""
        other = Client.__new__(Client)
        other._line, other._name = self._line, self._name
        other._origin, other._session, other._project = origin, session, project
        return other

    @property
    def space(self) -> str:
        """The name of the space, as the service tells it."""
        if self._name is None:
            self._name = self.overview().space.name
        return self._name

    def remember(
        self,
        content: str,
        *,
        message: str | None = None,
        key: str | None = None,
        anyway: bool = False,
        **fields: Unpack[DraftFields],
    ) -> Outcome:
        """Keeps what `content` says, as a new memory or as more or less trust in a known one.

        `fields` are those of a `Draft`: category, subject, summary, project, tags, confidence, importance,
        doubtful.
        """
        body = {"content": content, **fields, "focus": self._project, "message": message, "anyway": anyway}
        body |= self._speaker()
        headers = {"Idempotency-Key": key} if key is not None else {}
        told = self._line.ask("POST", "/memory/", body=body, headers=headers, also=(409,))
        if "outcome" not in told:
            raise Conflict(told["detail"])
        return self._outcome(told)

    def revise(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        expect_version: int | None = None,
        **fields: Unpack[RevisionFields],
    ) -> Revised | Waiting:
        """Changes a memory and keeps what it was; `version` goes back to an earlier wording.

        `fields` are those of a `Revision`: category, subject, summary, project, tags, add_tags, drop_tags,
        confidence, importance, pinned, version.
        """
        body = {"content": content, **fields, **self._speaker()}
        told = self._line.ask("PUT", _of(memory_id), body=body, headers=_expecting(expect_version))
        if "outcome" in told:
            waiting = self._outcome(told)
            assert isinstance(waiting, Waiting)
            return waiting
        return Revised(self._read(Memory, told), self._read(Memory, told["previous"]))

    def forget(self, memory_id: str, *, expect_version: int | None = None) -> Forgotten:
        """Deletes a memory. It can be restored, unless the profile deletes for good."""
        told = self._line.ask(
            "DELETE", _of(memory_id), query=self._speaker(), headers=_expecting(expect_version)
        )
        return self._read(Forgotten, told)

    def restore(self, memory_id: str) -> Memory:
        """Brings a forgotten memory back."""
        return self._read(Memory, self._line.ask("POST", f"{_of(memory_id)}/restore", query=self._speaker()))

    def split(self, memory_id: str, number: int) -> Split:
        """Makes a wording that was counted as a repetition a memory of its own."""
        body, query = {"number": number}, self._speaker()
        return self._read(Split, self._line.ask("POST", f"{_of(memory_id)}/split", body=body, query=query))

    def promote(self, memory_id: str) -> Memory | Waiting:
        """Makes a memory of one project global."""
        told = self._line.ask("POST", f"{_of(memory_id)}/promote", query=self._speaker())
        if "outcome" not in told:
            return self._read(Memory, told)
        waiting = self._outcome(told)
        assert isinstance(waiting, Waiting)
        return waiting

    def erasure(self, memory_id: str) -> Erasure:
        """What `erase` would remove."""
        return from_json(Erasure, self._line.ask("GET", f"{_of(memory_id)}/erasure"))

    def erase(self, memory_id: str) -> Erasure:
        """Removes a memory and every trace of it, for good."""
        return from_json(Erasure, self._line.ask("POST", f"{_of(memory_id)}/erase"))

    def link(self, from_id: str, to_id: str, kind: LinkKind = "related") -> bool:
        """Links two memories; false when they were linked so already."""
        told = self._line.ask(
            "POST", f"{_of(from_id)}/links", body={"to": to_id, "kind": kind}, query=self._speaker()
        )
        return bool(told["linked"])

    def unlink(self, from_id: str, to_id: str, kind: LinkKind | None = None) -> int:
        """Removes links from one memory to another."""
        place = f"{_of(from_id)}/links/{quote(to_id, safe='')}"
        return int(self._line.ask("DELETE", place, query={"kind": kind, **self._speaker()})["removed"])

    def find(
        self,
        where: Filter | None = None,
        *,
        order: Order = "category",
        limit: int | None = None,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> Page:
        """The memories that `where` admits, now or as they were believed at a past moment."""
        query = {**_filter(where or Filter()), "order": order, "as_of": _moment(as_of)}
        query["state"], query["tag"] = query.pop("states"), query.pop("tags")
        wanted = None if limit is None else offset + limit
        found: list[Memory] = []
        cursor, total = None, 0
        while True:
            page = self._line.ask("GET", "/memory/", query={**query, "limit": _PAGE, "cursor": cursor})
            found += [self._read(Memory, each) for each in page["memories"]]
            cursor, total = page["next"], page["total"]
            if cursor is None or (wanted is not None and len(found) >= wanted):
                return Page(tuple(found[offset:wanted]), total)

    def show(self, memory_id: str) -> Details:
        """One memory with its wordings and links."""
        told = self._line.ask("GET", _of(memory_id))
        return self._read(Details, {**told, "memory": told}, memory=told["id"])

    def why(self, memory_id: str) -> Story:
        """Where a memory came from, how its confidence came about, and which prompts it went into."""
        told = self._line.ask("GET", f"{_of(memory_id)}/why")
        return self._read(Story, told, memory=told["memory"]["id"])

    def recall(self, query: str, **fields: Unpack[QueryFields]) -> Recall:
        """What answers a question, remembered or said; of `project` and of none, unless `where` says more.

        `fields` are those of a `Query`: limit, threshold, where, project, as_of, asked_at, messages.
        """
        where = fields.get("where")
        body = {"query": query, **fields, "project": fields.get("project") or self._project}
        body |= {"where": _filter(where) if where is not None else None, "session": self._session}
        return self._read(Recall, self._line.ask("POST", "/recall", body=body))

    def brief(
        self, *, project: str | None = None, subject: str | None = None, budget: int | None = None
    ) -> Brief:
        """The block for a prompt, within its budget; in a session always the same one."""
        query = {"project": project or self._project, "subject": subject, "budget": budget}
        return from_json(Brief, self._line.ask("GET", "/brief", query={**query, "session": self._session}))

    def context(self, said: Sequence[NewMessage | str], **fields: Unpack[ContextFields]) -> Context:
        """What helps with the newest message and is new to this session, as a block for a prompt."""
        spoken = [NewMessage(role="user", content=one) if isinstance(one, str) else one for one in said]
        body = {"messages": list(map(_message, spoken)), **fields}
        body["project"] = fields.get("project") or self._project
        place = "/context" if self._session is None else f"{_in(self._session)}/context"
        return self._read(Context, self._line.ask("POST", place, body=body))

    def delta(self) -> str:
        """What others added since this session's brief, once; empty when there is nothing."""
        if self._session is None:
            return ""
        place = f"{_in(self._session)}/delta"
        return str(self._line.ask("GET", place, query={"project": self._project})["text"])

    def inbox(self) -> list[Item]:
        """What waits for a person, oldest first."""
        return [self._read(Item, each) for each in self._line.ask("GET", "/inbox")["waiting"]]

    def approve(self, *memory_ids: str) -> list[Memory]:
        """Lets waiting memories in."""
        told = self._line.ask("POST", "/inbox/approve", body={"ids": list(memory_ids)})
        return [self._read(Memory, each) for each in told["memories"]]

    def reject(self, *memory_ids: str) -> list[Memory]:
        """Turns waiting memories down for good."""
        told = self._line.ask("POST", "/inbox/reject", body={"ids": list(memory_ids)})
        return [self._read(Memory, each) for each in told["memories"]]

    def undo_session(self, session_id: str) -> Undone:
        """Takes back what one session wrote."""
        return self._read(Undone, self._line.ask("POST", f"{_in(session_id)}/undo"))

    def sessions(self, *, limit: int | None = None, offset: int = 0) -> list[Session]:
        """The sessions, the latest first."""
        told = self._listed("/sessions", "sessions", None if limit is None else offset + limit)
        return [self._read(Session, each) for each in told[offset:]]

    def session(self, session_id: str) -> Conversation:
        """One session and what was said in it."""
        told = self._line.ask("GET", _in(session_id))
        messages = self._listed(f"{_in(session_id)}/messages", "messages", None)
        return self._read(Conversation, {"session": told, "messages": messages})

    def open_session(
        self, session_id: str | None = None, *, tier: int | None = None, **fields: Unpack[SessionFields]
    ) -> Session:
        """Begins a session of an agent, or goes on with one; `fields`: name, client, directory, project."""
        told = self._line.ask("POST", "/sessions", body={"id": session_id, **fields, "tier": tier})
        return self._read(Session, told)

    def close_session(
        self, session_id: str, *, exit_code: int | None = None, usage: Mapping[str, Any] | None = None
    ) -> Session:
        """Ends a session, with what it cost as far as that is known."""
        body = {"exit_code": exit_code, "usage": dict(usage) if usage is not None else None}
        return self._read(Session, self._line.ask("POST", f"{_in(session_id)}/close", body=body))

    def say_all(self, session_id: str, said: Sequence[NewMessage]) -> list[Message]:
        """Keeps messages of a session in one step and answers those that are new."""
        body = {"messages": list(map(_message, said))}
        told = self._line.ask("POST", f"{_in(session_id)}/messages", body=body)
        return [from_json(Message, each) for each in told["messages"]]

    def say(self, session_id: str, role: str, content: str, **fields: Unpack[MessageFields]) -> Message:
        """Keeps a message of a session, so that memories can cite it; a known one is as it was said first.

        `fields` are speaker, message_id and said_at.
        """
        message_id = fields.get("message_id")
        message_id = message_id if message_id is not None else uuid4().hex
        said = replace(NewMessage(role=role, content=content, **fields), message_id=message_id)
        if new := self.say_all(session_id, [said]):
            return new[0]
        return from_json(Message, self._line.ask("GET", f"/messages/{quote(message_id, safe='')}"))

    def jobs(self, state: JobState = "queued", *, limit: int = 100) -> list[Job]:
        """The jobs in one state, oldest first."""
        told = self._line.ask("GET", "/jobs", query={"state": state, "limit": limit})
        return [from_json(Job, each, payload={}) for each in told["jobs"]]

    def record_event(self, level: str, content: str, *, service: str | None = None) -> Event:
        """Keeps what happened to a service, or in general."""
        body = {"level": level, "content": content, "service": service, "session": self._session}
        return from_json(Event, self._line.ask("POST", "/events", body=body))

    def events(
        self,
        *,
        level: str | None = None,
        service: str | None = None,
        session: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Event]:
        """What happened, the latest first."""
        wanted = None if limit is None else offset + limit
        told = self._listed("/events", "events", wanted, level=level, service=service, session=session)
        return [from_json(Event, each) for each in told[offset:]]

    def record_attempt(
        self, action: str, service: str, succeeded: bool, *, content: str | None = None
    ) -> Attempt:
        """Keeps that an action was taken on a service, so that it is not taken too often."""
        body = {"action": action, "service": service, "succeeded": succeeded, "content": content}
        told = self._line.ask("POST", "/cooldowns", body={**body, "session": self._session})
        return from_json(Attempt, told, action=action, service=service)

    def cooldowns(self, *, service: str | None = None) -> list[CooldownStatus]:
        """The actions inside their window, by service, and whether another one is allowed."""
        told = self._line.ask("GET", "/cooldowns", query={"service": service})
        return [
            from_json(CooldownStatus, each, action=each["action"], service=each["service"])
            for each in told["cooldowns"]
        ]

    def overview(self) -> Overview:
        """The space and how much is in it."""
        return from_json(Overview, self._line.ask("GET", "/stats"), profile_text=None, key="")

    def export(self) -> Iterator[str]:
        """The whole space as lines of an archive."""
        yield from self._line.send("GET", "/export").text.splitlines(keepends=True)

    def import_archive(self, stream: Iterable[str]) -> list[Imported]:
        """Takes archives of spaces into this one, field by field."""
        told = self._line.ask("POST", "/import", body={"archive": "".join(stream)})
        return [from_json(Imported, each) for each in told["archives"]]

    def import_drafts(
        self, drafts: Iterable[tuple[int, Draft]], *, review: bool = False
    ) -> list[ImportResult]:
        """Remembers drafts from elsewhere, each with its line number; `review` sends them to the inbox."""
        given = list(drafts)
        body = {"drafts": [_draft(draft) for _, draft in given], "review": review}
        told = self._line.ask("POST", "/import", body=body)["drafts"]
        lines = (line for line, _ in given)
        return [
            self._read(ImportResult, {**each, "line": line}) for line, each in zip(lines, told, strict=True)
        ]

    def close(self) -> None:
        """Lets go of the connection."""
        self._line.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, kind: type[Value], told: Any, **given: Any) -> Value:
        """A value that belongs to the space, whose name the answers leave out."""
        return from_json(kind, told, space=self.space, **given)

    def _outcome(self, told: dict[str, Any]) -> Outcome:
        """From an answer whose own fields are the memory's, or from a problem that names the known one."""
        match told["outcome"]:
            case "update_suggested":
                told = {**told, "known": told["memory"], "memory": None}
            case "refused":
                known = {"known_id": told.get("id"), "deleted": told.get("deleted")}
                told = {"outcome": "refused", "memory": None, "reason": told["detail"], **known}
            case _:
                told = {**told, "memory": told}
        outcome: Outcome = from_json(Outcome, told, space=self.space)
        return outcome

    def _speaker(self) -> dict[str, Any]:
        return {"origin": self._origin, "session": self._session}

    def _listed(self, path: str, name: str, most: int | None, **query: Any) -> list[dict[str, Any]]:
        """The first `most` of a list that comes in pages."""
        found: list[dict[str, Any]] = []
        cursor = None
        while most is None or len(found) < most:
            page = self._line.ask("GET", path, query={**query, "limit": _PAGE, "cursor": cursor})
            found += page[name]
            cursor = page["next"]
            if cursor is None:
                break
        return found[:most]


def _of(memory_id: str) -> str:
    return f"/memory/{quote(memory_id, safe='')}"


def _in(session_id: str) -> str:
    return f"/sessions/{quote(session_id, safe='')}"


def _expecting(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _filter(where: Filter) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(where).items()
        if value is not None and name != "proposals"
    } | {"states": list(where.states), "tags": list(where.tags)}


def _message(said: NewMessage) -> dict[str, Any]:
    told = {
        "role": said.role,
        "content": said.content,
        "speaker": said.speaker,
        "id": said.message_id,
        "said_at": _moment(said.said_at),
    }
    return {name: value for name, value in told.items() if value is not None}


def _draft(draft: Draft) -> dict[str, Any]:
    told = asdict(draft) | {"tags": list(draft.tags)}
    return {name: told[name] for name in _DRAFTED if told[name] is not None}


_DRAFTED = ("content", *(name for name in DraftFields.__annotations__ if name != "doubtful"))
