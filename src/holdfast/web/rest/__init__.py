"""The REST API: all routes under /api/, with OpenAPI and a page made from it."""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.openapi.utils import get_openapi
from starlette.responses import HTMLResponse

from holdfast import __version__
from holdfast.web.rest import memory, memory_tool, operations, recall, sessions, spaces
from holdfast.web.rest.responses import Problem
from holdfast.web.rest.routing import JsonResponse
from holdfast.wire.http_errors import MEDIA_TYPE
from holdfast.wire.schemas import schema_of

docs_router = APIRouter(include_in_schema=False)

_SAYS = (
    "One memory for every agent that you run. Every request needs a token: `Authorization: Bearer TOKEN`. "
    "With a token for several spaces, name the space: `?space=NAME`."
)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast {version}: REST</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
h2 {{ margin-top: 2.5rem; text-transform: capitalize; }}
dt {{ margin-top: 1rem; }} dd {{ margin-left: 1.5rem; }}
code {{ font-size: .95em; }} .scope {{ color: #666; }}
</style></head><body>
<h1>Holdfast {version}</h1>
<p>{says}</p>
<p>Full specification: <a href="openapi.json">openapi.json</a>.</p>
{parts}
</body></html>
"""


@docs_router.get("/openapi.json")
def openapi(request: Request) -> JsonResponse:
    """The document."""
    return JsonResponse(document(request))


@docs_router.get("/docs", response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    """The page."""
    return HTMLResponse(_page(document(request)))


def document(request: Request) -> dict[str, Any]:
    """The OpenAPI document of all described routes, each with the scope that it needs."""
    if (known := getattr(request.app.state, "document", None)) is not None:
        return dict(known)  # it takes half a second to make
    made = get_openapi(title="Holdfast", version=__version__, description=_SAYS, routes=request.app.routes)
    made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"token": []}]
    request.app.state.document = made
    return made


def _page(made: dict[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    for path, methods in made["paths"].items():
        for method, told in methods.items():
            scope = told.get("x-scope") or "any"
            line = (
                f"<dt><code>{method.upper()} {escape(path)}</code> <span class=scope>({scope})</span></dt>"
                f"<dd>{escape(told.get('description', ''))}{_fields(told, made)}</dd>"
            )
            groups.setdefault(told.get("tags", ["service"])[0], []).append(line)
    parts = "".join(f"<h2>{escape(name)}</h2><dl>{''.join(lines)}</dl>" for name, lines in groups.items())
    return _PAGE.format(version=escape(__version__), says=escape(_SAYS), parts=parts)


def _fields(told: dict[str, Any], made: dict[str, Any]) -> str:
    """The names that a route takes, in the address and in the body."""
    names = [each["name"] for each in told.get("parameters", ()) if each["in"] != "path"]
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    known = made["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {})
    lists = [("query and headers", names), ("body", list(known.get("properties", {})))]
    return "".join(
        f"<br>{title}: {', '.join(f'<code>{escape(name)}</code>' for name in found)}"
        for title, found in lists
        if found
    )


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"content": {MEDIA_TYPE: {"schema": schema_of(Problem).model_json_schema()}}, "description": says}
    for status, says in {
        400: "Malformed request body",
        401: "Missing, unknown or expired token",
        403: "The token lacks the scope, or a quota is reached",
        404: "Not found, or not visible to this token",
        409: "Conflicts with the current state",
        412: "Changed since the given ETag",
        413: "Request body too large",
        415: "Request body is not JSON",
        422: "Invalid value; `field` names the field",
        429: "More requests than the token may make; `Retry-After` has the seconds to wait",
        503: "The database is unreachable",
    }.items()
}


def _all_routes() -> APIRouter:
    whole = APIRouter(responses=_PROBLEMS)
    for part in (memory, memory_tool, recall, sessions, operations, spaces):
        whole.include_router(part.router, prefix="/api")
    whole.include_router(sessions.webhook)
    whole.include_router(docs_router, prefix="/api")
    return whole


#: The routes. `request.state` has the `registry` of spaces, and `heard` to report new messages.
router = _all_routes()
