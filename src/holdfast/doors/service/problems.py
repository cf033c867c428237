"""What is wrong with a request, said as problem+json by every route of the service."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from holdfast.errors import HoldfastError
from holdfast.problems import MEDIA_TYPE, of_error, problem

_MOST_ERRORS = 10
_log = logging.getLogger(__name__)


def tell_problems(app: FastAPI) -> None:
    """Makes `app` answer errors in one shape."""
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
    found = [_error(each) for each in error.errors()[:_MOST_ERRORS]]
    detail = "; ".join(f"{each['field']}: {each['says']}" for each in found)
    return _answer(422, problem(422, detail, field=found[0]["field"] if found else None, errors=found))


async def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(error.status_code, problem(error.status_code, str(error.detail)), error.headers or {})


async def _of_surprise(request: Request, _: Exception) -> Response:
    # The exception itself goes to the log on its way out; who asked is told no more than that.
    # Not the address: it may hold a token.
    _log.error("%s %s failed", request.method, getattr(request.scope.get("route"), "path", "?"))
    return _answer(500, problem(500, "the service failed at this request: its log has more"))


def _error(each: Any) -> dict[str, str]:
    """One thing that does not fit, with the name of its field and without the value, which may be private."""
    if each["type"] == "json_invalid":
        why = each.get("ctx", {}).get("error", "it can't be parsed")
        return {"field": "body", "says": f"this is no JSON at character {each['loc'][-1]}: {why}"}
    place = [str(part) for part in each["loc"] if part not in ("body", "query", "path", "header")]
    return {"field": ".".join(place) or "body", "says": str(each["msg"])}


def _answer(status: int, body: dict[str, Any], headers: Any = None) -> Response:
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))
