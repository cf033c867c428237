"""`Client`: the memories of a space that a service keeps, with the verbs, values and errors of `Memories`."""
# budget: a list of all verbs.

import gzip
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack
from urllib.parse import quote
from uuid import uuid4

from holdfast.domain.history import Story
from holdfast.domain.jobs import Job
from holdfast.domain.memory import Draft, Memory, Message, Origin, Session
from holdfast.domain.operations import Attempt, CooldownStatus, Event
from holdfast.domain.outcomes import Outcome, Waiting
from holdfast.domain.query import EventFields, Filter, ListFields
from holdfast.engine.brief import Brief
from holdfast.engine.context import Context, ContextFields
from holdfast.engine.erase import Erasure
from holdfast.engine.find import Details, Page
from holdfast.engine.forget import Forgotten
from holdfast.engine.imports import ImportResult
from holdfast.engine.inbox import Item
from holdfast.engine.memories import Memories
from holdfast.engine.recall import Recall
from holdfast.engine.restore import Imported
from holdfast.engine.revise import Revised
from holdfast.engine.sessions import Conversation, MessageFields, NewMessage
from holdfast.engine.spaces import Overview
from holdfast.engine.split import Split
from holdfast.engine.undo import Undone
from holdfast.errors import Conflict
from holdfast.wire.http_errors import ServiceConnection, without_nulls
from holdfast.wire.values import from_json

if TYPE_CHECKING:
    import httpx2

Value = TypeVar("Value")
Given = ParamSpec("Given")
#: Makes the result of a verb from the JSON of a response and the arguments of the call.
Read = Callable[["Client", Any, Mapping[str, Any]], Value]

_PAGE = 1_000
_SPEAKER = ("origin", "session")


def _verb(
    of: Callable[Concatenate[Memories, Given], Value],
    route: str,
    read: Read[Value],
    *,
    query: Sequence[str] = (),
    body: Sequence[str] = (),
    renamed: Mapping[str, str] | None = None,
    also: tuple[int, ...] = (),
) -> Callable[Concatenate["Client", Given], Value]:
    """The verb of `Memories` as a request, with the same signature and documentation.

    Arguments go into the path and the headers, others into the query of a GET or DELETE, else into the body.
    `query` and `body` say what is sent of the speaker.
    """
    method, path = route.split()
    signature = inspect.signature(of)

    @wraps(of)
    def ask(client: "Client", /, *args: Given.args, **kwargs: Given.kwargs) -> Value:
        given = dict(signature.bind(client, *args, **kwargs).arguments)
        del given["self"]
        given |= given.pop("fields", {})
        sent = {(renamed or {}).get(name, name): value for name, value in given.items() if value is not None}
        headers = {"Idempotency-Key": sent.pop("key")} if "key" in sent else {}
        if "expect_version" in sent:
            headers["If-Match"] = f'"{sent.pop("expect_version")}"'
        parts = {name: quote(sent.pop(name), safe="") for name in list(sent) if f"{{{name}}}" in path}
        in_query, in_body = client._speaker(query), client._speaker(body)
        if method in ("GET", "DELETE"):
            told = client._line.ask(method, path.format(**parts), query=in_query | sent, headers=headers)
        else:
            told = client._line.ask(
                method, path.format(**parts), query=in_query, body=in_body | sent, headers=headers, also=also
            )
        return read(client, told, given)

    return ask


def _same(
    of: Callable[Concatenate[Memories, Given], Value],
) -> Callable[[Callable[Concatenate["Client", Given], Value]], Callable[Concatenate["Client", Given], Value]]:
    """Declares a method that has the signature and documentation of a verb of `Memories`."""
    return wraps(of)


def _value(kind: type[Value]) -> Read[Value]:
    """Reads a value that does not name its space."""
    return lambda client, told, given: from_json(kind, told, **given)


def _owned(kind: type[Value]) -> Read[Value]:
    """Reads a value of the space, whose name the service leaves out."""
    return lambda client, told, given: client._read(kind, told, **given)


def _owned_list(kind: type[Value], name: str) -> Read[list[Value]]:
    return lambda client, told, given: [client._read(kind, each) for each in told[name]]


def _outcome(client: "Client", told: Any, given: Mapping[str, Any]) -> Outcome:
    """From a response whose own fields are the memory's, or from a problem that names the known one."""
    match told.get("outcome"):
        case None:
            raise Conflict(told["detail"])
        case "update_suggested":
            told = {**told, "known": told["memory"], "memory": None}
        case "refused":
            known = {"known_id": told.get("id"), "deleted": told.get("deleted")}
            told = {"outcome": "refused", "memory": None, "reason": told["detail"], **known}
        case _:
            told = {**told, "memory": told}
    outcome: Outcome = from_json(Outcome, told, space=client.space)
    return outcome


def _waiting(client: "Client", told: Any) -> Waiting:
    outcome = _outcome(client, told, {})
    assert isinstance(outcome, Waiting)
    return outcome


def _revised(client: "Client", told: Any, given: Mapping[str, Any]) -> Revised | Waiting:
    if "outcome" in told:
        return _waiting(client, told)
    return Revised(client._read(Memory, told), client._read(Memory, told["previous"]))


def _details(client: "Client", told: Any, given: Mapping[str, Any]) -> Details:
    return client._read(Details, {**told, "memory": told}, memory=told["id"])


def _story(client: "Client", told: Any, given: Mapping[str, Any]) -> Story:
    return client._read(Story, told, memory=told["memory"]["id"])


def _cooldowns(client: "Client", told: Any, given: Mapping[str, Any]) -> list[CooldownStatus]:
    return [
        from_json(CooldownStatus, each, action=each["action"], service=each["service"])
        for each in told["cooldowns"]
    ]


class Client:
    """The memories of one space, over HTTP.

    `token` says which space; where it reaches several, `space` names one. Close it, or use it as a context
    manager, to let go of the connection. Arguments that only make sense in process are refused.
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

    remember = _verb(Memories.remember, "POST /memory/", _outcome, body=(*_SPEAKER, "focus"), also=(409,))
    revise = _verb(Memories.revise, "PUT /memory/{memory_id}", _revised, body=_SPEAKER)
    forget = _verb(Memories.forget, "DELETE /memory/{memory_id}", _owned(Forgotten), query=_SPEAKER)
    restore = _verb(Memories.restore, "POST /memory/{memory_id}/restore", _owned(Memory), query=_SPEAKER)
    split = _verb(Memories.split, "POST /memory/{memory_id}/split", _owned(Split), query=_SPEAKER)
    link = _verb(
        Memories.link, "POST /memory/{from_id}/links", lambda client, told, given: bool(told["linked"]),
        query=_SPEAKER, renamed={"to_id": "to"},
    )  # fmt: skip
    unlink = _verb(
        Memories.unlink, "DELETE /memory/{from_id}/links/{to_id}",
        lambda client, told, given: int(told["removed"]), query=_SPEAKER,
    )  # fmt: skip
    show = _verb(Memories.show, "GET /memory/{memory_id}", _details)
    why = _verb(Memories.why, "GET /memory/{memory_id}/why", _story)
    recall = _verb(Memories.recall, "POST /recall", _owned(Recall), body=("session", "project"))
    brief = _verb(Memories.brief, "GET /brief", _value(Brief), query=("session", "project"))
    inbox = _verb(Memories.inbox, "GET /inbox", _owned_list(Item, "waiting"))
    approve = _verb(
        Memories.approve,
        "POST /inbox/approve",
        _owned_list(Memory, "memories"),
        renamed={"memory_ids": "ids"},
    )
    reject = _verb(
        Memories.reject, "POST /inbox/reject", _owned_list(Memory, "memories"), renamed={"memory_ids": "ids"}
    )
    undo_session = _verb(Memories.undo_session, "POST /sessions/{session_id}/undo", _owned(Undone))
    open_session = _verb(
        Memories.open_session, "POST /sessions", _owned(Session), renamed={"session_id": "id"}
    )
    close_session = _verb(Memories.close_session, "POST /sessions/{session_id}/close", _owned(Session))
    say_all = _verb(
        Memories.say_all, "POST /sessions/{session_id}/messages",
        lambda client, told, given: [from_json(Message, each) for each in told["messages"]],
        renamed={"said": "messages"},
    )  # fmt: skip
    jobs = _verb(
        Memories.jobs, "GET /jobs",
        lambda client, told, given: [from_json(Job, each, payload={}) for each in told["jobs"]],
    )  # fmt: skip
    record_event = _verb(Memories.record_event, "POST /events", _value(Event), body=("session",))
    record_attempt = _verb(Memories.record_attempt, "POST /cooldowns", _value(Attempt), body=("session",))
    cooldowns = _verb(Memories.cooldowns, "GET /cooldowns", _cooldowns)
    overview = _verb(
        Memories.overview, "GET /stats",
        lambda client, told, given: from_json(Overview, told, profile_text=None, key=""),
    )  # fmt: skip

    def promote(self, memory_id: str) -> Memory | Waiting:
        """Makes a memory of one project global."""
        told = self._line.ask("POST", f"{_of(memory_id)}/promote", query=self._speaker(_SPEAKER))
        return _waiting(self, told) if "outcome" in told else self._read(Memory, told)

    def erasure(self, memory_id: str) -> Erasure:
        """What `erase` would remove."""
        return from_json(Erasure, self._line.ask("GET", f"{_of(memory_id)}/erasure"))

    def erase(self, memory_id: str) -> Erasure:
        """Removes a memory and every trace of it, for good."""
        return from_json(Erasure, self._line.ask("POST", f"{_of(memory_id)}/erase"))

    @_same(Memories.find)
    def find(self, where: Filter | None = None, **listing: Unpack[ListFields]) -> Page:
        query = {**without_nulls(where or Filter()), **listing}
        query["state"], query["tag"] = query.pop("states"), query.pop("tags")
        limit, offset = query.pop("limit", None), query.pop("offset", 0)
        most = None if limit is None else offset + limit
        found, total = self._pages("/memory/", "memories", most, **query)
        return Page(tuple(self._read(Memory, each) for each in found[offset:]), total)

    @_same(Memories.context)
    def context(self, said: Sequence[NewMessage | str], **fields: Unpack[ContextFields]) -> Context:
        spoken = [NewMessage(role="user", content=one) if isinstance(one, str) else one for one in said]
        body = {**self._speaker(("project",)), "messages": spoken, **without_nulls(fields)}
        place = "/context" if self._session is None else f"{_in(self._session)}/context"
        return self._read(Context, self._line.ask("POST", place, body=body))

    def delta(self) -> str:
        """What others added since this session's brief, once; empty when there is nothing."""
        if self._session is None:
            return ""
        query = self._speaker(("project",))
        return str(self._line.ask("GET", f"{_in(self._session)}/delta", query=query)["text"])

    def sessions(self, *, limit: int | None = None, offset: int = 0) -> list[Session]:
        """The sessions, the latest first."""
        told, _ = self._pages("/sessions", "sessions", None if limit is None else offset + limit)
        return [self._read(Session, each) for each in told[offset:]]

    @_same(Memories.session)
    def session(self, session_id: str) -> Conversation:
        told = self._line.ask("GET", _in(session_id))
        messages, _ = self._pages(f"{_in(session_id)}/messages", "messages", None)
        return self._read(Conversation, {"session": told, "messages": messages})

    @_same(Memories.say)
    def say(self, session_id: str, role: str, content: str, **fields: Unpack[MessageFields]) -> Message:
        message_id = fields.get("message_id")
        message_id = message_id if message_id is not None else uuid4().hex
        said = replace(NewMessage(role=role, content=content, **fields), message_id=message_id)
        if new := self.say_all(session_id, [said]):
            return new[0]
        return from_json(Message, self._line.ask("GET", f"/messages/{quote(message_id, safe='')}"))

    @_same(Memories.events)
    def events(self, **listing: Unpack[EventFields]) -> list[Event]:
        query: dict[str, Any] = {**listing}
        limit, offset = query.pop("limit", None), query.pop("offset", 0)
        told, _ = self._pages("/events", "events", None if limit is None else offset + limit, **query)
        return [from_json(Event, each) for each in told[offset:]]

    def export(self) -> Iterator[str]:
        """The whole space as lines of an archive."""
        yield from self._line.send("GET", "/export").text.splitlines(keepends=True)

    def import_archive(self, stream: Iterable[str]) -> list[Imported]:
        """Takes archives of spaces into this one, field by field."""
        packed = gzip.compress("".join(stream).encode(), mtime=0)
        headers = {"Content-Type": "application/octet-stream"}
        told = self._line.ask("POST", "/archive", body=packed, headers=headers)
        return [from_json(Imported, each) for each in told["archives"]]

    def import_drafts(
        self, drafts: Iterable[tuple[int, Draft]], *, review: bool = False
    ) -> list[ImportResult]:
        """Remembers drafts from elsewhere, each with its line number; `review` sends them to the inbox."""
        given = list(drafts)
        body = {"drafts": [draft for _, draft in given], "review": review}
        told = self._line.ask("POST", "/import", body=body)["drafts"]
        return [
            self._read(ImportResult, {**each, "line": line})
            for (line, _), each in zip(given, told, strict=True)
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
        return from_json(kind, told, **given, space=self.space)

    def _speaker(self, names: Sequence[str]) -> dict[str, Any]:
        speaker = {"origin": self._origin, "session": self._session, "project": self._project}
        speaker["focus"] = self._project
        return {name: speaker[name] for name in names}

    def _pages(
        self, path: str, name: str, most: int | None, **query: Any
    ) -> tuple[list[dict[str, Any]], int]:
        """The first `most` of a list that comes in pages, and how many there are in all."""
        found: list[dict[str, Any]] = []
        cursor, total = None, 0
        while True:
            page = self._line.ask("GET", path, query={**query, "limit": _PAGE, "cursor": cursor})
            found += page[name]
            cursor, total = page["next"], page.get("total", 0)
            if cursor is None or (most is not None and len(found) >= most):
                return found[:most], total


def _of(memory_id: str) -> str:
    return f"/memory/{quote(memory_id, safe='')}"


def _in(session_id: str) -> str:
    return f"/sessions/{quote(session_id, safe='')}"
