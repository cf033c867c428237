"""/files: the memories of a space as files, and the state of the folder that they are synced with."""

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from holdfast.domain.file_paths import MOST_FILES
from holdfast.errors import Invalid
from holdfast.files.scan import SyncReport
from holdfast.web.dashboard.responses import PageRoute, dialog, done, in_address, page
from holdfast.web.dashboard.visit import ReadVisit, Sent, WriteVisit

SHOWN: Final = 100  # files per page; search finds the others
_COUNTED: Final = (
    ("taken", "changed in the folder"),
    ("new", "new"),
    ("renamed", "renamed"),
    ("gone", "deleted in the folder"),
    ("conflicts", "changed on both sides (see the inbox)"),
    ("redacted", "with a secret redacted"),
    ("by_lines", "with invalid YAML front matter, parsed line by line"),
    ("refused", "rejected"),
    ("written", "written"),
    ("removed", "removed"),
)

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/files")
def files(visit: ReadVisit, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    held = visit.memories.find(limit=1).total  # first: this imports edits made by hand
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
def file(visit: ReadVisit, path: Annotated[str, Query(max_length=1_000)]) -> Response:
    """One file, as in the folder."""
    return page(visit, "file.html", file=visit.memories.file(path))


@router.get("/files/accept")
def ask_to_accept(visit: WriteVisit) -> Response:
    """Asks before the memories of an emptied folder are deleted."""
    return dialog(visit, "files_accept.html", state=visit.memories.directory())


@router.post("/files/sync")
def sync(visit: WriteVisit, sent: Sent) -> Response:
    """Syncs the folder with the space; an emptied folder only if `meant` confirms it."""
    meant = sent.text("meant")
    if meant not in ("", "accept", "write"):
        raise Invalid(f"unknown value {meant!r:.40}: use accept or write", field="meant")
    report = visit.memories.sync_directory(accept_empty=meant == "accept", write_back=meant == "write")
    home = visit.address("/files")
    if report.asks:
        return done(visit, f"Not synced: {report.asks}", tone="note", back=home, leave=home)
    return done(visit, said(report), back=home, leave=home)


def said(report: SyncReport) -> str:
    """The result of a sync as a sentence."""
    parts = []
    for name, words in _COUNTED:
        if amount := len(getattr(report, name)):
            parts.append(f"{amount:,} {words}")
    return f"Synced: {', '.join(parts)}." if parts else "Already in sync."
