"""/sessions: the runs of agents, the latest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.domain.memory import Session
from holdfast.web.dashboard import time_cursor
from holdfast.web.dashboard.responses import PageRoute, page, part
from holdfast.web.dashboard.visit import Reading, Visit

SECTION: Final = "sessions"
ON_A_PAGE: Final = 40

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Run:
    """A session as it stands in a list."""

    session: Session
    messages: int
    memories: int

    @property
    def cost(self) -> float | None:
        return usage_number(self.session.usage, "cost_usd")


@router.get("/sessions")
def sessions(visit: Reading, after: time_cursor.After = "") -> Response:
    found = runs(visit, ON_A_PAGE + 1, after)
    shown = found[:ON_A_PAGE]
    last = shown[-1].session if len(found) > ON_A_PAGE else None
    values: dict[str, Any] = {
        "runs": shown,
        "after": after,
        "seen": time_cursor.mark(shown),
        "following": time_cursor.told(last.started_at, last.id) if last else "",
    }
    if not time_cursor.looking_again(visit):
        return page(visit, "sessions.html", **values)
    if time_cursor.has_seen(visit, values["seen"]):
        return Response(status_code=204)
    return part(visit, "session_rows.html", **values)


def runs(visit: Visit, limit: int, after: str = "") -> list[Run]:
    """The latest sessions, with how much is in them."""
    found = visit.memories.sessions(limit=limit, after=time_cursor.read(after), upkeep=False)
    tallies = visit.memories.session_tallies(*(session.id for session in found))
    return [Run(session, *tallies[session.id]) for session in found]


def usage_number(usage: Mapping[str, Any] | None, name: str) -> float | None:
    """A figure as the agent reported it; none for what is no figure."""
    value = (usage or {}).get(name)
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return value if sound else None
