"""Queries over what memories are tied to: each other, messages they came from, texts that were deleted."""

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from holdfast.domain.access import Reader
from holdfast.domain.memory import Citation, Link, LinkKind, Tombstone
from holdfast.store.queries import Queries
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import citations, links, memories, tombstones
from holdfast.store.sql_filters import about_seen, is_spelt

if TYPE_CHECKING:
    from holdfast.store.ranks import RankTable

_OLDEST = (links.c.created_at, links.c.from_id, links.c.to_id, links.c.kind)


def superseding(sql: Queries, memory_ids: Collection[str] | None = None) -> list[Link]:
    """The `supersedes` links between active memories, of these or of all, oldest first."""
    found = sorted(sql.superseding(memory_ids), key=lambda one: (one.created_at, one.from_id, one.to_id))
    if not found:
        return []
    # Not in a join: a server that has no statistics of the space yet compares all memories with all.
    one, ends = memories.c, {end for link in found for end in (link.from_id, link.to_id)}
    active = (one.space == sql.space, one.state == "active", sql.one_of(one.id, ends))
    rows = sql.connection.execute(select(one.id, one.project).where(*active))
    project = {row.id: row.project for row in rows}
    linked = [link for link in found if link.from_id in project and link.to_id in project]
    # What another project says leads nothing here.
    return [link for link in linked if project[link.from_id] in (None, project[link.to_id])]


class LinkTable(SpaceRows):
    """The links of one space."""

    def __init__(self, connection: Connection, space: str, ranks: "RankTable", reader: Reader) -> None:
        super().__init__(connection, space, reader)
        self._ranks = ranks

    def add(self, link: Link) -> bool:
        """Adds it; false when the two are linked so already."""
        if link.kind == "supersedes":
            self._ranks.linked(link.from_id, link.to_id)
        return self._add_new(link)

    def of(self, memory_id: str) -> list[Link]:
        """The links that begin or end at a memory, oldest first."""
        return self._links(or_(links.c.from_id == memory_id, links.c.to_id == memory_id))

    def into(self, memory_ids: Collection[str]) -> list[Link]:
        """The links that end at one of these memories, oldest first."""
        return self._links(self._one_of(links.c.to_id, memory_ids))

    def of_session(self, session_id: str) -> list[Link]:
        return self._links(
            and_(links.c.session_id == session_id, *about_seen(self._reader, links.c.from_id, self._space))
        )

    def of_kind(self, kind: LinkKind) -> list[Link]:
        """All links of a kind, oldest first."""
        return self._links(links.c.kind == kind)

    def superseding(self, memory_ids: Collection[str]) -> list[Link]:
        """The `supersedes` links between these memories and others, all of them active, oldest first."""
        return superseding(self._sql, memory_ids)

    def remove(self, from_id: str, to_id: str, kind: LinkKind | None) -> int:
        """Removes the links from one memory to the other, of one kind or of all; answers how many."""
        self._ranks.linked(from_id, to_id)
        of_kind = () if kind is None else (links.c.kind == kind,)
        return self._remove(links, links.c.from_id == from_id, links.c.to_id == to_id, *of_kind)

    def _links(self, condition: ColumnElement[bool]) -> list[Link]:
        return self._values(Link, self._select(Link, condition).order_by(*_OLDEST))


class CitationTable(SpaceRows):
    """Which words of which messages memories were taken from."""

    def add(self, *cited: Citation) -> None:
        """Adds them; of two of a memory that begin at one place the longer stays."""
        for one in cited:
            if not self._add_new(one):
                self._lengthen(one)

    def of_messages(self, message_ids: Collection[str]) -> list[Citation]:
        return self._citations(self._one_of(citations.c.message_id, message_ids))

    def of_memory(self, memory_id: str) -> list[Citation]:
        return self._citations(citations.c.memory_id == memory_id)

    def remove(self, message_ids: Collection[str]) -> None:
        """Removes those of messages that have no text any more."""
        self._remove(citations, self._one_of(citations.c.message_id, message_ids))

    def _lengthen(self, one: Citation) -> None:
        here = [
            citations.c.message_id == one.message,
            citations.c.memory_id == one.memory,
            citations.c.begins == one.begins,
            citations.c.ends.is_not(None),
        ]
        if one.ends is not None:
            here.append(citations.c.ends < one.ends)
        self._change(citations, {"ends": one.ends}, *here)

    def _citations(self, condition: ColumnElement[bool]) -> list[Citation]:
        order = (citations.c.message_id, citations.c.begins, citations.c.memory_id)
        return self._values(Citation, self._select(Citation, condition).order_by(*order))


class TombstoneTable(SpaceRows):
    """The values of one space that may not come back."""

    @cached_property
    def _are_any(self) -> bool:
        """Whether there is anything to look for: asked at every write, and in most spaces there is not."""
        return self._is_any(tombstones)

    def add(self, tombstone: Tombstone) -> None:
        """Adds it in place of one for the same text: what was erased must lose the text it had."""
        self.lift(tombstone.hash)
        self._add_new(tombstone)
        self._are_any = True

    def get(self, text_hash: str) -> Tombstone | None:
        return next(iter(self.among([text_hash])), None)

    def among(self, hashes: Collection[str]) -> list[Tombstone]:
        """Those of these texts."""
        if not self._are_any:
            return []
        return self._values(Tombstone, self._select(Tombstone, self._one_of(tombstones.c.hash, hashes)))

    def count(self) -> int:
        return self._count(tombstones)

    def of(self, memory_id: str) -> list[Tombstone]:
        return self._values(Tombstone, self._select(Tombstone, tombstones.c.memory_id == memory_id))

    def worded(self, category: str, subject: str | None, limit: int) -> list[Tombstone]:
        """Those on this subject whose text is kept, newest first: a rewording of them is refused too."""
        if not self._are_any:
            return []
        of_subject = is_spelt(tombstones.c.subject, subject, self._sql)
        return self._latest(limit, tombstones.c.category == category, of_subject)

    def latest(self, limit: int) -> list[Tombstone]:
        """Those whose text is kept, newest first, whatever they are about."""
        return self._latest(limit)

    def about(self, hashes: Collection[str], subjects: Collection[str]) -> list[Tombstone]:
        """Those of these texts, and those whose text is kept on one of these subjects or on none."""
        of_subject = or_(tombstones.c.subject.is_(None), self._one_of(tombstones.c.subject, subjects))
        kept = and_(tombstones.c.content.is_not(None), of_subject)
        return self._values(
            Tombstone, self._select(Tombstone, or_(self._one_of(tombstones.c.hash, hashes), kept))
        )

    def lift(self, text_hash: str) -> None:
        self._remove(tombstones, tombstones.c.hash == text_hash)

    def _latest(self, limit: int, *where: ColumnElement[bool]) -> list[Tombstone]:
        if not self._are_any:
            return []
        query = self._select(Tombstone, *where, tombstones.c.content.is_not(None))
        order = (tombstones.c.created_at.desc(), tombstones.c.hash)
        return self._values(Tombstone, query.order_by(*order).limit(limit))
