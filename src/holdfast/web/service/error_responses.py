"""Converts errors to problem+json responses, for all routes."""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from holdfast.errors import HoldfastError
from holdfast.wire.http_errors import MEDIA_TYPE, of_error, problem

_MAX_ERRORS = 10
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PLACES = ("body", "query", "path", "header")
#: Our texts for validation errors; the other messages are clear enough.
_SAYS = {
    "missing": "required field is missing",
    "extra_forbidden": "unknown field: see /api/docs",
    "model_attributes_type": "must be a JSON object",
}
_log = logging.getLogger(__name__)


def tell_problems(app: FastAPI) -> None:
    """Registers the error handlers."""
    app.add_exception_handler(HoldfastError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_form)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _of_surprise)


async def _of_ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, HoldfastError)
    status, body = of_error(error)
    return _answer(status, body, {"Retry-After": "5"} if status == 503 else {})


async def _of_form(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [_error(each) for each in error.errors()[:_MAX_ERRORS]]
    detail = "; ".join(f"{each['field']}: {each['says']}" for each in found)
    return _answer(422, problem(422, detail, field=found[0]["field"] if found else None, errors=found))


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail, headers = str(error.detail), dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))
        detail = f"{request.method:.20} is not allowed here: use {headers['Allow']}"
    elif error.status_code == 404 and detail == HTTPStatus.NOT_FOUND.phrase:  # no route, not no memory
        detail = "no such endpoint: see /api/docs"
    return _answer(error.status_code, problem(error.status_code, detail), headers)


def _methods(request: Request) -> list[str]:
    """The methods of a path; each route only knows its own."""
    plain = {"type": "http", "path": request.scope["path"], "root_path": "", "headers": []}
    return [
        method
        for method in _METHODS
        if any(route.matches({**plain, "method": method})[0] is Match.FULL for route in request.app.routes)
    ]


async def _of_surprise(request: Request, _: Exception) -> Response:
    # The exception itself goes to the log; the caller gets no details.
    # Not the URL: it may contain a token.
    _log.error("%s %s failed", request.method, getattr(request.scope.get("route"), "path", "?"))
    return _answer(500, problem(500, "internal error: see the log of the service"))


def _error(each: Any) -> dict[str, str]:
    """A validation error with the name of its field, without the value, which may be private."""
    if each["type"] == "json_invalid":
        why = each.get("ctx", {}).get("error", "can't be parsed")
        return {"field": "body", "says": f"invalid JSON at character {each['loc'][-1]}: {why}"}
    where, *rest = [str(part) for part in each["loc"]] or ["body"]
    named = [part for part in rest if "[" not in part]  # not the types of a union
    place = named if where in _PLACES else [where, *named]
    says = _SAYS.get(each["type"], str(each["msg"]).replace("Input should", "must"))
    return {"field": ".".join(place) or "body", "says": says}


def _answer(status: int, body: dict[str, Any], headers: Any = None) -> Response:
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))
