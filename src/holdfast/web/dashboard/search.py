"""/search: the recall that agents have, for a person: each score in its parts, and the block for a prompt.

A look counts no access and leaves no receipt: it would change what it shows.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from holdfast.domain.budget import CONTEXT_LINES
from holdfast.domain.memory import STATES
from holdfast.domain.query import Filter
from holdfast.domain.ranking import Hit, MemoryHit, owner
from holdfast.engine.look import Look
from holdfast.web.dashboard import charts
from holdfast.web.dashboard.responses import PageRoute, in_address, page
from holdfast.web.dashboard.visit import ReadVisit, Visit

LIMITS: Final = (5, 12, 25)
MAX_DAYS: Final = 3_650  # of the time slider
SUGGESTED: Final = 4

router = APIRouter(route_class=PageRoute, include_in_schema=False)


class SearchForm(BaseModel):
    """The choices in the address."""

    q: Annotated[str, Field(max_length=500)] = ""
    as_of: date | Literal[""] = ""
    project: Annotated[str, Field(max_length=200), StringConstraints(strip_whitespace=True)] = ""
    limit: Annotated[int, Field(ge=1, le=LIMITS[-1])] = LIMITS[0]

    def moment(self, now: datetime) -> datetime | None:
        """The end of the requested day; None for now."""
        if not self.as_of or self.as_of >= now.astimezone(UTC).date():
            return None
        return datetime.combine(self.as_of, time.max, UTC)

    def told(self) -> dict[str, Any]:
        """The choices for a URL, without defaults."""
        return self.model_dump(exclude_defaults=True)


#: The parts of the relevance, and the factors of the score, in plain words.
PLAIN: Final = {
    "meaning": "Similar meaning",
    "words": "Shared words, rare ones count more",
    "helps": "A model’s estimate that it helps with the question",
    "neighbours": "Messages next to it",
    "session": "Other messages of its session",
    "speaker": "Said by the person asked about",
    "date": "Said on a day asked about",
    "time": "Mentions a time, which the question asks for",
    "brevity": "Short text",
    "limit": "Cut to stay between 0 and 1",
    "recency": "Recency: 1 for a week, 0.5 after 90 days",
    "importance": "Importance, as a share of 3",
    "confidence": "Confidence",
    "feedback": "Marked as not helpful for a similar question",
    "message": "Ranked with its source message",
}


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """A hit, and how its score came about."""

    hit: Hit
    is_memory: bool
    in_block: bool
    own: float  # compared with the floor
    floor: float
    bar: charts.Evidence
    parts: tuple[tuple[str, float], ...]  # what the relevance is the sum of
    factors: tuple[tuple[str, float], ...]  # what the relevance is multiplied by


@router.get("/search")
def search(visit: ReadVisit, asked: Annotated[SearchForm, Query()]) -> Response:
    found = None
    if asked.q.strip():
        found = visit.memories.look(
            asked.q, limit=asked.limit, project=asked.project or None, as_of=asked.moment(visit.now)
        )
    given = page(
        visit,
        "search.html",
        asked=asked,
        limits=LIMITS,
        plain=PLAIN,
        **_values(found),
        **_around(visit, asked),
    )
    return in_address(visit, given, visit.address("/search", **asked.told()))


def _values(found: Look | None) -> dict[str, Any]:
    if found is None:
        return {"found": None, "hits": [], "more": [], "nearly": []}
    most = max((_mark(hit, found) for hit in (*found.recall.hits, *found.more, *found.nearly)), default=1.0)
    return {
        "found": found,
        "hits": [_scored(hit, found, most) for hit in found.recall.hits],
        "more": [_scored(hit, found, most) for hit in found.more],
        "nearly": [_scored(hit, found, most) for hit in found.nearly],
        "lines": CONTEXT_LINES,
    }


def _scored(hit: Hit, found: Look, most: float) -> ScoredHit:
    own, floor = found.held[owner(hit)]
    factors = tuple((name, value) for name, value in hit.parts.items() if name != "relevance")
    bar = charts.evidence(hit.evidence, _mark(hit, found), most)
    parts = tuple((name, value) for name, value in hit.evidence.items() if value)
    in_block = owner(hit) in map(owner, found.block.included)
    return ScoredHit(hit, isinstance(hit, MemoryHit), in_block, own, floor, bar, parts, factors)


def _mark(hit: Hit, found: Look) -> float:
    """The relevance with which a hit would just reach its floor, on the scale of its bar."""
    own, floor = found.held[owner(hit)]
    return hit.parts["relevance"] * floor / own if own > 0 else floor


def _around(visit: Visit, asked: SearchForm) -> dict[str, Any]:
    """The choices of the form: the earliest day, and example subjects."""
    today = visit.now.astimezone(UTC).date()
    oldest = visit.memories.find(Filter(states=STATES), order="created", limit=1).memories
    first = oldest[0].created_at.astimezone(UTC).date() if oldest else today
    days = min(max((today - first).days, 1), MAX_DAYS)
    chosen = asked.as_of or today
    known = [] if asked.q.strip() else visit.memories.subjects(limit=SUGGESTED + 1)
    return {
        "today": today,
        "first": today - timedelta(days=days),
        "days": days,
        "back": min(max((today - chosen).days, 0), days),
        "subjects": [name for name, _ in known if name][:SUGGESTED],
        "empty_space": not oldest,
    }
