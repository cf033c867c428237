"""/import: a file from this browser into the space, in the background, with its progress."""

import logging
import os
import shutil
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from holdfast.agents.importers import FORMATS
from holdfast.agents.uploads import UploadProgress, take_upload
from holdfast.engine.memories import Memories
from holdfast.errors import Conflict, HoldfastError, Invalid
from holdfast.web.dashboard.responses import PageRoute, page, part
from holdfast.web.dashboard.visit import AdminVisit, SentFile

MOST: Final = 32  # MB; the guard refuses more

_log = logging.getLogger(__name__)
router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(slots=True)
class ImportRun:
    """An import of one file, from its beginning on."""

    name: str
    progress: UploadProgress = field(default_factory=UploadProgress)
    finished: bool = False
    error: str = ""

    @property
    def percent(self) -> int | None:
        """None as long as the size is not known."""
        total = self.progress.total
        return min(100 * self.progress.done // total, 100) if total else None


class ImportRuns:
    """The latest import of each space. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: dict[str, ImportRun] = {}

    def latest(self, space: str) -> ImportRun | None:
        with self._lock:
            return self._latest.get(space)

    def begin(self, space: str, name: str) -> ImportRun:
        """Raises: Conflict, while another one runs."""
        with self._lock:
            known = self._latest.get(space)
            if known is not None and not known.finished:
                raise Conflict(f"{known.name!r} is still being imported: wait until it is done")
            run = self._latest[space] = ImportRun(name)
            return run


_runs: Final = ImportRuns()


@router.get("/import")
def import_page(visit: AdminVisit) -> Response:
    return page(
        visit,
        "import.html",
        formats=FORMATS,
        most=MOST,
        projects=visit.memories.projects(),
        **_values(visit.memories),
    )


@router.get("/import/progress")
def progress(visit: AdminVisit) -> Response:
    return part(visit, "import_progress.html", **_values(visit.memories))


@router.post("/import")
def take(visit: AdminVisit, sent: SentFile) -> Response:
    """Begins to import the file; the page follows it."""
    given = sent.file("file")
    if given is None or not given.filename:
        raise Invalid("no file chosen: choose one", field="file")
    run = _runs.begin(_key(visit.memories), PurePath(given.filename.replace("\\", "/")).name[:200] or "file")
    folder = _stored(given, run)
    threading.Thread(
        target=_carry_out,
        args=(run, folder, visit.memories, sent.text("project") or None, sent.given("review")),
        name="import",
        daemon=True,
    ).start()
    if visit.partial:
        return part(visit, "import_progress.html", **_values(visit.memories))
    return RedirectResponse(visit.address("/import"), 303)


def _stored(given: UploadFile, run: ImportRun) -> Path:
    """A folder of its own with the file, which is gone with the request otherwise."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-import-"))
    try:
        private = os.open(folder / run.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(private, "wb") as file:
            shutil.copyfileobj(given.file, file)
    except (OSError, ValueError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        run.error, run.finished = f"could not be stored: {error}", True
        raise Invalid(f"{run.name!r} could not be stored: {error}", field="file") from None
    return folder


def _carry_out(run: ImportRun, folder: Path, memories: Memories, project: str | None, review: bool) -> None:
    run.error = "the import was interrupted: import the file again, which skips what is stored"
    try:
        take_upload(folder / run.name, memories, run.progress, project=project, review=review)
        run.error = ""
    except (HoldfastError, OSError, ValueError) as error:
        run.error = str(error)
        _log.info("an import into %s failed: %s", memories.space, type(error).__name__)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        run.finished = True


def _key(memories: Memories) -> str:
    return f"{memories.store.where()} {memories.space}"


def _values(memories: Memories) -> dict[str, Any]:
    return {"run": _runs.latest(_key(memories))}
