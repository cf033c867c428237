"""The REST door: every verb under /api/, with an OpenAPI document and a page made from it."""

from typing import Any

from fastapi import APIRouter

from holdfast.doors.rest import look, memory, memory_tool, operations, sessions, spaces
from holdfast.doors.rest.answers import Problem
from holdfast.doors.rest.described import describing
from holdfast.problems import MEDIA_TYPE

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}, "description": says}
    for status, says in {
        400: "The body can't be read",
        401: "No token, or an unknown one",
        403: "The token does not allow it",
        404: "Not there, or not for this token",
        409: "It conflicts with what is known",
        412: "It changed since it was seen",
        413: "The body is too large",
        415: "The body is not JSON",
        422: "A field is not as it should be; `field` names it",
        503: "The memory can't be used now",
    }.items()
}


def _all_routes() -> APIRouter:
    whole = APIRouter(responses=_PROBLEMS)
    for part in (memory, memory_tool, look, sessions, operations, spaces):
        whole.include_router(part.router, prefix="/api")
    whole.include_router(sessions.webhook)
    whole.include_router(describing, prefix="/api")
    return whole


#: The routes. They find the spaces at `request.state.rooms` and say at `heard` that messages came in.
router = _all_routes()
