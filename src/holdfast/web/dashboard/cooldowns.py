"""/cooldowns: which actions on services were taken of late, and whether another one is allowed."""

from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.web.dashboard import time_cursor
from holdfast.web.dashboard.responses import PageRoute, page, part
from holdfast.web.dashboard.visit import Reading, Visit

SECTION: Final = "cooldowns"
MOST_ATTEMPTS: Final = 10  # of one action on one service

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/cooldowns")
def cooldowns(visit: Reading, service: Annotated[str, Query(max_length=500)] = "") -> Response:
    listed = _listed(visit, service.strip())
    if not time_cursor.looking_again(visit):
        return page(visit, "cooldowns.html", **listed)
    if time_cursor.has_seen(visit, listed["seen"]):
        return Response(status_code=204)
    return part(visit, "cooldown_rows.html", **listed)


def _listed(visit: Visit, service: str) -> dict[str, Any]:
    found = visit.memories.cooldowns(service=service or None)
    services = groupby(found, lambda standing: standing.service)
    return {
        "service": service,
        "services": [(name, list(standings)) for name, standings in services],
        "rules": visit.profile.cooldowns,
        "refused": [standing for standing in found if not standing.allowed],
        "most": MOST_ATTEMPTS,
        "seen": time_cursor.mark(
            [(one.service, one.allowed, [each.id for each in one.attempts]) for one in found]
        ),
    }
