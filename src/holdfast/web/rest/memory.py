"""/api/memory/: list, create, show, change and delete memories, with their versions and links.

A memory's version is its ETag; If-Match prevents lost updates.
"""

import re
from typing import Annotated, Any, assert_never

from fastapi import APIRouter, Header, Path, Query

from holdfast.domain import outcomes
from holdfast.domain.history import Story
from holdfast.domain.memory import DraftFields, LinkKind, Memory, Origin, RevisionFields, State
from holdfast.domain.query import Filter, Order, newer_first
from holdfast.engine.erase import Erasure
from holdfast.engine.split import Split
from holdfast.errors import Invalid
from holdfast.web.rest import request_bodies, responses
from holdfast.web.rest.routing import (
    MAX_ITEMS,
    BoundedRoute,
    Cursor,
    JsonResponse,
    Limit,
    SpaceAdmin,
    SpaceRead,
    SpaceSpeaker,
    SpaceTools,
    page,
    speaking,
)
from holdfast.wire import http_errors
from holdfast.wire.values import to_json

router = APIRouter(prefix="/memory", tags=["memory"], route_class=BoundedRoute)

MemoryId = Annotated[str, Path(max_length=200)]
Name = Annotated[str | None, Query(max_length=1_000)]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="A repeated key returns the first answer."),
]
Match = Annotated[
    str | None,
    Header(alias="If-Match", max_length=100, description="Expected ETag; 412 if the memory has changed."),
]
_TAG = re.compile(r'(?:W/)?"?(\d{1,9})"?', re.ASCII)
_CREATED: dict[int | str, dict[str, Any]] = {
    200: {"model": responses.Created, "description": "Already known: reinforced or merged"},
    202: {"model": responses.Created, "description": "Waiting for review"},
    409: {
        "content": {http_errors.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Known"}}},
        "model": responses.Known,
        "description": "A duplicate, a contradiction, or deleted before",
    },
}
_WAITS: dict[int | str, dict[str, Any]] = {202: _CREATED[202]}
_LINKED: dict[int | str, dict[str, Any]] = {200: {"model": responses.Linked, "description": "Already linked"}}


@router.get("/", response_model=responses.MemoryPage)
def list_(  # budget: the parts of a filter, each an argument of its own
    memories: SpaceRead,
    category: Name = None,
    subject: Name = None,
    general: bool = False,
    tag: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006  # FastAPI copies it
    project: Name = None,
    other_projects: bool = True,
    state: Annotated[list[State], Query(max_length=4)] = ["active"],  # noqa: B006  # FastAPI copies it
    origin: Origin | None = None,
    person: Name = None,
    session: Name = None,
    least_confidence: Annotated[float | None, Query(ge=0, le=1)] = None,
    importance: Annotated[int | None, Query(ge=1, le=5)] = None,
    created_after: request_bodies.Moment | None = None,
    created_before: request_bodies.Moment | None = None,
    as_of: request_bodies.Moment | None = None,
    order: Order = "category",
    limit: Limit = MAX_ITEMS,
    cursor: Cursor = None,
) -> JsonResponse:
    """Lists memories, by default the active ones by category, age and id, in pages."""
    where = Filter(
        states=tuple(state),
        category=category,
        subject=subject,
        general=general,
        tags=tuple(tag),
        project=project,
        other_projects=other_projects,
        origin=origin,
        person=person,
        session=session,
        least_confidence=least_confidence,
        importance=importance,
        created_after=created_after,
        created_before=created_before,
    )
    total = 0

    def fetch(most: int, offset: int) -> tuple[Memory, ...]:
        nonlocal total
        found = memories.find(where, order=order, limit=most, offset=offset, as_of=as_of)
        total = found.total
        return found.memories

    items, following = page(fetch, cursor, limit)
    return JsonResponse(responses.MemoryPage(newer_first(items), total, following))


@router.post("/", status_code=201, response_model=responses.Created, responses=_CREATED)
def create(memories: SpaceTools, draft: request_bodies.NewMemory, key: Key = None) -> JsonResponse:
    """Stores a memory: 201 if it is new, 200 if it reinforced or replaced a known one, 202 if it is waiting
    for review, 409 if it duplicates or contradicts a known one, which should be updated instead."""
    speaker = speaking(memories, origin=draft.origin, session=draft.session, project=draft.focus)
    fields = draft.model_dump(include=set(DraftFields.__annotations__))
    outcome = speaker.remember(draft.content, message=draft.message, key=key, anyway=draft.anyway, **fields)
    return _created(outcome)


def _created(outcome: outcomes.Outcome) -> JsonResponse:
    match outcome:
        case outcomes.Added() | outcomes.Contradicting():
            return _stored(201, outcome)
        case outcomes.Reinforced() | outcomes.Merged():
            return _stored(200, outcome)
        case outcomes.Waiting():
            return _stored(202, outcome)
        case outcomes.UpdateSuggested(known, relation):
            what = "duplicate of" if relation == "same" else "contradicts"
            advice = f"{what} memory {known.id} ({known.content!r}): update that memory with PUT"
            return _conflict(
                advice, outcome="update_suggested", relation=relation, id=known.id, content=known.content,
                memory=known,
            )  # fmt: skip
        case outcomes.Refused(reason, known_id, deleted):
            if deleted is None:
                return _conflict(reason, outcome="refused", id=known_id)
            way = f"POST /api/memory/{known_id}/restore or " if deleted.restorable else ""
            advice = f'{reason}: use {way}"anyway": true to store it again'
            return _conflict(advice, outcome="refused", id=known_id, deleted=deleted)
        case _:
            assert_never(outcome)


def _stored(status: int, outcome: outcomes.Outcome) -> JsonResponse:
    told = to_json(outcome)
    memory = told.pop("memory")
    headers = {"ETag": _tag_of(memory["version"]), "Location": f"/api/memory/{memory['id']}"}
    return JsonResponse({**memory, **told}, status_code=status, headers=headers)


def _tag_of(version: int) -> str:
    return f'"{version}"'


def _expected(match: str | None) -> int | None:
    """The version that a caller expects; None if any. Raises: Invalid."""
    if match is None or match.strip() == "*":
        return None
    found = _TAG.fullmatch(match.strip())
    if found is None:
        raise Invalid('invalid If-Match: send one ETag such as "3", or *', field="If-Match")
    return int(found.group(1))


def _tagged(body: Any, memory: Memory) -> JsonResponse:
    return JsonResponse(body, headers={"ETag": _tag_of(memory.version)})


def _conflict(detail: str, **more: Any) -> JsonResponse:
    return JsonResponse(
        http_errors.problem(409, detail, **more), status_code=409, media_type=http_errors.MEDIA_TYPE
    )


@router.get("/{memory_id}", response_model=responses.ShownMemory)
def show(memories: SpaceRead, memory_id: MemoryId) -> JsonResponse:
    found = memories.show(memory_id)
    return _tagged(responses.ShownMemory(found.memory, found.versions, found.links), found.memory)


@router.put("/{memory_id}", response_model=responses.Changed, responses=_WAITS)
@router.patch("/{memory_id}", response_model=responses.Changed, responses=_WAITS)
def change(
    memories: SpaceTools, memory_id: MemoryId, changed: request_bodies.Change, match: Match = None
) -> JsonResponse:
    """Creates a new version and returns the old and new text. 202 if the change is waiting for review."""
    speaker = speaking(memories, origin=changed.origin, session=changed.session)
    fields = changed.model_dump(include=set(RevisionFields.__annotations__))
    result = speaker.revise(memory_id, changed.content, expect_version=_expected(match), **fields)
    if isinstance(result, outcomes.Waiting):
        return _stored(202, result)
    was, now = result.previous, result.memory
    return _tagged(responses.Changed(now, was.content, now.content, was), now)


@router.delete("/{memory_id}", response_model=responses.Deleted)
def delete(memories: SpaceSpeaker, memory_id: MemoryId, match: Match = None) -> JsonResponse:
    """Soft-deletes a memory: it is gone from lists, briefs and recall, and can be restored unless the profile
    deletes for good. Returns the deleted memory."""
    gone = memories.forget(memory_id, expect_version=_expected(match))
    return JsonResponse(responses.Deleted(gone.memory, True, gone.restorable))


@router.post("/{memory_id}/restore", response_model=Memory)
def restore(memories: SpaceSpeaker, memory_id: MemoryId) -> JsonResponse:
    back = memories.restore(memory_id)
    return _tagged(back, back)


@router.post("/{memory_id}/promote", response_model=Memory, responses=_WAITS)
def promote(memories: SpaceSpeaker, memory_id: MemoryId) -> JsonResponse:
    result = memories.promote(memory_id)
    if isinstance(result, outcomes.Waiting):
        return _stored(202, result)
    return _tagged(result.memory, result.memory)


@router.get("/{memory_id}/history", response_model=responses.Versions)
def history(memories: SpaceRead, memory_id: MemoryId) -> JsonResponse:
    """All versions, oldest first."""
    return JsonResponse(responses.Versions(memories.show(memory_id).versions))


@router.get("/{memory_id}/why", response_model=Story)
def why(memories: SpaceRead, memory_id: MemoryId) -> JsonResponse:
    return JsonResponse(memories.why(memory_id))


@router.post("/{memory_id}/split", status_code=201, response_model=Split)
def split(memories: SpaceSpeaker, memory_id: MemoryId, chosen: request_bodies.Splitting) -> JsonResponse:
    return JsonResponse(memories.split(memory_id, chosen.number), status_code=201)


@router.get("/{memory_id}/erasure", response_model=Erasure)
def erasure(memories: SpaceRead, memory_id: MemoryId) -> JsonResponse:
    return JsonResponse(memories.erasure(memory_id))


@router.post("/{memory_id}/erase", response_model=Erasure)
def erase(memories: SpaceAdmin, memory_id: MemoryId) -> JsonResponse:
    return JsonResponse(memories.erase(memory_id))


@router.post("/{memory_id}/links", status_code=201, response_model=responses.Linked, responses=_LINKED)
def link(memories: SpaceSpeaker, memory_id: MemoryId, tie: request_bodies.NewLink) -> JsonResponse:
    """Links two memories; 200 if they are already linked."""
    new = memories.link(memory_id, tie.to, tie.kind)
    return JsonResponse(responses.Linked(new), status_code=201 if new else 200)


@router.delete("/{memory_id}/links/{to}", response_model=responses.Unlinked)
def unlink(
    memories: SpaceSpeaker, memory_id: MemoryId, to: MemoryId, kind: LinkKind | None = None
) -> JsonResponse:
    return JsonResponse(responses.Unlinked(memories.unlink(memory_id, to, kind)))
