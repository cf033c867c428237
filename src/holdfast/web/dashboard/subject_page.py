"""/timeline: what was learnt about one subject, and what became of it, beside the events of that service."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import StringConstraints
from starlette.responses import Response

from holdfast.domain.operations import Event
from holdfast.engine.subject_story import MOST, SubjectChange, SubjectStory
from holdfast.web.dashboard import formats
from holdfast.web.dashboard.formats import mark, named
from holdfast.web.dashboard.memory_page import step
from holdfast.web.dashboard.responses import PageRoute, live
from holdfast.web.dashboard.visit import ReadVisit

router = APIRouter(route_class=PageRoute, include_in_schema=False)
Subject = Annotated[str, Query(max_length=500), StringConstraints(strip_whitespace=True)]


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A change of a memory, or an event."""

    id: str
    at: datetime
    change: SubjectChange | None = None
    event: Event | None = None


@router.get("/timeline")
def timeline(visit: ReadVisit, subject: Subject = "") -> Response:
    general = subject.casefold() in ("", visit.profile.block.general.casefold())
    story = visit.memories.subject_story(None if general else subject)
    events = [] if general else visit.memories.events(service=subject, limit=MOST)
    visit.read_titles(one.entry.session for one in story.changes if one.entry.session)
    return live(
        visit,
        "timeline.html",
        "timeline_rows.html",
        subject="" if general else subject,
        story=story,
        days=_days(_rows(story, events)),
        step_of=step,
        noted=lambda entry: named(entry.note or "", (one.memory for one in story.changes)),
        seen=mark(visit.memories.last_change(), [event.id for event in events]),
    )


def _rows(story: SubjectStory, events: list[Event]) -> list[TimelineRow]:
    """The newest first; events only from the time that the changes cover."""
    rows = [TimelineRow(f"c-{one.entry.seq}", one.entry.created_at, change=one) for one in story.changes]
    since = rows[-1].at if story.more and rows else None
    told = [event for event in events if since is None or event.created_at >= since]
    rows += [TimelineRow(f"e-{event.id}", event.created_at, event=event) for event in told]
    return sorted(rows, key=lambda row: row.at, reverse=True)


def _days(rows: list[TimelineRow]) -> list[tuple[str, list[TimelineRow]]]:
    days = groupby(rows, lambda row: row.at.astimezone(UTC).date())
    return [(formats.day(found[0].at), found) for found in (list(same) for _, same in days)]
