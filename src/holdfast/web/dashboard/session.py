"""/sessions/ID: what was said, what the agent was given and wrote at each point, and how to take it back."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from holdfast.domain.memory import Session
from holdfast.domain.spend import MICRO, dollars
from holdfast.engine.session_story import SessionStory
from holdfast.engine.undo import Undone
from holdfast.web.dashboard import formats, time_cursor
from holdfast.web.dashboard.notices import Offer
from holdfast.web.dashboard.responses import PageRoute, done, page, part
from holdfast.web.dashboard.sessions import usage_number
from holdfast.web.dashboard.visit import Reading, Sent, Visit, Writing

SECTION: Final = "sessions"
AT_ONCE: Final = 60  # messages on a page
MOST_SHOWN: Final = 1_200  # characters of one of them
MOST_ITEMS: Final = 12  # memories that are named of what went into a prompt
MOST_NAMED: Final = 12  # memories that are named before a session is undone

router = APIRouter(route_class=PageRoute, include_in_schema=False)
SessionId = Annotated[str, Path(max_length=200)]
AskedSession = Annotated[str, Query(alias="session", max_length=200)]


@dataclass(frozen=True, slots=True)
class Step:
    """One point of a session: something said, given, written, or done to a service."""

    kind: Literal["said", "given", "wrote", "event", "attempt"]
    id: str
    at: datetime
    thing: Any

    @property
    def clock(self) -> str:
        """The time of day: all of a session is of about one day."""
        return f"{self.at.astimezone(UTC):%H:%M}"


@router.get("/sessions/{session_id:path}")
def session(
    visit: Reading, session_id: SessionId, first: Annotated[int, Query(ge=1, le=2**31)] = 1
) -> Response:
    story = visit.memories.session_story(session_id, first=first, limit=AT_ONCE)
    told = _told(visit, story, first)
    if not time_cursor.looking_again(visit):
        return page(visit, "session.html", **told)
    if time_cursor.has_seen(visit, told["seen"]):
        return Response(status_code=204)
    return part(visit, "session_talk.html", **told)


@router.get("/messages/{message_id:path}")
def message(visit: Reading, message_id: SessionId) -> Response:
    """One message in full."""
    shown = part if visit.partial else page
    return shown(visit, "message.html", message=visit.memories.message(message_id))


@router.get("/undo-session")
def ask_to_undo(visit: Writing, session_id: AskedSession) -> Response:
    """What would be taken back and what would stay, said before it is done."""
    planned = visit.memories.undo_session_preview(session_id)
    shown = part if visit.partial else page
    run = visit.memories.session_story(session_id, limit=1).session
    return shown(visit, "session_undo.html", session=run, planned=planned, most=MOST_NAMED)


@router.post("/undo-session")
def undo(visit: Writing, session_id: AskedSession, sent: Sent) -> Response:
    since = visit.memories.last_change()
    undone = visit.memories.undo_session(session_id)
    touched = [memory.id for memory in (*undone.removed, *undone.changed)]
    fields = (*(("id", one) for one in touched), ("since", str(since)))
    offer = Offer("Undo", visit.address("/memories/undo"), fields) if touched else None
    back = visit.address(f"/sessions/{_in_path(session_id)}")
    return done(visit, _said(undone), back=back, offer=offer, tone="done" if touched else "note")


def _said(undone: Undone) -> str:
    parts = []
    if undone.removed:
        parts.append(f"{_memories(len(undone.removed))} deleted")
    if undone.changed:
        parts.append(f"{_memories(len(undone.changed))} reverted")
    if undone.links:
        parts.append(f"{formats.count(undone.links, 'link')} removed")
    them = "it" if len(undone.kept) == 1 else "them"
    kept = (
        f" {_memories(len(undone.kept))} kept: others have confirmed or revised {them} since."
        if undone.kept
        else ""
    )
    return (f"Undone: {', '.join(parts)}." if parts else "Nothing to undo.") + kept


def _told(visit: Visit, story: SessionStory, first: int) -> dict[str, Any]:
    [*reports] = visit.memories.cache_report(story.session.id).sessions
    return {
        "session": story.session,
        "story": story,
        "steps": steps(story),
        "first": first,
        "following": first + AT_ONCE if first + AT_ONCE <= story.said else 0,
        "before": max(first - AT_ONCE, 1) if first > 1 else 0,
        "facts": facts(story.session, story),
        "held": reports[0].held if reports else None,
        "seen": time_cursor.mark(story.mark, first),
        "most_shown": MOST_SHOWN,
        "most_items": MOST_ITEMS,
        "step_of": _belief,
    }


def steps(story: SessionStory) -> list[Step]:
    """All of a stretch in order: what cites a message stands behind it, the rest by its time."""
    places = {message.id: place for place, message in enumerate(story.messages)}
    times = [message.said_at for message in story.messages]
    found: list[tuple[tuple[int, int, datetime], Step]] = []
    for message in story.messages:
        step = Step("said", f"said-{message.number}", message.said_at, message)
        found.append(((places[message.id], 0, message.said_at), step))

    def put(rank: int, step: Step, cited: str | None = None) -> None:
        place = places.get(cited) if cited is not None else None
        where = place if place is not None else bisect_right(times, step.at) - 1
        found.append(((where, rank, step.at), step))

    for receipt in story.given:
        put(1, Step("given", f"given-{receipt.id}", receipt.created_at, receipt))
    for one in story.written:
        made = one.memory is not None and one.entry.action in ("added", "waiting")
        cited = one.memory.source.message if made and one.memory is not None else None
        put(1, Step("wrote", f"wrote-{one.entry.seq}", one.entry.created_at, one), cited)
    for event in story.events:
        put(1, Step("event", f"event-{event.id}", event.created_at, event))
    for attempt in story.attempts:
        put(1, Step("attempt", f"attempt-{attempt.id}", attempt.created_at, attempt))
    return [step for _, step in sorted(found, key=lambda pair: pair[0])]


def facts(session: Session, story: SessionStory) -> list[tuple[str, str]]:
    """What it used and cost, as far as anybody told."""
    names = (
        ("Input tokens", "input_tokens"), ("From cache", "cache_read_tokens"),
        ("Output tokens", "output_tokens"), ("Turns", "turns"),
    )  # fmt: skip
    took = [("Duration", _took(session.ended_at - session.started_at))] if session.ended_at else []
    told = [(title, usage_number(session.usage, name)) for title, name in names]
    found = took + [(title, f"{value:,.0f}") for title, value in told if value is not None]
    cost = usage_number(session.usage, "cost_usd")
    if cost is not None:
        found.append(("Cost (reported by the agent)", dollars(round(cost * MICRO))))
    found.append(("Added by Holdfast", f"{story.tokens_given:,} tokens"))
    if story.spent.calls:
        calls = formats.count(story.spent.calls, "call")
        found.append(("Extraction cost", f"{dollars(story.spent.micro_dollars)} in {calls}"))
    return found


def _took(time: timedelta) -> str:
    minutes = max(round(time.total_seconds() / 60), 0)
    if minutes < 1:
        return "less than a minute"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _belief(entry: Any) -> tuple[float | None, float | None]:
    before = entry.before.get("confidence") if entry.before else None
    after = entry.after.get("confidence") if entry.after else None
    return before, after


def _memories(amount: int) -> str:
    return formats.count(amount, "memory", "memories")


def _in_path(session_id: str) -> str:
    from urllib.parse import quote

    return quote(session_id, safe="")
