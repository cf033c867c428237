"""Sessions and messages: an acknowledged message is on disk, and a repeated one is stored once."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from holdfast.domain.budget import CONTEXT_LINES, CONTEXT_TOKENS
from holdfast.domain.memory import Message, Session
from holdfast.engine.brief import Brief
from holdfast.engine.context import Context
from holdfast.engine.memories import Memories
from holdfast.engine.undo import Undone
from holdfast.web.rest import request_bodies, responses
from holdfast.web.rest.recall import said
from holdfast.web.rest.routing import (
    BoundedRoute,
    Cursor,
    JsonResponse,
    Limit,
    SpaceRead,
    SpaceTools,
    SpaceWrite,
    page,
    speaking,
)

router = APIRouter(tags=["sessions"], route_class=BoundedRoute)

SessionId = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("/sessions", response_model=responses.SessionPage)
def list_(memories: SpaceRead, limit: Limit = 100, cursor: Cursor = None) -> JsonResponse:
    """Lists sessions, latest first."""
    items, following = page(lambda most, offset: memories.sessions(limit=most, offset=offset), cursor, limit)
    return JsonResponse(responses.SessionPage(items, following))


@router.post("/sessions", status_code=201, response_model=Session)
def open_(memories: SpaceTools, new: request_bodies.NewSession) -> JsonResponse:
    """Opens a session, or continues a known one."""
    session = memories.open_session(new.id, **new.model_dump(exclude={"id"}))
    return JsonResponse(session, status_code=201)


@router.get("/sessions/{session_id}", response_model=responses.ShownSession)
def show(memories: SpaceRead, session_id: SessionId) -> JsonResponse:
    """One session and its number of messages."""
    found = memories.session(session_id)
    return JsonResponse(responses.ShownSession(found.session, len(found.messages)))


@router.post("/sessions/{session_id}/close", response_model=Session)
def close(
    memories: SpaceTools, session_id: SessionId, end: request_bodies.SessionEnd | None = None
) -> JsonResponse:
    """Closes a session, optionally with exit code and usage."""
    told = end.model_dump() if end is not None else {}
    closed = memories.close_session(session_id, **told)
    return JsonResponse(closed)


@router.post("/sessions/{session_id}/messages", response_model=responses.Kept)
def hear(
    memories: SpaceWrite, session_id: SessionId, heard: request_bodies.Messages, request: Request
) -> JsonResponse:
    """Stores messages in order, all or none. Opens the session if needed."""
    return _store(memories, session_id, heard.messages, request)


@router.get("/sessions/{session_id}/messages", response_model=responses.MessagePage)
def messages(
    memories: SpaceRead, session_id: SessionId, limit: Limit = 100, cursor: Cursor = None
) -> JsonResponse:
    """The messages of a session, in order."""
    found = memories.session(session_id).messages
    items, following = page(lambda most, offset: found[offset : offset + most], cursor, limit)
    return JsonResponse(responses.MessagePage(items, following))


@router.get("/messages/{message_id}", response_model=Message)
def message(memories: SpaceRead, message_id: SessionId) -> JsonResponse:
    return JsonResponse(memories.message(message_id))


@router.get("/sessions/{session_id}/context", response_model=Context)
def context(
    memories: SpaceRead,
    session_id: SessionId,
    text: Annotated[str | None, Query(max_length=10_000, description="The last message.")] = None,
    budget: Annotated[int, Query(ge=0, le=1_000_000)] = CONTEXT_TOKENS,
    limit: Annotated[int, Query(ge=0, le=100)] = CONTEXT_LINES,
) -> JsonResponse:
    speaker = speaking(memories, session=session_id)
    return JsonResponse(speaker.context([text] if text else [], budget=budget, limit=limit))


@router.post("/sessions/{session_id}/context", response_model=Context)
def context_of(memories: SpaceRead, session_id: SessionId, recent: request_bodies.Recent) -> JsonResponse:
    """Memories that help with the last message in the body and were not shown to the session yet."""
    speaker = speaking(memories, session=session_id)
    return JsonResponse(speaker.context(said(recent.messages), **recent.model_dump(exclude={"messages"})))


@router.get("/sessions/{session_id}/brief", response_model=Brief)
def brief(memories: SpaceRead, session_id: SessionId) -> JsonResponse:
    """The brief of the session: the same text each time."""
    return JsonResponse(speaking(memories, session=session_id).brief())


@router.get("/sessions/{session_id}/delta", response_model=responses.Delta)
def delta(
    memories: SpaceRead, session_id: SessionId, project: Annotated[str | None, Query(max_length=1_000)] = None
) -> JsonResponse:
    return JsonResponse(responses.Delta(speaking(memories, session=session_id, project=project).delta()))


@router.post("/sessions/{session_id}/undo", response_model=Undone)
def undo(memories: SpaceTools, session_id: SessionId) -> JsonResponse:
    """Undoes everything that the session wrote."""
    return JsonResponse(memories.undo_session(session_id))


webhook = APIRouter(tags=["sessions"], route_class=BoundedRoute)


@webhook.post("/webhook/{token}/messages", response_model=responses.Kept)
def posted(
    memories: SpaceWrite,
    token: Annotated[str, Path(description="A token with scope write.")],
    body: request_bodies.Posted,
    request: Request,
) -> JsonResponse:
    """Stores messages; for programs that can only be given a URL."""
    return _store(memories, body.session, body.messages, request)


def _store(
    memories: Memories, session_id: str, heard: list[request_bodies.SentMessage], request: Request
) -> JsonResponse:
    new = memories.say_all(session_id, said(heard))
    request.state.heard()  # the work in the background can begin
    return JsonResponse(responses.Kept(session_id, len(heard), len(new), new))
