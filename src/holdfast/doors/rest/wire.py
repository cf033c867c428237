"""JSON in and out: routes that say what they need, bodies of bounded depth, answers in UTF-8."""

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from holdfast.doors.rest.access import Checked

MOST_DEPTH = 32  # brackets within brackets
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


class Json(Response):
    """An answer in JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")  # half a character goes out as JSON's own escape


class BoundedRoute(APIRoute):
    """A route whose body is read with care, and whose description tells the scope that it needs."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        calls: list[object] = [each.call for each in self.dependant.dependencies]
        [scope] = [call.scope for call in calls if isinstance(call, Checked)]
        self.openapi_extra = {**(self.openapi_extra or {}), "x-scope": scope}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await answer(_BoundedRequest(request.scope, request.receive))

        return bounded


class _BoundedRequest(Request):
    async def json(self) -> Any:
        body = await self.body()
        if _depth(body) > MOST_DEPTH:
            raise HTTPException(400, f"the body is nested too deeply: at most {MOST_DEPTH} levels fit")
        try:
            return json.loads(body, parse_constant=_no_number)
        except UnicodeDecodeError:
            raise HTTPException(400, "the body is not UTF-8") from None
        except json.JSONDecodeError:
            raise
        except ValueError as error:  # a number with thousands of digits
            raise HTTPException(400, str(error)) from None


def _depth(body: bytes) -> int:
    """How deep brackets stand within each other, found without parsing: parsing is what could overflow."""
    deepest = depth = 0
    for found in _BRACKETS.finditer(body):
        mark = found.group()
        if mark in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in b"]}":
            depth -= 1
    return deepest


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON: use a number or null")
