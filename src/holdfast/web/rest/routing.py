"""Shared by the routes: a space with the required scope, limited JSON bodies, JSON responses, cursors."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Collection, Coroutine, Sequence
from inspect import getdoc
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends, HTTPException, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from holdfast.domain.access import Grant, Scope
from holdfast.domain.memory import PEOPLE, Origin
from holdfast.engine.administration import Administration
from holdfast.engine.memories import Memories
from holdfast.errors import Forbidden, Invalid
from holdfast.wire.schemas import schema_of
from holdfast.wire.values import is_value, to_json


class RestRegistry(Protocol):
    """The spaces that the service keeps open."""

    def entered(self, grant: Grant, space: str | None = None) -> Memories: ...
    def administration(self, grant: Grant) -> Administration: ...
    def left(self, space: str) -> None: ...


class Checked:
    """Something that only a caller with at least this scope gets."""

    def __init__(self, scope: Scope) -> None:
        self.scope: Scope = scope


AskedSpace = Annotated[
    str | None, Query(max_length=63, description="Required if the token covers several spaces.")
]


class RequireSpace(Checked):
    """The memories of the space that was asked for, for a caller with at least this scope."""

    def __call__(self, request: Request, space: AskedSpace = None) -> Memories:
        grant: Grant = request.state.grant
        grant.require(self.scope)
        return registry_of(request).entered(grant, space)


class RequireSpeaker(Checked):
    """The same for requests that name an origin and a session in the query."""

    def __call__(
        self,
        request: Request,
        space: AskedSpace = None,
        origin: Origin | None = None,
        session: Annotated[str | None, Query(max_length=200)] = None,
    ) -> Memories:
        memories = RequireSpace(self.scope)(request, space)
        return speaking(memories, origin=origin, session=session)


class RequireAdmin(Checked):
    """Spaces and tokens, for a caller with at least this scope."""

    def __call__(self, request: Request) -> Administration:
        grant: Grant = request.state.grant
        grant.require(self.scope)
        return registry_of(request).administration(grant)


SpaceRead = Annotated[Memories, Depends(RequireSpace("read"))]
SpaceTools = Annotated[Memories, Depends(RequireSpace("tools"))]
SpaceSpeaker = Annotated[Memories, Depends(RequireSpeaker("tools"))]
SpaceWrite = Annotated[Memories, Depends(RequireSpace("write"))]
SpaceAdmin = Annotated[Memories, Depends(RequireSpace("admin"))]
AdminRead = Annotated[Administration, Depends(RequireAdmin("read"))]
AdminWrite = Annotated[Administration, Depends(RequireAdmin("admin"))]


def registry_of(request: Request) -> RestRegistry:
    """The registry that the router was made for."""
    registry: RestRegistry = request.state.registry
    return registry


def speaking(
    memories: Memories,
    *,
    origin: Origin | None = None,
    session: str | None = None,
    project: str | None = None,
) -> Memories:
    """The memories for this origin, session and project.

    A caller may set a less trusted origin; a more trusted one needs scope 'admin'. Raises: Forbidden.
    """
    if origin in PEOPLE and memories.origin not in PEOPLE:
        raise Forbidden(f"origin {origin!r} requires a token with scope 'admin': leave origin out")
    return memories.speaking_as(origin or memories.origin, session=session, project=project)


MAX_DEPTH = 32  # brackets within brackets
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


class JsonResponse(Response):
    """A JSON response of engine values."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(to_json(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")  # half a character goes out as JSON's own escape


class BoundedRoute(APIRoute):
    """A route with a limited body, and its scope in the OpenAPI document.

    Its response models are made from the declared dataclasses. A route without a docstring is described as
    the verb of its name.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not endpoint.__doc__:
            says = getdoc(getattr(Memories, endpoint.__name__)) or ""
            options["description"] = says.partition("\n\n")[0]
        others = options.get("responses") or {}
        options["responses"] = {status: _modelled(told, "model") for status, told in others.items()}
        super().__init__(path, endpoint, **_modelled(options, "response_model"))
        calls: list[object] = [each.call for each in self.dependant.dependencies]
        [scope] = [call.scope for call in calls if isinstance(call, Checked)]
        self.openapi_extra = {**(self.openapi_extra or {}), "x-scope": scope}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        names = _names(self.dependant)
        takes_body = self.body_field is not None

        async def bounded(request: Request) -> Response:
            _refuse_unknown(request, names)
            careful = _BoundedRequest(request.scope, request.receive)
            if takes_body and not _is_json(request.headers.get("content-type")) and await _sent(careful):
                raise HTTPException(415, "request body must be JSON: send Content-Type: application/json")
            return await answer(careful)

        return bounded


def _modelled(told: dict[str, Any], name: str) -> dict[str, Any]:
    kind = told.get(name)
    return {**told, name: schema_of(kind)} if is_value(kind) else told


def _names(dependant: Dependant) -> set[str]:
    """The query parameters of a route and its dependencies."""
    own = {each.alias for each in dependant.query_params}
    return own.union(*(_names(each) for each in dependant.dependencies))


def _refuse_unknown(request: Request, names: Collection[str]) -> None:
    """Rejects unknown query parameters: a misspelled filter would return more than was asked for.

    `space` is allowed everywhere.
    """
    unknown = next((name for name in request.query_params if name not in names and name != "space"), None)
    if unknown is not None:
        known = f"use {', '.join(sorted(names))}" if names else "leave it out"
        raise Invalid(f"unknown query parameter {unknown[:60]!r}: {known}", field=unknown[:60])


async def _sent(request: Request) -> bool:
    """Whether there is a body at all."""
    try:
        return bool(await request.body())
    except ClientDisconnect:  # or the guard, which ends a body that grows too large
        raise HTTPException(400, "request body incomplete") from None


def _is_json(kind: str | None) -> bool:
    """Whether FastAPI will take a body of this type for JSON."""
    main, _, detail = (kind or "").partition(";")[0].strip().lower().partition("/")
    return main == "application" and (detail == "json" or detail.endswith("+json"))


class _BoundedRequest(Request):
    async def json(self) -> Any:
        body = await self.body()
        if _depth(body) > MAX_DEPTH:
            raise HTTPException(400, f"request body nested too deeply: at most {MAX_DEPTH} levels")
        try:
            return json.loads(body, parse_constant=_no_number)
        except UnicodeDecodeError:
            raise HTTPException(400, "request body is not UTF-8") from None
        except json.JSONDecodeError:
            raise
        except ValueError as error:  # a number with thousands of digits
            raise HTTPException(400, str(error)) from None


def _depth(body: bytes) -> int:
    """The nesting depth, without parsing, because parsing deep input could overflow."""
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
    raise ValueError(f"{name} is not valid JSON: use a number or null")


MAX_ITEMS = 1_000  # items of a page
_FARTHEST = 10_000_000

Cursor = Annotated[str | None, Query(max_length=1_000, description="`next` of the previous page.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="Maximum number of items.")]


class Named(Protocol):
    @property
    def id(self) -> str: ...


Item = TypeVar("Item", bound=Named)
Fetch = Callable[[int, int], Sequence[Item]]  # a limit and an offset to items


def page(fetch: Fetch[Item], cursor: str | None, limit: int) -> tuple[Sequence[Item], str | None]:
    """The items after `cursor`, and the next cursor; None at the end.

    A list may change between two pages: the cursor has the last item, so that none is repeated or left out.
    Raises: Invalid, for an invalid cursor.
    """
    start = _start(fetch, *_read(cursor)) if cursor is not None else 0
    found = fetch(limit + 1, start)
    items = found[:limit]
    more = len(found) > limit
    return items, _encode(start + limit, items[-1].id) if more else None


def _start(fetch: Fetch[Item], offset: int, last: str) -> int:
    before = fetch(1, offset - 1)
    if before and before[0].id == last:
        return offset
    # The list has changed: after the last item, if it still exists.
    place = 0
    while ids := [item.id for item in fetch(MAX_ITEMS, place)]:
        if last in ids:
            return place + ids.index(last) + 1
        place += len(ids)
    return offset


def _encode(offset: int, last: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([offset, last]).encode()).decode().rstrip("=")


def _read(cursor: str) -> tuple[int, str]:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        offset, last = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error):
        raise _wrong() from None
    if type(offset) is not int or not 1 <= offset <= _FARTHEST or not isinstance(last, str):
        raise _wrong()
    return offset, last


def _wrong() -> Invalid:
    return Invalid("invalid cursor: use `next` of the previous page", field="cursor")
