"""/files: the memories of a space as files, and how the directory stands that shows them."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.domain.file_paths import MOST_FILES
from holdfast.doors.dashboard.answers import PageRoute, done, in_address, page, part
from holdfast.doors.dashboard.visit import Reading, Sent, Writing
from holdfast.errors import Invalid
from holdfast.files.looks import SyncReport

SECTION: Final = "files"
SHOWN: Final = 100  # files at a time; the rest is found by a word
_COUNTED: Final = (
    ("taken", "changed by hand"),
    ("new", "new"),
    ("renamed", "renamed"),
    ("gone", "deleted by hand"),
    ("conflicts", "changed on both sides and waiting in the inbox"),
    ("redacted", "with a secret taken out"),
    ("by_lines", "with a heading that is no YAML, read line by line"),
    ("refused", "not taken over"),
    ("written", "written"),
    ("removed", "removed"),
)

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/files")
def files(visit: Reading, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    held = visit.memories.find(limit=1).total  # first: this takes over what was done by hand
    found = visit.memories.files() if held <= MOST_FILES else []
    state = visit.memories.directory()
    word = q.strip().casefold()
    wanted = [one for one in found if word in f"{one.path} {one.name} {one.description or ''}".casefold()]
    given = page(
        visit,
        "files.html",
        q=q,
        state=state,
        agreed_at=datetime.fromisoformat(state.agreed_at) if state and state.agreed_at else None,
        files=wanted[:SHOWN],
        fitting=len(wanted),
        total=len(found),
        held=held,
        most=MOST_FILES,
        index=visit.memories.file_index() if held <= MOST_FILES else "",
    )
    return in_address(visit, given, visit.address("/files", q=q))


@router.get("/files/file")
def file(visit: Reading, path: Annotated[str, Query(max_length=1_000)]) -> Response:
    """One file as it stands in the directory."""
    return page(visit, "file.html", file=visit.memories.file(path))


@router.get("/files/accept")
def ask_to_accept(visit: Writing) -> Response:
    """What it means to take an emptied directory at its word."""
    shown = part if visit.partial else page
    return shown(visit, "files_accept.html", state=visit.memories.directory())


@router.post("/files/sync")
def sync(visit: Writing, sent: Sent) -> Response:
    """Brings the directory and the space to agree; one that was emptied only as somebody said."""
    meant = sent.text("meant")
    if meant not in ("", "accept", "write"):
        raise Invalid(f"{meant!r:.40} is none of the ways to agree: use accept or write", field="meant")
    report = visit.memories.sync_directory(accept_empty=meant == "accept", write_back=meant == "write")
    home = visit.address("/files")
    if report.asks:
        return done(visit, _asks(report.asks), tone="note", back=home, leave=home)
    return done(visit, said(report), back=home, leave=home)


def said(report: SyncReport) -> str:
    """What a sync came to, in a sentence."""
    parts = []
    for name, words in _COUNTED:
        if amount := len(getattr(report, name)):
            parts.append(f"{amount:,} {words}")
    return f"Both sides agree: {', '.join(parts)}." if parts else "Both sides agree already."


def _asks(asks: str) -> str:
    return f"Nothing was done: {asks}"
