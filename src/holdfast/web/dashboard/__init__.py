"""The dashboard. Every page is a module with a `router`, listed in `PAGES`."""

from functools import partial
from types import ModuleType
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from holdfast.errors import NotFound
from holdfast.web.dashboard import (
    events,
    files,
    import_page,
    inbox,
    login,
    memories,
    memory_actions,
    memory_page,
    palette,
    search,
    sessions,
    settings,
    space_page,
    stats,
    subject_page,
)
from holdfast.web.dashboard.browsers import BrowserAccess, Browsers, first_of
from holdfast.web.dashboard.page_context import Board, Notices, static_files
from holdfast.web.dashboard.responses import PageRoute, part, refusal
from holdfast.web.dashboard.visit import ReadVisit

__all__ = ["Browsers", "dashboard", "router"]

#: Routes match in this order, so fixed paths come before those with an id.
PAGES: Final[tuple[ModuleType, ...]] = (
    sessions,
    events,
    memory_actions,
    memories,
    memory_page,
    subject_page,
    import_page,
    inbox,
    search,
    stats,
    files,
    settings,
    space_page,
    palette,
)


_shared = APIRouter(route_class=PageRoute, include_in_schema=False)


@_shared.get("/said")
def said(visit: ReadVisit) -> Response:
    """The latest notice for this browser."""
    return part(visit, "said.html", notice=visit.board.notices.take(visit.teller))


class _ForBrowsers(PageRoute):
    """A route that only signed-in browsers match: what programs call is answered as if it were not there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if "browser" in scope.get("state", {}) else (Match.NONE, {})


_no_page = APIRouter(route_class=_ForBrowsers, include_in_schema=False)


@_no_page.get("/{address:path}")
def no_page(visit: ReadVisit, address: str) -> Response:
    """What a wrong address shows."""
    raise NotFound(f"there is no page at /{address:.200}")


def _all_routes() -> APIRouter:
    whole = APIRouter()
    for one in (*_PARTS, _no_page):
        whole.include_router(one)
    return whole


def dashboard(browsers: Browsers) -> tuple[Board, BrowserAccess]:
    """The state shared by all pages, and browser access for the guard."""
    firsts = {first_of(path) for one in _PARTS for path in _paths(one)}
    board = Board(browsers, Notices(browsers))
    return board, BrowserAccess(browsers, firsts, partial(refusal, board))


def _paths(router: APIRouter) -> list[str]:
    return [str(getattr(route, "path", "/")) for route in router.routes]


_PARTS: Final = (*(page.router for page in (login, *PAGES)), _shared, static_files)
#: The routes. `request.state` has the `registry` of spaces and the `board` shared by all pages.
router = _all_routes()
