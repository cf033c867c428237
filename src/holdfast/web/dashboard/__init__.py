"""The dashboard: pages on which people see, search, correct and trust what agents know.

A page is a module with a `router` and the name of its `SECTION`; this list is all that knows them.
"""

from types import ModuleType
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.web.dashboard import (
    assets,
    cooldowns,
    events,
    files,
    inbox,
    login,
    memories,
    memory,
    memory_actions,
    overview,
    search,
    session,
    sessions,
    settings,
    stats,
)
from holdfast.web.dashboard.browser_access import BrowserAccess, first_of
from holdfast.web.dashboard.browsers import Browsers
from holdfast.web.dashboard.notices import Notices
from holdfast.web.dashboard.page_context import Board
from holdfast.web.dashboard.responses import PageRoute, part
from holdfast.web.dashboard.sections import present
from holdfast.web.dashboard.visit import Reading

__all__ = ["Browsers", "dashboard", "router"]

#: A module's routes are asked in this order, so fixed addresses stand before those with an id in them.
PAGES: Final[tuple[ModuleType, ...]] = (
    overview,
    sessions,
    session,
    events,
    memories,
    memory_actions,
    memory,
    cooldowns,
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
    board = Board(browsers, present(frozenset(page.SECTION for page in PAGES)), Notices())
    return board, BrowserAccess(browsers, {first_of(path) for one in _PARTS for path in _paths(one)})


def _paths(router: APIRouter) -> list[str]:
    return [str(getattr(route, "path", "/")) for route in router.routes]


_PARTS: Final = (*(page.router for page in (login, *PAGES)), _shared, assets.router)
#: The routes. They find the spaces at `request.state.registry` and what pages share at `board`.
router = _all_routes()
