"""Events, cooldowns, jobs, counts; export and import of a space."""

import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import AwareDatetime
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from holdfast.domain.jobs import JobState
from holdfast.domain.memory import Draft, Source
from holdfast.domain.operations import Attempt, Event
from holdfast.domain.spend import GroupedBy, SpendReport
from holdfast.engine.archive import unpacked
from holdfast.engine.spaces import Overview
from holdfast.errors import Invalid
from holdfast.web.rest import request_bodies, responses
from holdfast.web.rest.routing import (
    BoundedRoute,
    Cursor,
    JsonResponse,
    Limit,
    SpaceAdmin,
    SpaceRead,
    SpaceTools,
    page,
    speaking,
)

router = APIRouter(tags=["operations"], route_class=BoundedRoute)

Name = Annotated[str | None, Query(max_length=1_000)]
_IN_MEMORY = 4 * 1024 * 1024  # bytes of an export; a longer one goes through a file
_CHUNK = 256 * 1024
_PACKED = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/stats", response_model=Overview)
def stats(memories: SpaceRead) -> JsonResponse:
    """The space and its counts."""
    return JsonResponse(memories.overview())


@router.get("/access", response_model=responses.Accesses)
def access(
    memories: SpaceAdmin,
    memory: Name = None,
    token: Name = None,
    door: Name = None,
    since: Annotated[AwareDatetime | None, Query()] = None,
    limit: Limit = 100,
) -> JsonResponse:
    """Who read what, newest first, if the space keeps an access log."""
    found = memories.access_log(memory=memory, token=token, door=door, since=since, limit=limit)
    return JsonResponse(responses.Accesses(found))


@router.get("/jobs", response_model=responses.Jobs)
def jobs(
    memories: SpaceRead,
    state: JobState = "queued",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> JsonResponse:
    return JsonResponse(responses.Jobs(memories.jobs(state, limit=limit)))


@router.get("/spend", response_model=SpendReport)
def spend(
    memories: SpaceRead,
    by: GroupedBy = "purpose",
    days: Annotated[int | None, Query(ge=1, le=36_500)] = None,
) -> JsonResponse:
    return JsonResponse(memories.spend(by=by, days=days))


@router.get("/events", response_model=responses.EventPage)
def events(
    memories: SpaceRead,
    level: Name = None,
    service: Name = None,
    session: Name = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JsonResponse:

    def fetch(most: int, offset: int) -> Sequence[Event]:
        return memories.events(level=level, service=service, session=session, limit=most, offset=offset)

    items, following = page(fetch, cursor, limit)
    return JsonResponse(responses.EventPage(items, following))


@router.post("/events", status_code=201, response_model=Event)
def record_event(memories: SpaceTools, seen: request_bodies.NewEvent) -> JsonResponse:
    speaker = speaking(memories, session=seen.session)
    event = speaker.record_event(seen.level, seen.content, service=seen.service)
    return JsonResponse(event, status_code=201)


@router.get("/cooldowns", response_model=responses.Standings)
def cooldowns(memories: SpaceRead, service: Name = None) -> JsonResponse:
    return JsonResponse(responses.Standings(memories.cooldowns(service=service)))


@router.post("/cooldowns", status_code=201, response_model=Attempt)
def record_attempt(memories: SpaceTools, made: request_bodies.NewAttempt) -> JsonResponse:
    speaker = speaking(memories, session=made.session)
    attempt = speaker.record_attempt(made.action, made.service, made.succeeded, content=made.content)
    return JsonResponse(attempt, status_code=201)


@router.get("/export", response_class=StreamingResponse)
def export(memories: SpaceAdmin) -> StreamingResponse:
    # Written down first: the database is not kept waiting for a slow reader.
    kept: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # _chunks closes it
    for line in memories.export():
        kept.write(line.encode())
    kept.seek(0)
    name = f'attachment; filename="{memories.space}.jsonl"'
    return StreamingResponse(
        _chunks(kept), media_type="application/x-ndjson", headers={"Content-Disposition": name}
    )


def _chunks(kept: IO[bytes]) -> Iterator[bytes]:
    with kept:
        while chunk := kept.read(_CHUNK):
            yield chunk


@router.post("/import", response_model=responses.ImportReport)
def import_(memories: SpaceAdmin, given: request_bodies.Import) -> JsonResponse:
    """Imports an archive, field by field, or drafts."""
    if (given.archive is None) == (given.drafts is None):
        raise Invalid("send either archive or drafts", field="archive")
    archives, drafts = [], []
    if given.archive is not None:
        archives = memories.import_archive(given.archive.splitlines(keepends=True))
    else:
        drafts = memories.import_drafts(_numbered(given.drafts or []), review=given.review)
    return JsonResponse(responses.ImportReport(archives, drafts))


async def _packed(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect:  # or the guard, which ends a body that grows too large
        raise HTTPException(400, "request body incomplete") from None


@router.post("/archive", response_model=responses.ImportReport, openapi_extra=_PACKED)
def import_archive(memories: SpaceAdmin, packed: Annotated[bytes, Depends(_packed)]) -> JsonResponse:
    """Merges an archive into the space: the body is what `holdfast export | gzip` writes, at most 64 MB."""
    return JsonResponse(responses.ImportReport(memories.import_archive(unpacked(packed)), []))


def _numbered(drafts: list[request_bodies.NewDraft]) -> list[tuple[int, Draft]]:
    source = Source(origin="import")
    return [
        (number, Draft.of(source=source, **draft.model_dump()))
        for number, draft in enumerate(drafts, start=1)
    ]
