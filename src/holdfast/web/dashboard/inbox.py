"""/inbox: review of waiting memories next to similar ones: approve, edit and approve, or reject."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from holdfast.domain.confidence import weakened
from holdfast.domain.memory import Memory
from holdfast.domain.profile import Policy
from holdfast.domain.query import MemoryCursor
from holdfast.engine.inbox import RelatedMemory, ReviewItem
from holdfast.errors import Invalid
from holdfast.language.consolidation import Proposal
from holdfast.web.dashboard import formats
from holdfast.web.dashboard.formats import Piece, compared, cursor_text, named, number, read_cursor, shared
from holdfast.web.dashboard.memories import subject_word
from holdfast.web.dashboard.page_context import Offer
from holdfast.web.dashboard.responses import PageRoute, dialog, done, live
from holdfast.web.dashboard.visit import AdminVisit, Fields, ReadVisit, Sent, Visit

ON_A_PAGE: Final = 10  # each card also searches the space for similar memories
MAX_SHOWN: Final = 800  # characters of a text
_ALIKE: Final = 0.5  # of a text has to be in both before differences are marked
_CHANGED: Final = ("contradicts", "supersedes")  # links whose target an approval changes
_BESIDE: Final = {
    "contradicts": "Contradicts", "supersedes": "Would supersede", "elaborates": "Adds to",
    "related": "Related to", "near": "Most similar",
}  # fmt: skip

router = APIRouter(route_class=PageRoute, include_in_schema=False)
MemoryId = Annotated[str, Path(max_length=200)]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two texts of a card: the older stands on the left."""

    memory: Memory
    title: str
    pieces: list[Piece]
    mark: str  # the element around what the other text lacks


@dataclass(frozen=True, slots=True)
class Card:
    """A waiting memory; beside what is known, or for a proposal the two memories that it is about."""

    waiter: ReviewItem
    sides: tuple[Side, ...]
    others: tuple[RelatedMemory, ...]
    effect: str  # what an approval does to other memories

    @property
    def reworded(self) -> bool:
        """Whether a proposal gives the memory that stays another text."""
        proposal = self.waiter.proposal
        return proposal is not None and self.waiter.memory.content != proposal.kept.content

    @property
    def waits_for(self) -> list[tuple[str, Memory | None]]:
        """Why it waits, with the memories that are named by their ids."""
        beside = [one.memory for one in self.waiter.beside]
        return named(self.waiter.memory.waiting_for or "", beside)


@router.get("/inbox")
def inbox(visit: ReadVisit, after: Annotated[str, Query(max_length=2_000)] = "") -> Response:
    seen = visit.memories.last_change()
    if visit.has_seen(seen):
        return Response(status_code=204)
    pile = visit.memories.review(limit=ON_A_PAGE, after=read_cursor(MemoryCursor, after))
    visit.read_titles(waiter.session.id for waiter in pile.waiters if waiter.session)
    return live(
        visit,
        "inbox.html",
        "inbox_cards.html",
        cards=[_card(waiter, visit.profile.policy) for waiter in pile.waiters],
        total=pile.total,
        after=after,
        following=cursor_text(MemoryCursor.of(pile.waiters[-1].memory)) if pile.more else "",
        seen=seen,
        most_shown=MAX_SHOWN,
        subject_word=subject_word(visit.profile),
    )


@router.get("/inbox/{memory_id}/edit")
def edit(visit: AdminVisit, memory_id: MemoryId) -> Response:
    return _editing(visit, memory_id)


@router.post("/inbox/{memory_id}/edit")
def edit_and_approve(visit: AdminVisit, memory_id: MemoryId, sent: Sent) -> Response:
    """Applies the changes of the form, then approves."""
    since = visit.memories.last_change()
    changes = _changes(visit, memory_id, sent)
    try:
        if changes:
            visit.memories.revise(memory_id, expect_version=sent.whole("version"), **changes)
        decided = visit.memories.review_items(memory_id)
        visit.memories.approve(memory_id)
    except Invalid as wrong:
        return _editing(visit, memory_id, str(wrong), sent.text("content"))
    return _approved_text_and_undo(visit, decided, since)


@router.post("/inbox/approve")
def approve(visit: AdminVisit, sent: Sent) -> Response:
    return _approved(visit, sent.chosen())


@router.post("/memories/approve")
def approve_listed(visit: AdminVisit, sent: Sent) -> Response:
    """The same from a list of all memories: those of the chosen that wait."""
    ids = [one for one in sent.chosen() if visit.memories.show(one).memory.state == "waiting"]
    if not ids:
        raise Invalid("none of the selected memories is waiting for review", field="id")
    return _approved(visit, ids, sent.text("back"))


@router.post("/inbox/reject")
def reject(visit: AdminVisit, sent: Sent) -> Response:
    ids = sent.chosen()
    since = visit.memories.last_change()
    plain = [one.memory.id for one in visit.memories.review_items(*ids) if one.proposal is None]
    visit.memories.reject(*ids)
    parts = []
    if plain:
        parts.append(f"Rejected {formats.memories(len(plain))}; the same text is not stored again.")
    if len(plain) < len(ids):
        parts.append(f"Kept {_pairs(len(ids) - len(plain))} separate; not proposed again.")
    return done(visit, " ".join(parts), back=visit.address("/inbox"), offer=visit.undo(plain, since))


def _approved(visit: Visit, ids: Sequence[str], back: str = "") -> Response:
    since = visit.memories.last_change()
    decided = visit.memories.review_items(*ids)
    visit.memories.approve(*ids)
    return _approved_text_and_undo(visit, decided, since, back)


def _approved_text_and_undo(
    visit: Visit, decided: Sequence[ReviewItem], since: int, back: str = ""
) -> Response:
    plain = [one for one in decided if one.proposal is None]
    merged = [one.proposal for one in decided if one.proposal is not None]
    parts = [f"Approved {formats.memories(len(plain))}."] if plain else []
    parts += [f"Merged {_pairs(len(merged))}."] if merged else []
    touched = [one.memory.id for one in plain]
    touched += [beside.memory.id for one in plain for beside in one.beside if beside.how in _CHANGED]
    offer = visit.undo(list(dict.fromkeys(touched)), since)
    if offer is None and len(merged) == 1:  # what was made one has a session of its own
        offer = Offer("Undo", visit.address("/undo-session", session=merged[0].id))
    return done(visit, " ".join(parts), back=back or visit.address("/inbox"), offer=offer)


def _changes(visit: Visit, memory_id: str, sent: Fields) -> dict[str, Any]:
    """The fields that differ from the stored ones."""
    known = visit.memories.show(memory_id).memory
    changes: dict[str, Any] = {}
    for name in ("content", "subject", "project", "category"):
        if name in sent and sent.text(name) != (getattr(known, name) or ""):
            changes[name] = sent.text(name)
    changes |= sent.retagged()
    believed = sent.moved("confidence", "believed")
    if believed is not None:
        changes["confidence"] = believed
    return changes


def _editing(visit: Visit, memory_id: str, wrong: str = "", typed: str = "") -> Response:
    memory = visit.memories.show(memory_id).memory
    values = {"typed": typed} if typed else {}
    status = 422 if wrong and not visit.partial else 200
    return dialog(
        visit, "inbox_edit.html", status=status, memory=memory, wrong=wrong,
        subject_word=subject_word(visit.profile), **values,
    )  # fmt: skip


def _card(waiter: ReviewItem, policy: Policy) -> Card:
    if waiter.proposal is not None:
        return Card(waiter, _pair(waiter.memory, waiter.proposal), (), _effect(waiter, policy))
    if not waiter.beside:
        return Card(waiter, (), (), _effect(waiter, policy))
    closest, *others = waiter.beside
    changed = closest.how in _CHANGED
    known, waiting = compared(closest.memory.content[:MAX_SHOWN], waiter.memory.content[:MAX_SHOWN])
    if not changed and max(shared(known), shared(waiting)) < _ALIKE:
        known, waiting = _unmarked(known), _unmarked(waiting)
    left = Side(closest.memory, _BESIDE[closest.how], known, "del" if changed else "mark")
    right = Side(waiter.memory, "Waiting", waiting, "ins")
    sides = (left, right) if changed else _by_age(left, right)
    return Card(waiter, sides, tuple(others), _effect(waiter, policy))


def _by_age(*sides: Side) -> tuple[Side, ...]:
    return tuple(sorted(sides, key=lambda side: (side.memory.created_at, side.memory.id)))


def _pair(waiting: Memory, proposal: Proposal) -> tuple[Side, ...]:
    """Both memories of a proposal; if the one that stays gets a new text, each compared with that text."""
    content = waiting.content[:MAX_SHOWN]
    stays, goes = proposal.kept.content[:MAX_SHOWN], proposal.dropped.content[:MAX_SHOWN]
    if stays == content:
        removed, kept = compared(goes, stays)
        sides = [Side(proposal.kept, "Keep", kept, "ins"), Side(proposal.dropped, "Remove", removed, "del")]
    else:
        sides = [
            Side(proposal.kept, "Keep, with the text above", compared(stays, content)[0], "del"),
            Side(proposal.dropped, "Remove", compared(goes, content)[0], "del"),
        ]
    return _by_age(*sides)


def _effect(waiter: ReviewItem, policy: Policy) -> str:
    """What an approval does to other memories."""
    if waiter.proposal is not None:
        merged = "gets the tags and usage counts of the other one, which"
        stays = (
            f"The newer memory {merged}" if waiter.proposal.outdates else f"The memory that is kept {merged}"
        )
        return f"{stays} is deleted. Undo restores both."
    first = waiter.beside[0] if waiter.beside else None
    match first.how if first else "near":
        case "supersedes":
            return "Approving replaces the known text, which becomes an earlier version of the same memory."
        case "contradicts" if first is not None and policy.on_contradiction == "weaken":
            before, after = first.memory.confidence, weakened(first.memory, policy).confidence
            lower = f"lowers the confidence of the known memory from {number(before)} to {number(after)}"
            return f"Approving {lower} and marks it as superseded."
        case "contradicts":
            return "Approving marks the known memory as superseded: the new one ranks first."
        case _:
            return "Approving adds it and changes no other memory."


def _unmarked(pieces: Sequence[Piece]) -> list[Piece]:
    """Removes all marks: texts with nearly nothing in common would be marked as a whole."""
    return [Piece("".join(piece.text for piece in pieces), False)]


def _pairs(amount: int) -> str:
    return formats.count(amount, "pair")
