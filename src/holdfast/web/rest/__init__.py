"""The REST door: every verb under /api/, with an OpenAPI document and a page made from it."""

from typing import Any

from fastapi import APIRouter

from holdfast.web.rest import memory, memory_tool, operations, recall, sessions, spaces
from holdfast.web.rest.openapi import describing
from holdfast.web.rest.responses import Problem
from holdfast.wire.http_errors import MEDIA_TYPE
from holdfast.wire.schemas import schema_of

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"content": {MEDIA_TYPE: {"schema": schema_of(Problem).model_json_schema()}}, "description": says}
    for status, says in {
        400: "Malformed request body",
        401: "Missing or unknown token",
        403: "The token lacks the scope",
        404: "Not found, or not visible to this token",
        409: "Conflicts with the current state",
        412: "Changed since the given ETag",
        413: "Request body too large",
        415: "Request body is not JSON",
        422: "Invalid value; `field` names the field",
        503: "The database is unreachable",
    }.items()
}


def _all_routes() -> APIRouter:
    whole = APIRouter(responses=_PROBLEMS)
    for part in (memory, memory_tool, recall, sessions, operations, spaces):
        whole.include_router(part.router, prefix="/api")
    whole.include_router(sessions.webhook)
    whole.include_router(describing, prefix="/api")
    return whole


#: The routes. They find the spaces at `request.state.registry` and say at `heard` that messages came in.
router = _all_routes()
