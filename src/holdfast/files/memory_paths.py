"""Where the memories of a space are as files: the stored paths, those that they would get, and the index."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import unquote

from holdfast.domain.file_paths import assigned
from holdfast.domain.memory import Memory, Revision, Source
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.domain.render import inline, link_target, link_text, render
from holdfast.domain.space import FileRow
from holdfast.domain.text import clean
from holdfast.engine.ports import Transaction
from holdfast.engine.revise import revised
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, NotFound
from holdfast.files import frontmatter, note_format


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file in a list."""

    path: str
    name: str
    description: str | None
    type: str  # the category; what has none stands under the profile's own word for it
    updated_at: datetime | None
    size: int  # bytes of its text
    memory_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file: its whole text, and the body without front matter."""

    path: str
    text: str
    content: str
    memory: Memory | None  # none: a file that says nothing

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The result of a write. `waiting`: it went to the inbox instead, `told` says why."""

    path: str
    created: bool
    memory: Memory | None
    waiting: bool = False
    told: str | None = None


_INDEX_LINES = 200


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A path, its stored row, and its memory."""

    path: str
    row: FileRow | None
    memory: Memory | None

    @property
    def is_behind(self) -> bool:
        """Whether the file has to be written, according to its row."""
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
    """Every file of the space: those with a path, and active memories with the path that they would get.

    `rows` are the stored rows, if the caller has read them already.
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
    """Whether the directory is shared with Claude Code; then we use its front matter."""
    bound = tx.files.bound()
    return bound is not None and bound.layout == "shared"


def vacate(path: str, tx: Transaction) -> None:
    """Frees a path; the row stays until the directory is updated."""
    row = tx.files.get(path)
    if row is not None and row.hash is not None:
        tx.files.put(replace(row, memory=None, given=None, mark=None))
    elif row is not None:
        tx.files.remove(path)


def rename_memory(
    memory: Memory, old: str, new: str, *, tx: Transaction, ctx: SpaceContext, source: Source
) -> None:
    """Renames a memory that is named by its path after a move, if the name is free."""
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
    """Raises: Conflict, if a path would be both a file and a folder; `leaving` is ignored."""
    above = {"/".join(path.split("/")[:depth]) for depth in range(1, path.count("/") + 1)}
    for place in places(tx, ctx):
        if leaving is not None and (place.path == leaving or place.path.startswith(f"{leaving}/")):
            continue
        if place.path in above:
            raise Conflict(f"{place.path!r} is a file, not a folder: choose another name")
        if place.path.startswith(f"{path}/"):
            raise Conflict(f"{path!r} is a folder: choose another name")


def in_its_form(path: str, memory: Memory, revision: Revision, tx: Transaction) -> str | None:
    """The text of a file in the form that its author gave it; none for one in our own form."""
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
    """Stores what is on disk now; a file whose memory changed meanwhile is written the next time."""
    now = tx.files.get(row.path)
    if now is not None and planned is not None and _meant(now) != _meant(planned):
        tx.files.put(replace(now, hash=row.hash, stat=None))
    elif row.hash is None:
        tx.files.remove(row.path)
    else:
        tx.files.put(row)


def place_at(path: str, tx: Transaction, ctx: SpaceContext) -> MemoryFile | None:
    """The file at a path, if there is one."""
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


_POINTER = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(([^)\s]+)\)")
_DESCRIPTION = 120  # characters of a text that stand for a missing description


def shared_index(current: str | None, shown: list[MemoryFile]) -> str:
    """The index with a line for each file that has none, and without lines of missing files."""
    paths = {place.path for place in shown}
    named: set[str] = set()
    lines = []
    for line in (current or "").splitlines():
        target = _link_target(line)
        if target is not None and target.endswith(".md") and "://" not in target and target not in paths:
            continue
        if target is not None:
            named.add(target)
        lines.append(line)
    lines += [_index_line(place) for place in shown if place.path not in named]
    return "\n".join(lines) + "\n" if lines else ""


def foreign_lines(text: str, profile: Profile) -> list[str]:
    """The lines that would be lost if the index were rewritten."""
    headings = {f"# {profile.block.title}", "(empty)", f"## {profile.block.general}"}
    headings |= {f"## {name[:1].upper()}{name[1:]}" for name in profile.category_names}
    more = re.compile(r"\([\d,]+ more not shown\)")
    return [
        line.rstrip()
        for line in text.splitlines()
        if line.strip()
        and line.strip() not in headings
        and _link_target(line) is None
        and not more.fullmatch(line.strip())
    ]


def _link_target(line: str) -> str | None:
    found = _POINTER.match(line)
    return unquote(found[1]) if found else None


def _index_line(place: MemoryFile) -> str:
    memory = place.memory
    assert memory is not None
    name = memory.subject or place.path.removesuffix(".md")
    says = memory.summary or next(iter(clean(memory.content).strip().split("\n")), "")[:_DESCRIPTION]
    target = "/".join(map(link_target, place.path.split("/")))
    return f"- [{link_text(name)}]({target}) — {inline(says)}"
