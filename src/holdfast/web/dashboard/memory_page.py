"""/memories/ID: one memory: its text and versions, its confidence, its source, its uses and its links."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from holdfast.domain.history import Entry
from holdfast.domain.memory import Link, Memory, Version
from holdfast.errors import Invalid, NotFound
from holdfast.web.dashboard import charts
from holdfast.web.dashboard.formats import Piece, compared, mark, named
from holdfast.web.dashboard.memories import subject_word
from holdfast.web.dashboard.neighbourhood import MAX_AROUND, neighbourhood
from holdfast.web.dashboard.page_context import Offer
from holdfast.web.dashboard.responses import PageRoute, dialog, done, live
from holdfast.web.dashboard.visit import AdminVisit, ReadVisit, Sent, Visit, WriteVisit

MAX_STEPS: Final = 100  # of its story and of its versions; the newest
MAX_USES: Final = 20
MOST_QUOTED: Final = 4_000  # characters of a message next to the cited one

router = APIRouter(route_class=PageRoute, include_in_schema=False)
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


@router.post("/memories/{memory_id}/feedback")
def feedback(visit: WriteVisit, memory_id: MemoryId, sent: Sent) -> Response:
    """Marks it as not helpful for the prompt of a receipt, or takes the mark back."""
    told = visit.memories.feedback(memory_id, helpful=sent.given("helpful"), receipt=sent.text("receipt"))
    text = (
        "Undone: it ranks as before for prompts like this."
        if told.helpful
        else ("Marked as not helpful: it ranks lower for prompts like this, and is no longer added to them.")
    )
    again = (("receipt", told.receipt), *((("helpful", "1"),) if not told.helpful else ()))
    offer = Offer("Undo", visit.address(f"/memories/{memory_id}/feedback"), again)
    return done(visit, text, back=sent.text("back") or visit.address(f"/memories/{memory_id}"), offer=offer)


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
        "noted": lambda entry: named(entry.note or "", [other for _, other in linked]),
        "waits_for": named(story.memory.waiting_for or "", [other for _, other in linked]),
        "graph": neighbourhood(story.memory, linked, _between(visit, linked)),
        "uses": story.uses[-MAX_USES:][::-1],
        "uses_in_all": len(story.uses),
        "source": visit.memories.around(story.messages[0].id) if story.messages else [],
        "cited": story.messages[0].id if story.messages else "",
        "quoted": MOST_QUOTED,
        "step": step,
        "height": charts.height,
        "seen": mark(
            story.memory,
            len(story.entries),
            [use.unhelpful_at for use in story.uses],
            linked,
            story.repetitions,
        ),
    }


def _between(visit: Visit, linked: Sequence[tuple[Link, Memory]]) -> list[Link]:
    """The links between the memories that are drawn."""
    others = list(dict.fromkeys(other.id for _, other in linked))[:MAX_AROUND]
    found = [link for one in others[:-1] for link, other in visit.memories.linked(one) if other.id in others]
    return list({(link.from_id, link.to_id): link for link in found}.values())


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
