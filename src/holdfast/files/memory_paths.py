"""Where the memories of a space stand as files: the paths that are kept, and those that they would get."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from holdfast.domain.file_paths import assigned
from holdfast.domain.memory import Memory, Revision, Source
from holdfast.domain.query import Filter
from holdfast.domain.render import render
from holdfast.engine.ports import FileRow, Transaction
from holdfast.engine.revise import revised
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, NotFound
from holdfast.files import frontmatter, note_format

_INDEX_LINES = 200


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A path, what is kept of it, and the memory that stands there."""

    path: str
    row: FileRow | None
    memory: Memory | None

    @property
    def is_behind(self) -> bool:
        """Whether the file has to be written, as far as is known of it."""
        current = note_format.mark(self.memory) if self.memory is not None else None
        return self.row is None or self.row.stat is None or self.row.mark != current

    def text(self, *, nested: bool = False) -> str:
        return note_format.text_of(self.memory, self.row, nested=nested)


def places(
    tx: Transaction,
    ctx: SpaceContext,
    *,
    taken: frozenset[str] = frozenset(),
    rows: Mapping[str, FileRow] | None = None,
) -> list[MemoryFile]:
    """Every file of the space: those that have a path, and active memories with the one they would get.

    `rows` are all that is kept of files, if the caller has read them already.
    """
    if rows is None:
        rows = {row.path: row for row in tx.files.all()}
    by_memory = {row.memory: row.path for row in rows.values() if row.memory is not None}
    memories = {memory.id: memory for memory in tx.memories.find(Filter())}
    bound = tx.files.bound()
    paths = assigned(
        memories.values(),
        by_memory,
        by_category=bound is not None and bound.layout == "folders",
        keyed=ctx.profile.policy.subject_is_key,
        taken=(*rows, *taken),
    )
    found = [MemoryFile(path, rows.get(path), memories[memory_id]) for memory_id, path in paths.items()]
    silent = [row for row in rows.values() if row.memory is None and row.given is not None]
    found += [MemoryFile(row.path, row, None) for row in silent]
    return sorted(found, key=lambda place: place.path)


def is_nested(tx: Transaction) -> bool:
    """Whether the directory is shared with Claude Code, whose headings we use then."""
    bound = tx.files.bound()
    return bound is not None and bound.layout == "shared"


def vacate(path: str, tx: Transaction) -> None:
    """Nothing stands at a path any more; the row stays until a directory has followed."""
    row = tx.files.get(path)
    if row is not None and row.hash is not None:
        tx.files.put(replace(row, memory=None, given=None, mark=None))
    elif row is not None:
        tx.files.remove(path)


def rename_memory(
    memory: Memory, old: str, new: str, *, tx: Transaction, ctx: SpaceContext, source: Source
) -> None:
    """A memory that was named by its file's path is so again after a move, if the name is free."""
    wanted = note_format.named(new, ctx.profile)
    if wanted is None or memory.subject != note_format.named(old, ctx.profile) or wanted == memory.subject:
        return
    if tx.memories.named(wanted, memory.project):
        return
    revised(memory, Revision(subject=wanted), tx=tx, ctx=ctx, source=source, now=ctx.now(), vouched=True)


def move(place: MemoryFile, target: str, tx: Transaction) -> None:
    """Gives a file another path."""
    row = place.row or note_format.row_for(place.path, place.memory, place.text(nested=is_nested(tx)))
    vacate(place.path, tx)
    tx.files.put(replace(row, path=target, hash=None, stat=None))


def index_of(found: list[MemoryFile], ctx: SpaceContext) -> str:
    """The text of the index: every file under its type, 200 lines at most."""
    lines = ctx.profile.block.lines or _INDEX_LINES
    block = replace(ctx.profile.block, layout="index", intro=(), lines=lines)
    paths = {place.memory.id: place.path for place in found if place.memory}
    memories = [place.memory for place in found if place.memory]
    return render(
        memories, replace(ctx.profile, block=block), budget=math.inf, estimate=len, paths=paths
    ).text


def refuse_in_the_way(path: str, tx: Transaction, ctx: SpaceContext, *, leaving: str | None = None) -> None:
    """A path is a file or a folder, never both; what is `leaving` is not in the way."""
    above = {"/".join(path.split("/")[:depth]) for depth in range(1, path.count("/") + 1)}
    for place in places(tx, ctx):
        if leaving is not None and (place.path == leaving or place.path.startswith(f"{leaving}/")):
            continue
        if place.path in above:
            raise Conflict(f"{place.path!r} is a file, not a folder: choose another name")
        if place.path.startswith(f"{path}/"):
            raise Conflict(f"{path!r} is a folder: choose another name")


def in_its_form(path: str, memory: Memory, revision: Revision, tx: Transaction) -> str | None:
    """The text of a file that somebody wrote, with what changed in it; none: in a form of ours."""
    row = tx.files.get(path)
    if row is None or row.given is None:
        return None
    only_text = revision.subject is revision.summary is revision.category is None
    return note_format.text_of(memory, row) if only_text or frontmatter.read(row.given).has_heading else None


def regrouped(tx: Transaction, ctx: SpaceContext) -> None:
    """Moves files into the folder of their memory's category."""
    for place in places(tx, ctx):
        if place.memory is None or place.row is None:
            continue
        folder, _, name = place.path.rpartition("/")
        if folder != place.memory.category and folder in ctx.profile.category_names:
            target = f"{place.memory.category}/{name}"
            if tx.files.get(target) is None:
                move(place, target, tx)


def note(row: FileRow, planned: FileRow | None, tx: Transaction) -> None:
    """Keeps what is on disk now; where a file was changed here meanwhile, it is written the next time."""
    now = tx.files.get(row.path)
    if now is not None and planned is not None and _meant(now) != _meant(planned):
        tx.files.put(replace(now, hash=row.hash, stat=None))
    elif row.hash is None:
        tx.files.remove(row.path)
    else:
        tx.files.put(row)


def place_at(path: str, tx: Transaction, ctx: SpaceContext) -> MemoryFile | None:
    """What stands at a path, if anything does."""
    row = tx.files.get(path)
    if row is not None:
        memory = tx.memories.get(row.memory) if row.memory is not None else None
        if memory is not None and memory.active:
            return MemoryFile(path, row, memory)
        return MemoryFile(path, row, None) if row.memory is None and row.given is not None else None
    if not tx.files.unplaced():
        return None
    return next((place for place in places(tx, ctx) if place.path == path), None)


def at_or_below(path: str, tx: Transaction, ctx: SpaceContext) -> list[MemoryFile]:
    """A file, or all files of a folder."""
    found = places(tx, ctx)
    return [place for place in found if place.path == path or place.path.startswith(f"{path}/")]


def no_file(path: str) -> NotFound:
    return NotFound(f"there is no file {path!r}: list the files to see their names")


def _meant(row: FileRow) -> tuple[str | None, ...]:
    return (row.memory, row.given, row.mark)
