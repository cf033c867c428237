"""The dashboard: pages on which people see, search, correct and trust what agents know.

A page is a module with a `router`; this list is all that knows them.
"""

from types import ModuleType
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.web.dashboard import (
    events,
    files,
    inbox,
    login,
    memories,
    memory,
    memory_actions,
    overview,
    search,
    sessions,
    settings,
    stats,
)
from holdfast.web.dashboard.browsers import BrowserAccess, Browsers, first_of
from holdfast.web.dashboard.page_context import Board, static_files
from holdfast.web.dashboard.responses import PageRoute, part
from holdfast.web.dashboard.visit import Reading

__all__ = ["Browsers", "dashboard", "router"]

#: A module's routes are asked in this order, so fixed addresses stand before those with an id in them.
PAGES: Final[tuple[ModuleType, ...]] = (
    overview,
    sessions,
    events,
    memories,
    memory_actions,
    memory,
    inbox,
    search,
    stats,
    files,
    settings,
)


_shared = APIRouter(route_class=PageRoute, include_in_schema=False)


@_shared.get("/said")
def said(visit: Reading) -> Response:
    """What there is to tell this browser."""
    return part(visit, "said.html", notice=visit.board.notices.take(visit.teller))


def _all_routes() -> APIRouter:
    whole = APIRouter()
    for one in _PARTS:
        whole.include_router(one)
    return whole


def dashboard(browsers: Browsers) -> tuple[Board, BrowserAccess]:
    """What the pages of one application share, and what the guard has to know about them."""
    firsts = {first_of(path) for one in _PARTS for path in _paths(one)}
    return Board(browsers), BrowserAccess(browsers, firsts)


def _paths(router: APIRouter) -> list[str]:
    return [str(getattr(route, "path", "/")) for route in router.routes]


_PARTS: Final = (*(page.router for page in (login, *PAGES)), _shared, static_files)
#: The routes. They find the spaces at `request.state.registry` and what pages share at `board`.
router = _all_routes()
