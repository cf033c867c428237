"""/ and /sessions: the overview; the list of sessions, and one session with its timeline and undo."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from holdfast.domain.memory import Session
from holdfast.domain.query import UPKEEP, Filter, SessionFilter, TimeCursor
from holdfast.domain.spend import MICRO, dollars
from holdfast.engine.session_names import LAST, SessionTotals, usage_number
from holdfast.engine.session_story import SessionStory
from holdfast.engine.undo import Undone
from holdfast.web.dashboard import formats
from holdfast.web.dashboard.formats import After, Day, cursor_text, day_begins, mark, read_cursor
from holdfast.web.dashboard.memories import subject_word
from holdfast.web.dashboard.memory_page import step
from holdfast.web.dashboard.page_context import Tone
from holdfast.web.dashboard.responses import PageRoute, dialog, done, in_address, live, page
from holdfast.web.dashboard.visit import ReadVisit, Sent, Visit, WriteVisit

ON_A_PAGE: Final = 40
AT_ONCE: Final = 60  # messages on a page
MAX_SHOWN: Final = 1_200  # characters of one of them
MAX_ITEMS: Final = 12  # memories that are named of what went into a prompt
MAX_NAMED: Final = 12  # memories that are named before a session is undone

router = APIRouter(route_class=PageRoute, include_in_schema=False)
SessionId = Annotated[str, Path(max_length=200)]
AskedSession = Annotated[str, Query(alias="session", max_length=200)]


@dataclass(frozen=True, slots=True)
class Run:
    """A session in a list."""

    session: Session
    messages: int
    memories: int

    @property
    def cost(self) -> float | None:
        return usage_number(self.session.usage, "cost_usd")


Text = Annotated[str, Field(max_length=200)]


class SessionChoice(BaseModel):
    """Empty means: any."""

    q: Annotated[Text, StringConstraints(strip_whitespace=True)] = ""
    client: Text = ""
    project: Text = ""
    tier: Annotated[str, Field(pattern=r"^[0-9]{0,2}$")] = ""
    failed: bool = False
    of: Literal["agents", "upkeep"] = "agents"
    since: Day = ""
    until: Day = ""
    after: After = ""

    @property
    def narrowed(self) -> bool:
        asked = (self.q, self.client, self.project, self.tier, self.failed, self.since, self.until)
        return any(asked) or self.of == "upkeep"

    @property
    def where(self) -> SessionFilter:
        return SessionFilter(
            words=self.q or None,
            client=UPKEEP if self.of == "upkeep" else self.client or None,
            project=self.project or None,
            tier=int(self.tier) if self.tier else None,
            failed=self.failed,
            upkeep=self.of == "upkeep",
            since=day_begins(self.since),
            before=day_begins(self.until, 1),
        )

    def told(self, **other: Any) -> dict[str, Any]:
        """For an address; a new choice begins at the first page."""
        chosen = {**self.model_dump(), "after": "", **other}
        return {name: value for name, value in chosen.items() if value != "agents"}


@router.get("/sessions")
def sessions(visit: ReadVisit, chosen: Annotated[SessionChoice, Query()]) -> Response:
    found = runs(visit, ON_A_PAGE + 1, chosen)
    shown = found[:ON_A_PAGE]
    last = shown[-1].session if len(found) > ON_A_PAGE else None
    listed: dict[str, Any] = {
        "chosen": chosen,
        "runs": shown,
        "seen": mark(shown),
        "following": cursor_text(TimeCursor(last.started_at, last.id)) if last else "",
    }
    if visit.looking_again:
        return live(visit, "sessions.html", "session_rows.html", **listed)
    clients, projects = visit.memories.session_values("client"), visit.memories.session_values("project")
    total = _total(visit.memories.session_totals(chosen.where))
    given = page(visit, "sessions.html", clients=clients, projects=projects, total=total, **listed)
    return in_address(visit, given, visit.address("/sessions", **chosen.told(after=chosen.after)))


def _total(totals: SessionTotals) -> str:
    told = [formats.count(totals.sessions, "session")]
    told += [f"{totals.tokens:,} tokens"] if totals.tokens else []
    told += [dollars(round(totals.dollars * MICRO))] if totals.dollars else []
    return ", ".join(told)


def runs(visit: Visit, limit: int, chosen: SessionChoice) -> list[Run]:
    """The latest sessions, with how much is in them."""
    after = read_cursor(TimeCursor, chosen.after)
    found = visit.memories.sessions(limit=limit, after=after, where=chosen.where)
    ids = [session.id for session in found]
    visit.read_titles(ids)
    tallies = visit.memories.session_tallies(*ids)
    return [Run(session, *tallies[session.id]) for session in found]


@dataclass(frozen=True, slots=True)
class Step:
    """An item of the timeline: a message, a prompt, a change, or an event."""

    kind: Literal["said", "given", "wrote", "event", "attempt"]
    id: str
    at: datetime
    thing: Any


@router.get("/sessions/{session_id:path}")
def session(
    visit: ReadVisit, session_id: SessionId, first: Annotated[int, Query(ge=1, le=2**31)] = 1
) -> Response:
    story = visit.memories.session_story(session_id, first=first, limit=AT_ONCE)
    return live(visit, "session.html", "session_talk.html", **_session_values(visit, story, first))


@router.get("/messages/{message_id:path}")
def message(visit: ReadVisit, message_id: SessionId) -> Response:
    """One message in full."""
    return dialog(visit, "message.html", message=visit.memories.message(message_id))


@router.get("/undo-session")
def ask_to_undo(visit: WriteVisit, session_id: AskedSession = LAST) -> Response:
    """Asks for confirmation, with what would be undone and what would stay."""
    session_id = visit.memories.find_session(LAST, wrote=True) if session_id == LAST else session_id
    planned = visit.memories.undo_session_preview(session_id)
    run = visit.memories.session_story(session_id, limit=1).session
    return dialog(visit, "session_undo.html", session=run, planned=planned, most=MAX_NAMED)


@router.post("/undo-session")
def undo(visit: WriteVisit, session_id: AskedSession, sent: Sent) -> Response:
    since = visit.memories.last_change()
    undone = visit.memories.undo_session(session_id)
    back_up = (undone.proposal,) if undone.proposal else ()
    touched = [memory.id for memory in (*undone.removed, *undone.changed, *back_up)]
    back = visit.address(f"/sessions/{quote(session_id, safe='')}")
    tone: Tone = "done" if touched else "note"
    return done(visit, _undo_text(undone), back=back, offer=visit.undo(touched, since), tone=tone)


def _undo_text(undone: Undone) -> str:
    parts = []
    if undone.removed:
        parts.append(f"{formats.memories(len(undone.removed))} deleted")
    if undone.changed:
        parts.append(f"{formats.memories(len(undone.changed))} reverted")
    if undone.links:
        parts.append(f"{formats.count(undone.links, 'link')} removed")
    if undone.proposal:
        parts.append("the proposal is back in the inbox")
    them = "it" if len(undone.kept) == 1 else "them"
    kept = (
        f" {formats.memories(len(undone.kept))} kept: others have confirmed or revised {them} since."
        if undone.kept
        else ""
    )
    return (f"Undone: {', '.join(parts)}." if parts else "Nothing to undo.") + kept


def _session_values(visit: Visit, story: SessionStory, first: int) -> dict[str, Any]:
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
        "seen": mark(story.mark, first),
        "most_shown": MAX_SHOWN,
        "most_items": MAX_ITEMS,
        "step_of": step,
    }


def steps(story: SessionStory) -> list[Step]:
    """The items of a page in order of time, but a memory follows the message that it cites."""
    places = {message.id: place for place, message in enumerate(story.messages)}
    times = [message.said_at for message in story.messages]
    found: list[tuple[tuple[int, int, datetime], Step]] = []
    for message in story.messages:
        said = Step("said", f"said-{message.number}", message.said_at, message)
        found.append(((places[message.id], 0, message.said_at), said))

    def put(one: Step, cited: str | None = None) -> None:
        place = places.get(cited) if cited is not None else None
        where = place if place is not None else bisect_right(times, one.at) - 1
        found.append(((where, 1, one.at), one))

    for receipt in story.given:
        put(Step("given", f"given-{receipt.id}", receipt.created_at, receipt))
    for one in story.written:
        made = one.memory is not None and one.entry.action in ("added", "waiting")
        cited = one.memory.source.message if made and one.memory is not None else None
        put(Step("wrote", f"wrote-{one.entry.seq}", one.entry.created_at, one), cited)
    for event in story.events:
        put(Step("event", f"event-{event.id}", event.created_at, event))
    for attempt in story.attempts:
        put(Step("attempt", f"attempt-{attempt.id}", attempt.created_at, attempt))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def facts(session: Session, story: SessionStory) -> list[tuple[str, str]]:
    """The usage and cost, as reported by the agent."""
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


NEWEST: Final = 6
SESSIONS: Final = 5
_DAY: Final = timedelta(days=1)
_SEEN: Final = ("active", "inactive")


@router.get("/")
def overview(visit: ReadVisit) -> Response:
    return live(visit, "overview.html", "overview_cards.html", **_overview_values(visit))


def _overview_values(visit: Visit) -> dict[str, Any]:
    memories = visit.memories
    counts = memories.overview()
    # What is new as of the last hour's beginning: the page does not change with every second.
    since = visit.now.replace(minute=0, second=0, microsecond=0) - _DAY
    new = memories.find(Filter(states=_SEEN, created_after=since), limit=1).total
    latest = memories.find(Filter(states=_SEEN), order="recent", limit=NEWEST).memories
    recent = runs(visit, SESSIONS, SessionChoice())
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
