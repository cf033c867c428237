"""/events: what happened to services, the latest first."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from holdfast.domain.operations import Event
from holdfast.web.dashboard import formats, time_cursor
from holdfast.web.dashboard.memories import MOST_SUBJECTS
from holdfast.web.dashboard.responses import PageRoute, in_address, page, part
from holdfast.web.dashboard.visit import Reading, Visit

SECTION: Final = "events"
ON_A_PAGE: Final = 60

router = APIRouter(route_class=PageRoute, include_in_schema=False)
Text = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is shown; empty means any."""

    level: str = ""
    service: str = ""
    session: str = ""
    after: str = ""

    @property
    def narrowed(self) -> bool:
        return bool(self.level or self.service or self.session)

    def told(self, **other: Any) -> dict[str, Any]:
        """For an address; a new choice begins at the first page."""
        return {**asdict(self), "after": "", **other}


def choice(level: Text = "", service: Text = "", session: Text = "", after: time_cursor.After = "") -> Choice:
    return Choice(level=level, service=service.strip(), session=session, after=after)


@router.get("/events")
def events(visit: Reading, chosen: Annotated[Choice, Depends(choice)]) -> Response:
    listed = _listed(visit, chosen)
    if time_cursor.looking_again(visit):
        if time_cursor.has_seen(visit, listed["seen"]):
            return Response(status_code=204)
        return part(visit, "event_rows.html", **listed)
    services = sorted(
        {name for name, _ in visit.memories.subjects(limit=MOST_SUBJECTS) if name is not None},
        key=str.casefold,
    )
    given = page(visit, "events.html", services=services, **listed)
    return in_address(visit, given, visit.address("/events", **chosen.told(after=chosen.after)))


def _listed(visit: Visit, chosen: Choice) -> dict[str, Any]:
    found = visit.memories.events(
        level=chosen.level or None,
        service=chosen.service or None,
        session=chosen.session or None,
        limit=ON_A_PAGE + 1,
        after=time_cursor.read(chosen.after),
    )
    shown = found[:ON_A_PAGE]
    last = shown[-1] if len(found) > ON_A_PAGE else None
    return {
        "chosen": chosen,
        "days": by_day(shown),
        "seen": time_cursor.mark([event.id for event in found]),
        "following": time_cursor.told(last.created_at, last.id) if last else "",
        "levels": [level.name for level in visit.profile.levels],
    }


def by_day(events: Sequence[Event]) -> list[tuple[str, list[Event]]]:
    """Events under their days, as they come."""
    days = groupby(events, lambda event: event.created_at.astimezone(UTC).date())
    return [(formats.day(same[0].created_at), same) for same in (list(found) for _, found in days)]
