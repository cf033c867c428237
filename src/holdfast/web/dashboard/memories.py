"""/memories: everything that is known in a space, as a table that can be narrowed, sorted and worked on."""

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from holdfast.domain.memory import ORIGINS, Memory
from holdfast.domain.profile import Profile
from holdfast.domain.query import newer_first
from holdfast.web.dashboard.formats import count
from holdfast.web.dashboard.list_filters import SHOWN, SORTS, Choices, choices, cursor
from holdfast.web.dashboard.responses import PageRoute, in_address, page, part
from holdfast.web.dashboard.visit import Reading, Visit

SECTION: Final = "memories"
ON_A_PAGE: Final = 50
MOST_SUBJECTS: Final = 200

router = APIRouter(route_class=PageRoute, include_in_schema=False)
Chosen = Annotated[Choices, Depends(choices)]


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
    seen = visit.request.headers.get("x-seen")
    if seen is not None and seen == str(visit.memories.last_change()):
        return Response(status_code=204)
    return part(visit, "memory_rows.html", refreshing=True, **_listed(visit, chosen))


def _listed(visit: Visit, chosen: Choices) -> dict[str, Any]:
    # Asked first: what is written meanwhile shows up with the next look.
    seen = visit.memories.last_change()
    found = visit.memories.find(
        chosen.where(visit.profile),
        order=chosen.order,
        group=chosen.group or None,
        limit=ON_A_PAGE + 1,
        after=chosen.place,
        exact=False,
    )
    shown = list(found.memories[:ON_A_PAGE])
    more = len(found.memories) > ON_A_PAGE
    return {
        "chosen": chosen,
        "seen": seen,
        "total": ("over " if found.more else "") + count(found.total, "memory", "memories"),
        "shelves": _shelves(newer_first(shown), chosen, visit.profile),
        "following": cursor(shown[-1]) if more else "",
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
        "origins": ORIGINS,
        "empty_space": not chosen.narrowed and not chosen.after,
    }


def subject_word(profile: Profile) -> str:
    """What memories of this profile are about: agents that run services sort by service."""
    return "Service" if profile.block.layout == "by-subject" else "About"
