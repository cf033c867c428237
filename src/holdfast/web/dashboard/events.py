"""/events and /cooldowns: what happened to services, and which actions on them are allowed now."""

from collections.abc import Sequence
from datetime import UTC
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from holdfast.domain.operations import Event
from holdfast.domain.query import TimeCursor
from holdfast.web.dashboard import charts, formats
from holdfast.web.dashboard.formats import After, Day, cursor_text, day_begins, mark, read_cursor
from holdfast.web.dashboard.memories import MAX_SUBJECTS
from holdfast.web.dashboard.responses import PageRoute, in_address, live, page
from holdfast.web.dashboard.visit import ReadVisit, Visit

ON_A_PAGE: Final = 60
DAYS: Final = 30  # of the strip above the list
MAX_ATTEMPTS: Final = 10  # of one action on one service

router = APIRouter(route_class=PageRoute, include_in_schema=False)
Text = Annotated[str, Field(max_length=500)]


class Choice(BaseModel):
    """The filters; empty means any."""

    level: Text = ""
    service: Annotated[Text, StringConstraints(strip_whitespace=True)] = ""
    session: Text = ""
    since: Day = ""
    until: Day = ""
    after: After = ""

    @property
    def narrowed(self) -> bool:
        return bool(self.level or self.service or self.session or self.since or self.until)

    def told(self, **other: Any) -> dict[str, Any]:
        """For an address; a new choice begins at the first page."""
        return {**self.model_dump(), "after": "", **other}


@router.get("/events")
def events(visit: ReadVisit, chosen: Annotated[Choice, Query()]) -> Response:
    listed = _list_values(visit, chosen)
    if visit.looking_again:
        return live(visit, "events.html", "event_rows.html", **listed)
    services = sorted(
        {name for name, _ in visit.memories.subjects(limit=MAX_SUBJECTS) if name is not None},
        key=str.casefold,
    )
    given = page(visit, "events.html", services=services, **listed)
    return in_address(visit, given, visit.address("/events", **chosen.told(after=chosen.after)))


def _list_values(visit: Visit, chosen: Choice) -> dict[str, Any]:
    found = visit.memories.events(
        level=chosen.level or None,
        service=chosen.service or None,
        session=chosen.session or None,
        since=day_begins(chosen.since),
        before=day_begins(chosen.until, 1),
        limit=ON_A_PAGE + 1,
        after=read_cursor(TimeCursor, chosen.after),
    )
    shown = found[:ON_A_PAGE]
    last = shown[-1] if len(found) > ON_A_PAGE else None
    visit.read_titles(event.session for event in shown if event.session)
    return {
        "chosen": chosen,
        "days": by_day(shown),
        "seen": mark([event.id for event in found]),
        "following": cursor_text(TimeCursor(last.created_at, last.id)) if last else "",
        "levels": [level.name for level in visit.profile.levels],
        "strip": _strip(visit, chosen),
    }


def _strip(visit: Visit, chosen: Choice) -> list[charts.StripDay]:
    """The last days, with how many events of each level they have."""
    today = visit.now.astimezone(UTC).date()
    first = day_begins(today, 1 - DAYS)
    assert first is not None
    found = visit.memories.events_by_day(first, service=chosen.service or None)
    return charts.strip(found, [level.name for level in visit.profile.levels], today, DAYS)


def by_day(events: Sequence[Event]) -> list[tuple[str, list[Event]]]:
    """Events by day, in the same order."""
    days = groupby(events, lambda event: event.created_at.astimezone(UTC).date())
    return [(formats.day(same[0].created_at), same) for same in (list(found) for _, found in days)]


@router.get("/cooldowns")
def cooldowns(visit: ReadVisit, service: Annotated[str, Query(max_length=500)] = "") -> Response:
    found = visit.memories.cooldowns(service=service.strip() or None)
    services = groupby(found, lambda standing: standing.service)
    return live(
        visit,
        "cooldowns.html",
        "cooldown_rows.html",
        service=service.strip(),
        services=[(name, list(standings)) for name, standings in services],
        rules=visit.profile.cooldowns,
        refused=[standing for standing in found if not standing.allowed],
        most=MAX_ATTEMPTS,
        window_bar=charts.window_bar,
        seen=mark([(one.service, one.allowed, [each.id for each in one.attempts]) for one in found]),
    )
