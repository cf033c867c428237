"""/memories: everything that is known in a space, as a table that can be narrowed, sorted and worked on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from holdfast.domain.memory import Memory, Origin, State
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter, Group, MemoryCursor, newer_first
from holdfast.web.dashboard.formats import Day, cursor_text, day_begins, listed, named, read_cursor
from holdfast.web.dashboard.formats import memories as counted
from holdfast.web.dashboard.responses import PageRoute, in_address, page, part
from holdfast.web.dashboard.visit import ReadVisit, Visit

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
    project: Text = ""
    category: Text = ""
    state: Shown = "all"
    q: Text = ""
    tag: Text = ""
    session: Text = ""
    origin: Origin | Literal[""] = ""
    since: Day = ""
    until: Day = ""
    sort: Sort = "recent"
    group: Group | Literal[""] = ""
    after: Annotated[str, Field(max_length=2_000)] = ""
    first: Annotated[int, Field(ge=1, le=10**9)] = 1  # the number of the page's first memory, for the count

    @property
    def narrowed(self) -> bool:
        """Whether a filter is set."""
        asked = (self.subject, self.project, self.category, self.q, self.tag, self.session, self.origin)
        return any((*asked, self.since, self.until)) or self.state != "all"

    def where(self, profile: Profile) -> Filter:
        general = bool(self.subject) and self.subject.casefold() == profile.block.general.casefold()
        return Filter(
            states=SHOWN[self.state],
            category=self.category or None,
            subject=None if general else self.subject or None,
            general=general,
            project=self.project or None,
            tags=(self.tag,) if self.tag else (),
            session=self.session or None,
            origin=self.origin or None,
            created_after=day_begins(self.since),
            created_before=day_begins(self.until, 1),
            text=self.q.strip() or None,
            proposals=False,
        )

    def told(self, **other: Any) -> dict[str, Any]:
        """The choices for a URL, without defaults; a new choice starts at the first page."""
        chosen = {**self.model_dump(), "after": "", "first": 1, **other}
        usual = Choices().model_dump()
        return {name: value for name, value in chosen.items() if value != usual[name]}

    @property
    def here(self) -> dict[str, Any]:
        """The same for this very page."""
        return self.told(after=self.after, first=self.first)


Chosen = Annotated[Choices, Query()]


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """Memories with a common heading; all of them if nothing is grouped."""

    title: str
    memories: list[Memory]
    size: int | None  # how many there are in all; None if that would take long to count


@router.get("/memories")
def memories(visit: ReadVisit, chosen: Chosen) -> Response:
    given = page(
        visit, "memories.html", refreshing=False, **_list_values(visit, chosen), **_form_values(visit, chosen)
    )
    # A form also sends its empty fields; the address bar does not need them.
    return in_address(visit, given, visit.address("/memories", **chosen.here))


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
    shown = newer_first(found.memories[:ON_A_PAGE])
    more = len(found.memories) > ON_A_PAGE
    visit.read_titles(memory.source.session for memory in shown if memory.source.session)
    return {
        "chosen": chosen,
        "seen": seen,
        "total": _total(found.total, chosen.first, len(shown), more=found.more),
        "shelves": _memory_groups(visit, shown, chosen, count=not found.more),
        "on_a_page": ON_A_PAGE,
        "following": cursor_text(MemoryCursor.of(found.memories[ON_A_PAGE - 1])) if more else "",
        **row_values(visit),
    }


def row_values(visit: Visit) -> dict[str, Any]:
    """What a row of the table needs besides its memory."""

    def waits_for(memory: Memory) -> list[tuple[str, Memory | None]]:
        """Why it waits, with the memories that are named by their ids."""
        return named(
            listed(memory.waiting_for or ""), (other for _, other in visit.memories.linked(memory.id))
        )

    return {"subject_word": subject_word(visit.profile), "waits_for": waits_for}


def _total(total: int, first: int, shown: int, *, more: bool) -> str:
    """`3 memories`, `1-50 of 169 memories`, `51-100 of over 1,000 memories`."""
    last = (
        first + shown - 1 if more else min(first + shown - 1, total)
    )  # some may be gone since the first page
    of = f"{last - shown + 1:,}-{last:,} of " if total > shown > 0 else ""
    return f"{of}{'over ' if more else ''}{counted(total)}"


def _memory_groups(
    visit: Visit, memories: Sequence[Memory], chosen: Choices, *, count: bool
) -> list[MemoryGroup]:
    if not chosen.group:
        return [MemoryGroup("", list(memories), None)] if memories else []
    group = chosen.group
    groups = [(name, list(found)) for name, found in groupby(memories, lambda one: getattr(one, group) or "")]
    names = [name for name, _ in groups]
    sizes = visit.memories.group_sizes(chosen.where(visit.profile), group, names) if count else {}
    general = visit.profile.block.general
    return [MemoryGroup(name or general, found, sizes.get(name)) for name, found in groups]


def _form_values(visit: Visit, chosen: Choices) -> dict[str, Any]:
    """The choices of the form above the list."""
    subjects = [name for name, _ in visit.memories.subjects(limit=MAX_SUBJECTS)]
    return {
        "subjects": sorted((name for name in subjects if name is not None), key=str.casefold),
        "projects": visit.memories.projects(),
        "states": SHOWN,
        "sorts": SORTS,
        "empty_space": not chosen.narrowed and not chosen.after,
    }


def subject_word(profile: Profile) -> str:
    """The heading of the subject: agents that run services sort by service."""
    return "Service" if profile.block.layout == "by-subject" else "About"
