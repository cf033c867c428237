"""Actions on memories: add, edit, tag, pin, delete, undo. Approve and reject are in inbox.py."""

from collections.abc import Callable
from typing import Annotated, assert_never

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from holdfast.domain import outcomes
from holdfast.domain.memory import Memory
from holdfast.errors import HoldfastError, Invalid
from holdfast.web.dashboard import formats
from holdfast.web.dashboard.memories import MAX_SUBJECTS, row_values, subject_word
from holdfast.web.dashboard.responses import PageRoute, dialog, done, part
from holdfast.web.dashboard.visit import MAX_AT_ONCE, Fields, ReadVisit, Sent, Visit, WriteVisit

router = APIRouter(route_class=PageRoute, include_in_schema=False)
MemoryId = Annotated[str, Path(max_length=200)]
Ids = Annotated[list[str], Query(alias="id", max_length=MAX_AT_ONCE)]


# -------------------------------------------------------------------------------------------------- add


@router.get("/memories/new")
def new(visit: WriteVisit) -> Response:
    return _form(visit, Fields(), None)


@router.post("/memories/new")
def add(visit: WriteVisit, sent: Sent) -> Response:
    """Adds a memory with `remember`; if it is a duplicate, the form offers to update the known one."""
    since = visit.memories.last_change()
    try:
        outcome = visit.memories.remember(
            sent.text("content"),
            category=sent.text("category") or None,
            subject=sent.text("subject") or None,
            project=sent.text("project") or None,
            tags=sent.words("tags"),
            confidence=sent.share("confidence"),
            anyway=sent.given("anyway"),
            private=sent.given("private"),
        )
    except Invalid as wrong:
        return _form(visit, sent, None, str(wrong), field=wrong.field)
    match outcome:
        case outcomes.UpdateSuggested() | outcomes.Refused():
            return _form(visit, sent, outcome)
        case _:
            return _added(visit, outcome, since, sent)


def _added(
    visit: Visit,
    outcome: outcomes.Added
    | outcomes.Contradicting
    | outcomes.Reinforced
    | outcomes.Merged
    | outcomes.Waiting,
    since: int,
    sent: Fields,
) -> Response:
    touched = [outcome.memory.id]
    match outcome:
        case outcomes.Added():
            text = "Added. Agents get it from their next session on."
        case outcomes.Contradicting(_, weakened):
            touched += [memory.id for memory in weakened]
            lower = "whose confidence is lower now"
            text = f"Added. It contradicts {formats.memories(len(weakened))}, {lower}."
        case outcomes.Reinforced(memory, previous, _):
            text = f"Already known: reinforced {memory.id} (confidence {_step(previous, memory)})."
            text += _ignored_fields(sent, memory, visit.profile.policy.confidence)
        case outcomes.Merged(memory, _):
            text = f"Already known: merged into {memory.id}, which now has your text."
            text += _ignored_fields(sent, memory, visit.profile.policy.confidence)
        case outcomes.Waiting(_, reason, _):
            text = f"Waiting in the inbox: {reason}."
        case _:
            assert_never(outcome)
    look = visit.address(f"/memories/{outcome.memory.id}")
    return done(visit, text, back=visit.address("/memories"), offer=visit.undo(touched, since), look=look)


def _form(
    visit: Visit,
    sent: Fields,
    known: outcomes.UpdateSuggested | outcomes.Refused | None,
    wrong: str = "",
    field: str | None = None,
) -> Response:
    subjects = [name for name, _ in visit.memories.subjects(limit=MAX_SUBJECTS) if name is not None]
    status = 200 if visit.partial or not wrong else 422
    return dialog(
        visit, "memory_new.html", status=status, sent=sent, known=known, wrong=wrong, field=field,
        subjects=subjects, projects=visit.memories.projects(), subject_word=subject_word(visit.profile),
        relation=known.relation if isinstance(known, outcomes.UpdateSuggested) else "",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------- edit


@router.get("/memories/{memory_id}/row")
def row(visit: ReadVisit, memory_id: MemoryId, edit: bool = False) -> Response:
    """A row of the table, to read or to edit."""
    memory = visit.memories.show(memory_id).memory
    editing = edit and visit.may_write and memory.state != "forgotten"
    template = "memory_edit_row.html" if editing else "memory_row.html"
    return part(visit, template, memory=memory, wrong="", **row_values(visit))


@router.post("/memories/{memory_id}/edit")
def edit(visit: WriteVisit, memory_id: MemoryId, sent: Sent) -> Response:
    """Changes text, labels or confidence; unchanged fields of the form stay."""
    since = visit.memories.last_change()
    in_row = visit.partial and sent.given("in_row")
    try:
        outcome = _revised(visit, memory_id, sent)
    except HoldfastError as wrong:
        if not in_row:
            raise
        memory = visit.memories.show(memory_id).memory
        return part(
            visit, "memory_edit_row.html", memory=memory, wrong=str(wrong), typed=sent.text("content"),
            subject_word=subject_word(visit.profile),
        )  # fmt: skip
    if outcome is None:
        text, offer = "No changes.", None
    elif isinstance(outcome, outcomes.Waiting):
        text, offer = f"The change is waiting in the inbox: {outcome.reason}.", None
    else:
        text, offer = "Saved.", visit.undo([memory_id], since)
    shown = None
    if in_row:
        memory = visit.memories.show(memory_id).memory
        shown = part(visit, "memory_row.html", memory=memory, **row_values(visit))
    return done(visit, text, back=visit.address(f"/memories/{memory_id}"), offer=offer, shown=shown)


def _revised(visit: Visit, memory_id: str, sent: Fields) -> object:
    known = visit.memories.show(memory_id).memory
    content = sent.text("content")
    if sent.given("text_only"):  # from the "new memory" form: ignore all fields but the text
        return visit.memories.revise(
            memory_id, content=content.replace("\r\n", "\n"), add_tags=sent.words("tags"),
            expect_version=sent.whole("text_only"),
        )  # fmt: skip
    # Forms send line ends as CR LF, whatever the text had.
    same = " ".join(content.split()) == " ".join(known.content.split())
    changes = {
        "content": None if same or not sent.given("content") else content.replace("\r\n", "\n"),
        "confidence": sent.moved("confidence", "believed"),
        "category": _other(sent, "category", known.category),
        "subject": _other(sent, "subject", known.subject or ""),
        "project": _other(sent, "project", known.project or ""),
        **sent.retagged(),
    }
    if all(value is None for value in changes.values()):
        return None
    return visit.memories.revise(memory_id, **changes, expect_version=sent.whole("version"))  # type: ignore[arg-type]


def _other(sent: Fields, name: str, known: str) -> str | None:
    return sent.text(name) if name in sent and sent.text(name) != known else None


@router.post("/memories/{memory_id}/wording")
def wording(visit: WriteVisit, memory_id: MemoryId, sent: Sent) -> Response:
    """Back to an earlier wording, which becomes the newest."""
    since = visit.memories.last_change()
    number = sent.whole("number")
    visit.memories.revise(memory_id, version=number)
    text = f"Went back to version {number}."
    back = visit.address(f"/memories/{memory_id}")
    return done(visit, text, back=back, offer=visit.undo([memory_id], since))


@router.post("/memories/{memory_id}/restore")
def restore(visit: WriteVisit, memory_id: MemoryId, _: Sent) -> Response:
    since = visit.memories.last_change()
    visit.memories.restore(memory_id)
    back = visit.address(f"/memories/{memory_id}")
    return done(visit, "Restored.", back=back, offer=visit.undo([memory_id], since))


# ------------------------------------------------------------------------------------------------- many


@router.post("/memories/confidence")
def confidence(visit: WriteVisit, sent: Sent) -> Response:
    share = sent.share("confidence")
    if share is None:
        raise Invalid("confidence must be a number from 0 to 1", field="confidence")
    said = f"{{}} now {{}} confidence {formats.number(min(max(share, 0), 1))}."
    return _each(visit, sent, lambda one: visit.memories.revise(one, confidence=share), said, ("has", "have"))


@router.post("/memories/tag")
def tag(visit: WriteVisit, sent: Sent) -> Response:
    tags = sent.words("tags")
    if not tags:
        raise Invalid("enter at least one tag; separate several with commas", field="tags")
    said = f"{{}} {{}} tagged {', '.join(tags)}."
    return _each(visit, sent, lambda one: visit.memories.revise(one, add_tags=tags), said, ("is", "are"))


@router.post("/memories/pin")
def pin(visit: WriteVisit, sent: Sent) -> Response:
    pinned = not sent.given("off")
    said = "{} {} pinned: first in every brief." if pinned else "{} {} no longer pinned."
    return _each(visit, sent, lambda one: visit.memories.revise(one, pinned=pinned), said, ("is", "are"))


@router.get("/memories/delete")
def ask_to_delete(visit: WriteVisit, ids: Ids) -> Response:
    """Asks for confirmation, with the effect."""
    found = [visit.memories.show(one).memory for one in dict.fromkeys(ids)]
    for_good = visit.profile.policy.removal == "permanent"
    asked = visit.request.query_params
    back, leave = asked.get("back", ""), bool(asked.get("leave"))
    return dialog(visit, "memory_delete.html", memories=found, for_good=for_good, back=back, leave=leave)


@router.post("/memories/delete")
def delete(visit: WriteVisit, sent: Sent) -> Response:
    ids = sent.chosen()
    since = visit.memories.last_change()
    gone = [visit.memories.forget(one) for one in ids]
    restorable = all(each.restorable for each in gone)
    what = formats.memories(len(ids))
    text = f"Deleted {what}." if restorable else f"Deleted {what} for good."
    offer = visit.undo(ids, since) if restorable else None
    leave = visit.address("/memories") if sent.given("leave") else ""
    return done(visit, text, back=_back(visit, sent), offer=offer, leave=leave)


@router.post("/memories/undo")
def undo(visit: WriteVisit, sent: Sent) -> Response:
    since = sent.whole("since")
    if since is None:
        raise Invalid("this action can't be undone", field="since")
    back = visit.memories.undo(*sent.chosen(), since=since)
    return done(
        visit, f"Undone: {formats.memories(len(back))} reverted.", back=_back(visit, sent), tone="note"
    )


def _each(
    visit: Visit, sent: Fields, act: Callable[[str], object], said: str, verb: tuple[str, str]
) -> Response:
    """Applies an action to each selected memory; errors are collected, the rest continue."""
    since = visit.memories.last_change()
    changed, refused = [], []
    for one in sent.chosen():
        try:
            act(one)
            changed.append(one)
        except HoldfastError as wrong:
            refused.append(str(wrong))
    parts = [said.format(formats.memories(len(changed)), verb[len(changed) != 1])] if changed else []
    parts += [f"{len(refused)} could not be changed: {refused[0]}."] if refused else []
    tone = "wrong" if refused else "done"
    offer = visit.undo(changed, since)
    return done(visit, " ".join(parts), back=_back(visit, sent), tone=tone, offer=offer)  # type: ignore[arg-type]


def _back(visit: Visit, sent: Fields) -> str:
    return sent.text("back") or visit.address("/memories")


def _step(before: Memory, after: Memory) -> str:
    return f"{formats.number(before.confidence)} → {formats.number(after.confidence)}"


def _ignored_fields(sent: Fields, memory: Memory, usual: float) -> str:
    """Names the fields of a form that differ from the known memory; `usual` is the default."""
    share = sent.share("confidence")
    left = [
        ("text", " ".join(sent.text("content").split()) != " ".join(memory.content.split())),
        ("confidence", share not in (None, memory.confidence, usual)),
        ("category", sent.text("category") not in ("", memory.category)),
        ("subject", sent.text("subject") not in ("", memory.subject)),
        ("project", sent.text("project") not in ("", memory.project)),
        ("tags", not set(sent.words("tags")) <= set(memory.tags)),
    ]
    names = [name for name, unused in left if unused]
    return f" Ignored from the form: {', '.join(names)}." if names else ""
