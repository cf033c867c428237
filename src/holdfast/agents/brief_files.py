"""Briefs on disk: prepared ones for hooks without a service, and context files for hosts that read a file.

Both follow the memories. After a change of what they could show, prepared briefs are emptied, so that no
deleted memory is shown, and the service writes them again; context files are rewritten at once by the process
that made the change, or soon after what the service did in the background. File errors are logged and never
reach the caller, because the change itself is stored.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from holdfast.agents import context_files
from holdfast.agents.context_files import ContextFile
from holdfast.app import paths
from holdfast.domain.space import Space
from holdfast.engine import brief as briefs
from holdfast.engine.ports import Store, TimeUp
from holdfast.engine.space_context import SpaceContext, is_shown_later
from holdfast.engine.tend import make_current
from holdfast.errors import HoldfastError, NotFound

MAX_PROJECTS = 50  # of a space that have a ready-made brief; the latest used
_TRIES = 3
_log = logging.getLogger(__name__)


class BriefFiles:
    """The brief files of one database."""

    def __init__(self, store: Store, context_of: Callable[[str], SpaceContext]) -> None:
        self._store = store
        self._context_of = context_of
        self._written: dict[ContextFile, int] = {}  # up to which change

    def changed(self, space: str) -> None:
        """Must be called after every write to a space; cheap when there are no files."""
        try:
            folder = _folder(space)
            ready = folder.is_dir() and self._are_ours()
            contexts = [context for context in self._contexts() if context.space == space]
            contexts = [] if contexts and is_shown_later(changed=True) else contexts
            if ready or contexts:
                self._follow(space, folder if ready else None, contexts)
        except (OSError, HoldfastError) as error:  # the change itself is committed
            _log.warning("the brief files can't be updated: %s", error)

    def _follow(self, space: str, folder: Path | None, contexts: Sequence[ContextFile]) -> None:
        if folder is not None and self._is_private(self._store.space(space)):
            _empty_all(folder)
            folder = None
        changes = self._changes(space)
        shown = _shown(folder) if folder is not None else {}
        for file in _briefs_in(folder) if folder is not None else ():
            if shown.get(file.name) != _of(changes, _project_of(file)):
                _empty(file)
        for context in contexts:
            if self._written.get(context) != _of(changes, context.project):
                self._write_context(context)

    def keep(self, space: str, project: str | None) -> None:
        """Prepares a brief for this project from now on; the next `refresh` writes it."""
        try:
            _claim(self._store.where())
            for name in {project, None}:
                file = Path(paths.brief_file(space, name))
                if file.exists():
                    os.utime(file)
                else:
                    paths.write_private(str(file), b"")
            for unused in sorted(_briefs_in(_folder(space)), key=_used)[:-MAX_PROJECTS]:
                unused.unlink()
        except OSError as error:
            _log.warning("no brief can be prepared: %s", error)

    def refresh(self, time_up: TimeUp = lambda: False) -> bool:
        """Rewrites outdated files until the time is up; returns whether there is more to do."""
        if self._are_ours():
            for space in self._store.spaces():
                folder = _folder(space.name)
                if self._is_private(space):
                    _empty_all(folder)
                elif folder.is_dir() and self._refresh(space.name, time_up):
                    return True
        for context in self._contexts():
            if self._written.get(context) != _of(self._changes(context.space), context.project):
                self._write_context(context)
                if time_up():
                    return True
        return False

    def _is_private(self, space: Space | None) -> bool:
        """Whether nothing may be read without the database: it is encrypted, or reads are recorded."""
        return self._store.encrypted or (space is not None and space.access_log)

    def _refresh(self, space: str, time_up: TimeUp) -> bool:
        folder, changes = _folder(space), self._changes(space)
        shown = _shown(folder)
        try:
            # The empty ones first: a hook finds nothing in them.
            for file in sorted(_briefs_in(folder), key=lambda file: file.stat().st_size):
                if shown.get(file.name) != _of(changes, _project_of(file)) or not file.stat().st_size:
                    shown[file.name] = self._write_brief(file, space)
                    paths.write_private(str(folder / "shown"), json.dumps(shown).encode())
                    if time_up():
                        return True
        except OSError as error:
            _log.warning("the briefs in %s can't be written: %s", folder, error)
        return False

    def _write_brief(self, file: Path, space: str) -> int:
        """The change up to which the file shows its project."""
        at, project = 0, _project_of(file)
        for _ in range(_TRIES):
            at, text = self._brief(space, project)
            # An empty brief is a blank line: an empty file waits to be filled.
            _write_if_other(file, (text or "\n").encode())
            if _of(self._changes(space), project) == at:
                return at
        _empty(file)  # being written: better nothing than something that was just undone
        return at

    def write(self, context: ContextFile) -> None:
        """Writes a context file. Raises: OSError, Unavailable, Invalid for a file whose part has no end."""
        at, brief = self._brief(context.space, context.project)
        context_files.write(context, brief)
        self._written[context] = at

    def _write_context(self, context: ContextFile) -> None:
        try:
            self.write(context)
        except (OSError, HoldfastError) as error:
            _log.warning("%s can't be kept up to date: %s", context.path, error)

    def _brief(self, space: str, project: str | None) -> tuple[int, str]:
        """The last change that the brief includes, and its text; empty for a deleted space."""
        try:
            ctx = self._context_of(space)
            make_current(ctx)
            with self._store.read(space) as tx:
                return _of(tx.ranks.changes(), project), briefs.rendered(tx, ctx, project=project).text
        except NotFound:
            return 0, ""

    def _contexts(self) -> list[ContextFile]:
        found = context_files.registered()
        return [context for context in found if context.db == self._store.where()] if found else []

    def _changes(self, space: str) -> Mapping[str, int]:
        try:
            with self._store.read(space) as tx:
                return tx.ranks.changes()
        except NotFound:  # deleted with everything in it
            return {"": -1}

    def _are_ours(self) -> bool:
        """Whether the prepared briefs are of this database."""
        try:
            return Path(paths.briefs_database()).read_text(encoding="utf-8") == self._store.where()
        except (OSError, ValueError):
            return False


# -------------------------------------------------------------------------------------------------- on disk


def _folder(space: str) -> Path:
    return Path(paths.brief_file(space, None)).parent


def _briefs_in(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.glob("*.md"))) if folder.is_dir() else iter(())


def _project_of(file: Path) -> str | None:
    return None if file.stem == Path(paths.brief_file("", None)).stem else unquote(file.stem)


def _claim(db: str) -> None:
    marker = Path(paths.briefs_database())
    if not marker.exists() or marker.read_text(encoding="utf-8") != db:
        for file in Path(paths.briefs()).glob("*/*.md"):
            _empty(file)
        paths.write_private(str(marker), db.encode())


def _of(changes: Mapping[str, int], project: str | None) -> int:
    """A number that changes with everything that a brief of the project could show."""
    return changes.get("", 0) + (changes.get(project, 0) if project else 0)


def _shown(folder: Path) -> dict[str, int]:
    """The last change that each of the prepared briefs of a space includes."""
    try:
        found = json.loads((folder / "shown").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _used(file: Path) -> float:
    return file.stat().st_mtime


def _empty_all(folder: Path) -> None:
    for file in _briefs_in(folder):
        _empty(file)


def _empty(file: Path) -> None:
    try:
        if file.stat().st_size:
            os.truncate(file, 0)
    except OSError as error:
        _log.warning("%s can't be emptied: %s", file, error)


def _write_if_other(file: Path, content: bytes) -> None:
    if file.read_bytes() != content:
        times = file.stat()
        paths.write_private(str(file), content)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # its time is the last use
