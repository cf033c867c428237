"""/memories: everything that is known in a space, as a table that can be narrowed, sorted and worked on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from holdfast.domain.history import Entry
from holdfast.domain.memory import Memory, Origin, State, Version
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter, Group, MemoryCursor, newer_first
from holdfast.errors import Invalid, NotFound
from holdfast.web.dashboard import charts
from holdfast.web.dashboard.formats import Piece, compared, cursor_text, mark, named, read_cursor
from holdfast.web.dashboard.formats import memories as counted
from holdfast.web.dashboard.responses import PageRoute, dialog, done, in_address, live, page, part
from holdfast.web.dashboard.visit import AdminVisit, ReadVisit, Sent, Visit, WriteVisit

ON_A_PAGE: Final = 50
MAX_SUBJECTS: Final = 200

router = APIRouter(route_class=PageRoute, include_in_schema=False)
Shown = Literal["all", "active", "inactive", "waiting", "deleted"]
Sort = Literal["recent", "confidence", "created"]
SHOWN: Final[dict[Shown, tuple[State, ...]]] = {
    "all": ("active", "inactive", "waiting"),
    "active": ("active",),
    "inactive": ("inactive",),
    "waiting": ("waiting",),
    "deleted": ("forgotten",),
}
SORTS: Final[dict[Sort, str]] = {
    "recent": "Updated",
    "confidence": "Confidence",
    "created": "Oldest",
}

Text = Annotated[str, Field(max_length=500)]


class Choices(BaseModel):
    """Empty means: any, or as usual."""

    subject: Text = ""
    category: Text = ""
    state: Shown = "all"
    q: Text = ""
    tag: Text = ""
    session: Text = ""
    origin: Origin | Literal[""] = ""
    sort: Sort = "recent"
    group: Group | Literal[""] = ""
    after: Annotated[str, Field(max_length=2_000)] = ""

    @property
    def narrowed(self) -> bool:
        """Whether a filter is set."""
        asked = (self.subject, self.category, self.q, self.tag, self.session, self.origin)
        return any(asked) or self.state != "all"

    def where(self, profile: Profile) -> Filter:
        general = bool(self.subject) and self.subject.casefold() == profile.block.general.casefold()
        return Filter(
            states=SHOWN[self.state],
            category=self.category or None,
            subject=None if general else self.subject or None,
            general=general,
            tags=(self.tag,) if self.tag else (),
            session=self.session or None,
            origin=self.origin or None,
            text=self.q.strip() or None,
            proposals=self.state == "waiting",
        )

    def told(self, **other: Any) -> dict[str, Any]:
        """The choices for a URL, without defaults; a new choice starts at the first page."""
        chosen = {**self.model_dump(), "after": "", **other}
        usual = Choices().model_dump()
        return {name: value for name, value in chosen.items() if value != usual[name]}


Chosen = Annotated[Choices, Query()]


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """Memories with a common heading; all of them if nothing is grouped."""

    title: str
    memories: list[Memory]


@router.get("/memories")
def memories(visit: ReadVisit, chosen: Chosen) -> Response:
    given = page(
        visit, "memories.html", refreshing=False, **_list_values(visit, chosen), **_form_values(visit, chosen)
    )
    # A form also sends its empty fields; the address bar does not need them.
    return in_address(visit, given, visit.address("/memories", **chosen.told(after=chosen.after)))


@router.get("/memories/rows")
def rows(visit: ReadVisit, chosen: Chosen) -> Response:
    """The list alone, to refresh an open page; 204 if nothing changed."""
    if visit.has_seen(visit.memories.last_change()):
        return Response(status_code=204)
    return part(visit, "memory_rows.html", refreshing=True, **_list_values(visit, chosen))


def _list_values(visit: Visit, chosen: Choices) -> dict[str, Any]:
    # Asked first: what is written meanwhile shows up with the next look.
    seen = visit.memories.last_change()
    found = visit.memories.find(
        chosen.where(visit.profile),
        order=chosen.sort,
        group=chosen.group or None,
        limit=ON_A_PAGE + 1,
        after=read_cursor(MemoryCursor, chosen.after),
        exact=False,
    )
    shown = list(found.memories[:ON_A_PAGE])
    more = len(found.memories) > ON_A_PAGE
    visit.read_titles(memory.source.session for memory in shown if memory.source.session)
    return {
        "chosen": chosen,
        "seen": seen,
        "total": _total(found.total, len(shown), more=found.more),
        "shelves": _memory_groups(newer_first(shown), chosen, visit.profile),
        "following": cursor_text(MemoryCursor.of(shown[-1])) if more else "",
        "subject_word": subject_word(visit.profile),
    }


def _total(total: int, shown: int, *, more: bool) -> str:
    """`3 memories`, `50 of 169 memories`, `50 of over 1,000 memories`."""
    of = f"{shown:,} of " if total > shown else ""
    return f"{of}{'over ' if more else ''}{counted(total)}"


def _memory_groups(memories: list[Memory], chosen: Choices, profile: Profile) -> list[MemoryGroup]:
    def title(memory: Memory) -> str:
        if chosen.group == "subject":
            return memory.subject or profile.block.general
        return memory.category if chosen.group == "category" else ""

    return [MemoryGroup(name, list(found)) for name, found in groupby(memories, title)]


def _form_values(visit: Visit, chosen: Choices) -> dict[str, Any]:
    """The choices of the form above the list."""
    subjects = [name for name, _ in visit.memories.subjects(limit=MAX_SUBJECTS)]
    return {
        "subjects": sorted((name for name in subjects if name is not None), key=str.casefold),
        "states": SHOWN,
        "sorts": SORTS,
        "empty_space": not chosen.narrowed and not chosen.after,
    }


def subject_word(profile: Profile) -> str:
    """The heading of the subject: agents that run services sort by service."""
    return "Service" if profile.block.layout == "by-subject" else "About"


MAX_STEPS: Final = 100  # of its story and of its versions; the newest
MAX_USES: Final = 20
MOST_QUOTED: Final = 4_000  # characters of a message next to the cited one

MemoryId = Annotated[str, Path(max_length=200)]


@dataclass(frozen=True, slots=True)
class WordingChange:
    """A version next to the one before it."""

    version: Version
    before: list[Piece]
    after: list[Piece]


@router.get("/memories/{memory_id}")
def memory(visit: ReadVisit, memory_id: MemoryId) -> Response:
    return live(visit, "memory.html", "memory_body.html", **_memory_values(visit, memory_id))


@router.get("/memories/{memory_id}/compare")
def compare(
    visit: ReadVisit,
    memory_id: MemoryId,
    first: Annotated[int, Query(ge=1, le=2**31)],
    second: Annotated[int, Query(ge=1, le=2**31)],
) -> Response:
    """Any two wordings side by side."""
    found = {version.number: version for version in visit.memories.show(memory_id).versions}
    if first not in found or second not in found:
        raise NotFound(f"memory {memory_id} has no such version: use 1 to {len(found)}")
    before, after = found[first], found[second]
    left, right = compared(before.content, after.content)
    return dialog(
        visit, "memory_compare.html", memory_id=memory_id, first=before, second=after, left=left, right=right
    )


@router.post("/memories/{memory_id}/split")
def split(visit: WriteVisit, memory_id: MemoryId, sent: Sent) -> Response:
    """A wording that was counted as a repetition becomes a memory of its own."""
    since = visit.memories.last_change()
    number = sent.whole("number") or 0
    new = visit.memories.split(memory_id, number).memory
    undo = visit.undo([memory_id, new.id], since)
    text = f"Split off wording {number} as memory {new.id}."
    return done(visit, text, back=visit.address(f"/memories/{memory_id}"), offer=undo)


@router.get("/memories/{memory_id}/erase")
def ask_to_erase(visit: AdminVisit, memory_id: MemoryId) -> Response:
    """Asks for confirmation, with what would be erased."""
    found = visit.memories.show(memory_id).memory
    return dialog(visit, "memory_erase.html", memory=found, planned=visit.memories.erasure(memory_id))


@router.post("/memories/{memory_id}/erase")
def erase(visit: AdminVisit, memory_id: MemoryId, sent: Sent) -> Response:
    if not sent.given("sure"):
        raise Invalid("check the box to confirm: erasing can't be undone", field="sure")
    went = visit.memories.erase(memory_id)
    left = f" Not erased: {'; '.join(went.left)}." if went.left else ""
    home = visit.address("/memories")
    return done(visit, f"Erased for good.{left}", back=home, leave=home)


@router.post("/memories/{memory_id}/promote")
def promote(visit: WriteVisit, memory_id: MemoryId, _: Sent) -> Response:
    """Removes the project of a memory, so that it applies to all projects."""
    since = visit.memories.last_change()
    visit.memories.promote(memory_id)
    back = visit.address(f"/memories/{memory_id}")
    return done(visit, "It now applies to all projects.", back=back, offer=visit.undo([memory_id], since))


def _memory_values(visit: Visit, memory_id: str) -> dict[str, Any]:
    story = visit.memories.why(memory_id)
    linked = visit.memories.linked(memory_id)
    versions = story.versions[-MAX_STEPS:]
    return {
        "memory": story.memory,
        "session": story.session,
        "subject_word": subject_word(visit.profile),
        "changes": _changes(versions),
        "repetitions": story.repetitions[-MAX_STEPS:][::-1],
        "entries": story.entries[-MAX_STEPS:][::-1],
        "plot": charts.belief(story.entries[-MAX_STEPS:], visit.now, visit.profile.policy.floor),
        "linked": linked,
        "waits_for": named(story.memory.waiting_for or "", [other for _, other in linked]),
        "wheel": charts.wheel(linked),
        "uses": story.uses[-MAX_USES:][::-1],
        "uses_in_all": len(story.uses),
        "source": visit.memories.around(story.messages[0].id) if story.messages else [],
        "cited": story.messages[0].id if story.messages else "",
        "quoted": MOST_QUOTED,
        "step": step,
        "height": charts.height,
        "seen": mark(story.memory, len(story.entries), len(story.uses), linked, story.repetitions),
    }


def _changes(versions: Sequence[Version]) -> list[WordingChange]:
    """The newest first."""
    pairs = pairwise(versions)
    changes = [WordingChange(after, *compared(before.content, after.content)) for before, after in pairs]
    return changes[::-1]


def step(entry: Entry) -> tuple[float | None, float | None]:
    """Confidence before and after a step of the story."""
    before = entry.before.get("confidence") if entry.before else None
    after = entry.after.get("confidence") if entry.after else None
    return before, after
