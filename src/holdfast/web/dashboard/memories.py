"""/memories: everything that is known in a space, as a table that can be narrowed, sorted and worked on."""

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from holdfast.domain.memory import Memory, Origin, State
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter, Group, MemoryCursor, newer_first
from holdfast.web.dashboard.cursors import read, written
from holdfast.web.dashboard.formats import memories as counted
from holdfast.web.dashboard.responses import PageRoute, in_address, page, part
from holdfast.web.dashboard.visit import Reading, Visit

ON_A_PAGE: Final = 50
MOST_SUBJECTS: Final = 200

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
        """Whether something is left out that is usually shown."""
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
        """The choices for an address, with what is usual left out; a new choice begins at the first page."""
        chosen = {**self.model_dump(), "after": "", **other}
        usual = Choices().model_dump()
        return {name: value for name, value in chosen.items() if value != usual[name]}


Chosen = Annotated[Choices, Query()]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Memories that stand together under a heading; all of them when nothing is grouped."""

    title: str
    memories: list[Memory]


@router.get("/memories")
def memories(visit: Reading, chosen: Chosen) -> Response:
    given = page(visit, "memories.html", refreshing=False, **_listed(visit, chosen), **_around(visit, chosen))
    # A form sends its empty fields along; the address bar needs none of them.
    return in_address(visit, given, visit.address("/memories", **chosen.told(after=chosen.after)))


@router.get("/memories/rows")
def rows(visit: Reading, chosen: Chosen) -> Response:
    """The list alone, for who keeps a page open: nothing, as long as nothing changed."""
    if visit.has_seen(visit.memories.last_change()):
        return Response(status_code=204)
    return part(visit, "memory_rows.html", refreshing=True, **_listed(visit, chosen))


def _listed(visit: Visit, chosen: Choices) -> dict[str, Any]:
    # Asked first: what is written meanwhile shows up with the next look.
    seen = visit.memories.last_change()
    found = visit.memories.find(
        chosen.where(visit.profile),
        order=chosen.sort,
        group=chosen.group or None,
        limit=ON_A_PAGE + 1,
        after=read(MemoryCursor, chosen.after),
        exact=False,
    )
    shown = list(found.memories[:ON_A_PAGE])
    more = len(found.memories) > ON_A_PAGE
    return {
        "chosen": chosen,
        "seen": seen,
        "total": ("over " if found.more else "") + counted(found.total),
        "shelves": _shelves(newer_first(shown), chosen, visit.profile),
        "following": written(MemoryCursor.of(shown[-1])) if more else "",
        "subject_word": subject_word(visit.profile),
    }


def _shelves(memories: list[Memory], chosen: Choices, profile: Profile) -> list[Shelf]:
    def title(memory: Memory) -> str:
        if chosen.group == "subject":
            return memory.subject or profile.block.general
        return memory.category if chosen.group == "category" else ""

    return [Shelf(name, list(found)) for name, found in groupby(memories, title)]


def _around(visit: Visit, chosen: Choices) -> dict[str, Any]:
    """What the form over the list offers."""
    subjects = [name for name, _ in visit.memories.subjects(limit=MOST_SUBJECTS)]
    return {
        "subjects": sorted((name for name in subjects if name is not None), key=str.casefold),
        "states": SHOWN,
        "sorts": SORTS,
        "empty_space": not chosen.narrowed and not chosen.after,
    }


def subject_word(profile: Profile) -> str:
    """What memories of this profile are about: agents that run services sort by service."""
    return "Service" if profile.block.layout == "by-subject" else "About"
