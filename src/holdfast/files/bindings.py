"""The directories on this machine that are bound to spaces of one database: bind, sync, unbind.

Edits of files are imported before each use of a space, and files are written after each change. Errors of a
directory are logged and never reach the caller: the memories are stored, and the next use repairs the files.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from holdfast.app import file_lock, paths
from holdfast.domain.query import Filter
from holdfast.domain.space import Bound
from holdfast.engine.ports import Store, TimeUp
from holdfast.engine.space_context import SpaceContext, is_shown_later
from holdfast.errors import Conflict, HoldfastError, Invalid, NotFound
from holdfast.files import memory_paths as standing
from holdfast.files.directory_sync import DirectorySync
from holdfast.files.registry import Binding, Registry
from holdfast.files.safe_directory import SafeDirectory
from holdfast.files.scan import GONE, Progress, SyncReport, asks_about

LAYOUTS: Final = ("files", "folders", "shared")
_SETTLED_NS: Final = 2_000_000_000  # what was changed longer ago shows any further change
_log = logging.getLogger(__name__)
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryState:
    """The sync state of a directory."""

    path: str
    layout: str
    here: bool  # whether it is on this machine
    files: int
    asks: str | None
    troubles: tuple[str, ...]
    conflicts: tuple[str, ...]  # ids in the inbox
    agreed_at: str | None


class Directories:
    """The bound directories of one store. Shared by all threads of a process."""

    def __init__(self, store: Store, context_of: Callable[[str], SpaceContext]) -> None:
        self._store = store
        self._context_of = context_of
        self._where = store.where()
        self._registry = Registry()
        self._inside = threading.local()  # a sync writes to the store, which must not start another one
        self._clean: dict[str, tuple[str, ...]] = {}  # the directory as it was when both sides agreed
        self._followed: dict[str, int] = {}  # the last change of each space that its files show
        self._progress: dict[str, Progress] = {}  # of unfinished syncs
        self._behind: set[str] = set()  # spaces whose files could not follow, or not all yet
        self._asked: dict[str, str | None] = {}  # what each directory was last heard to ask

    def bindings(self) -> list[Binding]:
        """The bindings of this store on this machine."""
        return [binding for binding in self._registry.read() if binding.db == self._where]

    def changed(self, space: str) -> None:
        """Must be called after every write to a space; cheap when it is not bound."""
        binding = self._binding(space)
        if binding is None or self._busy() or is_shown_later(changed=True):
            return
        self._quietly(binding, lambda: self._tell(space, self.sync(self._context_of(space))))

    def arrive(self, ctx: SpaceContext, *, most: int | None = None, time_up: TimeUp = lambda: False) -> bool:
        """Must be called before every use of a space: imports edits of files first.

        True when more than `most` files were changed or the time was up; the next call continues.
        """
        binding = self._binding(ctx.space)
        if binding is None or self._busy() or is_shown_later():
            return False
        arrive = self.sync if ctx.space in self._behind else partial(self._arrive, binding=binding)
        report = self._quietly(binding, lambda: arrive(ctx, most=most, time_up=time_up))
        self._tell(ctx.space, report)
        return report is not None and report.unfinished

    def sync(
        self,
        ctx: SpaceContext,
        *,
        accept_empty: bool = False,
        write_back: bool = False,
        most: int | None = None,
        time_up: TimeUp = lambda: False,
    ) -> SyncReport:
        """Syncs a directory with its space; the caller reports the result.

        Raises: NotFound, when none is bound here; Unavailable, TooLong.
        """
        ctx = ctx.among(None)
        binding = self._binding(ctx.space)
        if binding is None:
            here = f"space {ctx.space!r} is not bound to a directory on this machine"
            raise NotFound(here, command="`holdfast files init DIR`")
        with self._alone(binding.path):
            with self._store.read(ctx.space) as tx:
                bound = tx.files.bound()
            if bound is None:
                raise NotFound(
                    f"space {ctx.space!r} is not bound to a directory", command="`holdfast files init DIR`"
                )
            try:
                root = SafeDirectory(binding.path, create=accept_empty or write_back)
            except NotFound:
                return self._vanished(ctx, bound)
            with root:
                meeting = DirectorySync(ctx, root, bound, self._progress.setdefault(ctx.space, Progress()))
                how = {"accept_empty": accept_empty, "write_back": write_back}
                report = meeting.held(**how, most=most, time_up=time_up)
            self._clean.pop(ctx.space, None)
            self._followed[ctx.space] = meeting.followed
            (self._behind.add if report.unfinished else self._behind.discard)(ctx.space)
            if not report.unfinished:
                self._progress.pop(ctx.space)
            return report

    def bind(self, ctx: SpaceContext, path: str, layout: str | None = None) -> SyncReport:
        """Binds a space to a directory, which is created if missing, and syncs both.

        Raises: Conflict, when either is bound already; Invalid, Unavailable.
        """
        real = os.path.realpath(os.path.expanduser(path))
        layout = layout or _usual(ctx, real)
        if layout not in LAYOUTS:
            raise Invalid(f"unknown layout {layout!r}: use {', '.join(LAYOUTS)}", field="layout")
        self._refuse_bound(ctx, real)
        with SafeDirectory(real, create=True) as root:
            root.list()  # a directory that can't be one is refused before anything is kept
        with self._store.write(ctx.space) as tx:
            tx.files.bind(Bound(path=real, layout=layout, bound_at=ctx.now()))
        self._registry.add(Binding(real, self._where, ctx.space))
        return self.sync(ctx)

    def unbind(self, ctx: SpaceContext) -> str:
        """Unbinds a directory; its files are kept. Returns its path.

        Raises: NotFound.
        """
        with self._inside_marked(), self._store.write(ctx.space) as tx:
            bound = tx.files.bound()
            if bound is None:
                raise NotFound(f"space {ctx.space!r} is not bound to a directory")
            tx.files.unbind()
        self._registry.remove(bound.path)
        self._clean.pop(ctx.space, None)
        return bound.path

    def state(self, ctx: SpaceContext) -> DirectoryState | None:
        """The sync state of the directory of a space, after edits were imported; none without one."""
        binding = self._binding(ctx.space)
        if binding is not None and not self._busy():
            self._quietly(binding, lambda: self._arrive(ctx, binding))
        with ctx.among(None).read() as tx:
            bound = tx.files.bound()
            if bound is None:
                return None
            found = standing.places(tx, ctx)
            waiting = tx.memories.find(Filter(states=("waiting",), origin="file"))
        self._asked[ctx.space] = bound.asks  # whoever reads this state is told
        here = binding is not None
        troubles = [f"{path}: {why[1]}" for path, why in bound.refused.items()]
        unwritten = [place.path for place in found if place.is_behind]
        if unwritten and bound.asks is None:
            troubles.append(f"{len(unwritten):,} files are not written yet, including {unwritten[0]}")
        if here and not os.access(bound.path, os.W_OK | os.X_OK) and os.path.isdir(bound.path):
            troubles.append(f"{bound.path} can't be written to")
        return DirectoryState(
            path=bound.path,
            layout=bound.layout,
            here=here,
            files=len(found),
            asks=bound.asks,
            troubles=tuple(troubles),
            conflicts=tuple(memory.id for memory in waiting),
            agreed_at=bound.agreed_at.isoformat() if bound.agreed_at else None,
        )

    # ------------------------------------------------------------------------------------------------ inside

    def _arrive(
        self, ctx: SpaceContext, binding: Binding, most: int | None = None, time_up: TimeUp = lambda: False
    ) -> SyncReport | None:
        ctx = ctx.among(None)
        try:
            root = SafeDirectory(binding.path)
        except NotFound:
            return self.sync(ctx)
        with root:
            listing = root.list()
            snapshot = listing.snapshot()
            with self._store.read(ctx.space) as tx:
                last = tx.journal.last()
                bound = tx.files.bound()
                unfollowed = set(tx.files.unfollowed())
            refused = bound.refused.keys() if bound is not None else set()
            if bound is None or listing.leftovers or unfollowed - refused:
                return self.sync(ctx, most=most, time_up=time_up)
            followed = self._followed.get(ctx.space) == last
            if followed and self._clean.get(ctx.space) == snapshot:
                return None
            meeting = DirectorySync(ctx, root, bound)
            lags = not followed and bound.asks is None  # to see that takes as long as a slice of a sync
            if not meeting.untouched(listing) or (lags and (most is not None or meeting.lags())):
                self._behind.add(ctx.space)
                later = SyncReport(unfinished=True)
                return later if time_up() else self.sync(ctx, most=most, time_up=time_up)
            self._followed[ctx.space] = last
            latest = max((seen.changed_ns for seen in listing.files.values()), default=0)
            if time.time_ns() - latest > _SETTLED_NS:
                self._clean[ctx.space] = snapshot
        return None

    def _vanished(self, ctx: SpaceContext, bound: Bound) -> SyncReport:
        asks = asks_about(GONE, bound.path)
        if bound.asks != asks:
            with self._inside_marked(), self._store.write(ctx.space) as tx:
                tx.files.bind(replace(bound, asks=asks))
        return SyncReport(asks=asks)

    def _refuse_bound(self, ctx: SpaceContext, path: str) -> None:
        with self._store.read(ctx.space) as tx:
            bound = tx.files.bound()
        if bound is not None and (bound.path != path or self._binding(ctx.space) is not None):
            there = f"space {ctx.space!r} is bound to {bound.path}"
            raise Conflict(there, command="`holdfast files unbind` unbinds it")
        for other in self._registry.read():
            nested = os.path.commonpath([other.path, path]) in (other.path, path)
            if nested and (other.db, other.space) != (self._where, ctx.space):
                taken = f"{path} overlaps {other.path}, which is already bound to space {other.space!r}"
                raise Conflict(taken)

    def _binding(self, space: str) -> Binding | None:
        return next((one for one in self.bindings() if one.space == space), None)

    def _busy(self) -> bool:
        return getattr(self._inside, "busy", False)

    @contextmanager
    def _inside_marked(self) -> Iterator[None]:
        before = self._busy()
        self._inside.busy = True
        try:
            yield
        finally:
            self._inside.busy = before

    @contextmanager
    def _alone(self, path: str) -> Iterator[None]:
        """Holds the lock of a directory, against threads and processes."""
        lock = paths.directory_lock(path)
        paths.make_folder(os.path.dirname(lock))
        with file_lock.locked(lock), self._inside_marked():
            yield

    def _quietly(self, binding: Binding, work: Callable[[], Done]) -> Done | None:
        try:
            return work()
        except (OSError, HoldfastError) as trouble:  # what was remembered is committed
            self._behind.add(binding.space)
            _log.warning("the directory %s can't be updated: %s", binding.path, trouble)
            return None

    def _tell(self, space: str, report: SyncReport | None) -> None:
        """Logs the result of an automatic sync; a question to the user only once."""
        if report is None:
            return
        for waiting in report.conflicts:
            _log.warning("space %s: %s is in the inbox: it was changed on both sides", space, waiting)
        for path in report.redacted:
            _log.warning("space %s: a secret was redacted from %s", space, path)
        for path in report.by_lines:
            _log.warning("space %s: the front matter of %s is invalid YAML: parsed line by line", space, path)
        for path, (_, why) in report.refused.items():
            _log.warning("space %s: %s was not imported: %s", space, path, why)
        if report.asks and self._asked.get(space) != report.asks:
            _log.warning("space %s: %s", space, report.asks)
        self._asked[space] = report.asks


def _usual(ctx: SpaceContext, path: str) -> str:
    """The default layout of a directory."""
    if not ctx.profile.policy.subject_is_key:
        return "folders"
    parts = Path(path).parts
    return "shared" if parts[-1:] == ("memory",) and ".claude" in parts else "files"
