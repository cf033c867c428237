"""Recall, brief, context, the inbox and maintenance."""

from typing import Annotated

from fastapi import APIRouter, Query

from holdfast.engine.audit import Audit
from holdfast.engine.brief import Brief
from holdfast.engine.context import Context
from holdfast.engine.memories import Memories
from holdfast.engine.recall import Recall
from holdfast.engine.sessions import NewMessage
from holdfast.engine.tend import Preview, Tended
from holdfast.web.rest import request_bodies, responses
from holdfast.web.rest.routing import BoundedRoute, JsonResponse, SpaceAdmin, SpaceRead, SpaceTools, speaking

router = APIRouter(tags=["recall"], route_class=BoundedRoute)

Name = Annotated[str | None, Query(max_length=1_000)]
SessionName = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get("/recall", response_model=Recall)
def recall(
    memories: SpaceRead,
    query: Annotated[str, Query(max_length=10_000)],
    limit: Annotated[int, Query(ge=1, le=100)] = 5,
    project: Name = None,
    session: SessionName = None,
    messages: bool = True,
) -> JsonResponse:
    asked = request_bodies.Question(
        query=query, limit=limit, project=project, session=session, messages=messages
    )
    return _recalled(memories, asked)


@router.post("/recall", response_model=Recall)
def recall_in_detail(memories: SpaceRead, asked: request_bodies.Question) -> JsonResponse:
    """Searches with filters, or as of a past time."""
    return _recalled(memories, asked)


def _recalled(memories: Memories, asked: request_bodies.Question) -> JsonResponse:
    fields = asked.model_dump(exclude={"query", "session", "where"})
    where = asked.where.filter() if asked.where is not None else None
    found = speaking(memories, session=asked.session).recall(asked.query, where=where, **fields)
    return JsonResponse(found)


@router.get("/brief", response_model=Brief)
def brief(
    memories: SpaceRead,
    project: Name = None,
    subject: Name = None,
    budget: Annotated[int | None, Query(ge=0, le=1_000_000)] = None,
    session: SessionName = None,
) -> JsonResponse:
    speaker = speaking(memories, session=session)
    return JsonResponse(speaker.brief(project=project, subject=subject, budget=budget))


@router.post("/context", response_model=Context)
def context(memories: SpaceRead, recent: request_bodies.Recent) -> JsonResponse:
    return JsonResponse(memories.context(said(recent.messages), **recent.model_dump(exclude={"messages"})))


@router.get("/inbox", response_model=responses.Inbox, tags=["inbox"])
def inbox(memories: SpaceRead) -> JsonResponse:
    items = memories.inbox()
    return JsonResponse(responses.Inbox(items, len(items)))


@router.post("/inbox/approve", response_model=responses.Decided, tags=["inbox"])
def approve(memories: SpaceAdmin, chosen: request_bodies.Ids) -> JsonResponse:
    return JsonResponse(responses.Decided(memories.approve(*dict.fromkeys(chosen.ids))))


@router.post("/inbox/reject", response_model=responses.Decided, tags=["inbox"])
def reject(memories: SpaceAdmin, chosen: request_bodies.Ids) -> JsonResponse:
    return JsonResponse(responses.Decided(memories.reject(*dict.fromkeys(chosen.ids))))


@router.post("/tend", response_model=Tended, tags=["upkeep"])
def tend(memories: SpaceTools, clock_is_right: bool = False) -> JsonResponse:
    """Runs upkeep: decays unconfirmed memories, archives unused ones, proposes duplicates to merge.

    After a pause of more than 180 days nothing decays unless `clock_is_right`; `clock_doubt` reports this.
    """
    return JsonResponse(memories.tend(clock_is_right=clock_is_right))


@router.get("/tend", response_model=Preview, tags=["upkeep"])
def tend_preview(memories: SpaceRead) -> JsonResponse:
    return JsonResponse(memories.tend_preview())


@router.get("/audit", response_model=Audit, tags=["upkeep"])
def audit(memories: SpaceRead) -> JsonResponse:
    """Finds junk: duplicates, contradictions, secrets and more, with ids and advice; changes nothing."""
    return JsonResponse(memories.audit())


def said(messages: list[request_bodies.SentMessage]) -> list[NewMessage]:
    """Messages as the engine takes them."""
    return [NewMessage(**one.model_dump(exclude={"id"}), message_id=one.id) for one in messages]
