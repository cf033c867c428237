"""Style, scripts and icons, from this package alone. Their version stands in their address, so they keep."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

_KINDS: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_NAMES: Final = (
    "style.css", "app.js", "live.js", "icons.svg", "mark.svg", "vendor/htmx-2.0.11.min.js",
    "vendor/htmx-LICENSE.txt",
)  # fmt: skip
_FOR_GOOD: Final = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@cache
def _content(name: str) -> bytes:
    return files(__package__).joinpath("static", *name.split("/")).read_bytes()


@cache
def version() -> str:
    """Changes with any of the files."""
    whole = hashlib.sha256()
    for name in _NAMES:
        whole.update(_content(name))
    return whole.hexdigest()[:12]


def address(name: str) -> str:
    """Where a page finds a file."""
    if name not in _NAMES:
        raise KeyError(name)
    return f"/static/{version()}/{name}"


@router.get("/static/{asked}/{name:path}")
def static(asked: str, name: str, request: Request) -> Response:
    if name not in _NAMES:
        return Response("file not found", 404, media_type="text/plain")
    tag = f'"{version()}"'
    headers = {
        "ETag": tag,
        "Cache-Control": _FOR_GOOD if asked == version() else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(_content(name), headers=headers, media_type=_KINDS[name.rpartition(".")[2]])
