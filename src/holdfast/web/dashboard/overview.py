"""/: what is worth knowing at first sight: what needs a person, what is new, what ran of late."""

from datetime import timedelta
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.domain.query import Filter
from holdfast.domain.spend import dollars
from holdfast.web.dashboard.cursors import mark
from holdfast.web.dashboard.memories import subject_word
from holdfast.web.dashboard.responses import PageRoute, live
from holdfast.web.dashboard.sessions import runs
from holdfast.web.dashboard.visit import Reading, Visit

NEWEST: Final = 6
SESSIONS: Final = 5
_DAY: Final = timedelta(days=1)
_SEEN: Final = ("active", "inactive")

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/")
def overview(visit: Reading) -> Response:
    return live(visit, "overview.html", "overview_cards.html", **_told(visit))


def _told(visit: Visit) -> dict[str, Any]:
    memories = visit.memories
    counts = memories.overview()
    # What is new as of the last hour's beginning: the page does not change with every second.
    since = visit.now.replace(minute=0, second=0, microsecond=0) - _DAY
    new = memories.find(Filter(states=_SEEN, created_after=since), limit=1).total
    latest = memories.find(Filter(states=_SEEN), order="recent", limit=NEWEST).memories
    recent = runs(visit, SESSIONS)
    findings = memories.attention()
    alarms = [one for one in memories.events(level="critical", limit=3) if one.created_at >= since]
    refused = [one for one in memories.cooldowns() if not one.allowed]
    spend = memories.spend(days=1)
    told = {
        "counts": counts,
        "new": new,
        "since": since,
        "latest": latest,
        "recent": recent,
        "findings": findings,
        "alarms": alarms,
        "refused": refused,
        "spent": dollars(spend.today.micro_dollars) if spend.today.calls else "",
        "subject_word": subject_word(visit.profile),
        "empty_space": not (counts.active + counts.inactive + counts.waiting + counts.sessions),
    }
    return {**told, "seen": mark(memories.last_change(), told)}
