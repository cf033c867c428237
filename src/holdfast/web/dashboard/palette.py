"""/palette: the memories and sessions that the words in the command palette could mean."""

from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import StringConstraints
from starlette.responses import Response

from holdfast.domain.query import Filter, SessionFilter
from holdfast.web.dashboard.responses import PageRoute, part
from holdfast.web.dashboard.visit import ReadVisit

MEMORIES: Final = 6
SESSIONS: Final = 3

router = APIRouter(route_class=PageRoute, include_in_schema=False)
Words = Annotated[str, Query(max_length=200), StringConstraints(strip_whitespace=True)]


@router.get("/palette")
def palette(visit: ReadVisit, q: Words = "") -> Response:
    if not q:
        return part(visit, "palette_found.html", memories=[], sessions=[])
    where = Filter(states=("active", "inactive", "waiting"), text=q, proposals=False)
    found = visit.memories.find(where, order="recent", limit=MEMORIES, exact=False)
    sessions = visit.memories.sessions(limit=SESSIONS, where=SessionFilter(words=q, upkeep=False))
    visit.read_titles(session.id for session in sessions)
    return part(visit, "palette_found.html", memories=found.memories, sessions=sessions)
