"""What changes memories: remember, revise, forget, restore, erase, link, decide, undo, take in."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.domain.access import needs
from holdfast.domain.memory import Draft, LinkKind, Memory
from holdfast.domain.outcomes import Outcome, Waiting
from holdfast.engine import (
    archive,
    imports,
    undo_session,
)
from holdfast.engine import erase as erasing
from holdfast.engine import forget as forgetting
from holdfast.engine import inbox as inboxes
from holdfast.engine import link as linking
from holdfast.engine import promote as promoting
from holdfast.engine import remember as remembering
from holdfast.engine import revise as revising
from holdfast.engine import split as splitting
from holdfast.engine import undo as undoing
from holdfast.engine.undo_session import Undone
from holdfast.engine.verbs.speaking import Speaking


class Knowing(Speaking):
    """What changes memories: remember, revise, forget, restore, erase, link, decide, undo, take in."""

    @needs("write")
    def remember(
        self,
        content: str,
        *,
        category: str | None = None,
        subject: str | None = None,
        summary: str | None = None,
        project: str | None = None,
        tags: Sequence[str] = (),
        confidence: float | None = None,
        importance: int | None = None,
        message: str | None = None,
        doubtful: str | None = None,
        key: str | None = None,
        anyway: bool = False,
        unattended: bool = False,
    ) -> Outcome:
        """Keeps what `content` says, as a new memory or as more or less trust in a known one.

        `unattended`: nobody reads an advice to update, so that it becomes a proposal in the inbox.
        """
        draft = Draft(
            content=content,
            category=category,
            subject=subject,
            summary=summary,
            project=project or (None if self.profile.holds_everywhere(category) else self._project),
            tags=tuple(tags),
            confidence=confidence,
            importance=importance,
            source=self._source(message),
            doubtful=doubtful,
        )
        return remembering.remember(draft, ctx=self._synced, key=key, anyway=anyway, unattended=unattended)

    @needs("write")
    def revise(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        category: str | None = None,
        subject: str | None = None,
        summary: str | None = None,
        project: str | None = None,
        tags: Sequence[str] | None = None,
        add_tags: Sequence[str] = (),
        drop_tags: Sequence[str] = (),
        confidence: float | None = None,
        importance: int | None = None,
        pinned: bool | None = None,
        version: int | None = None,
        expect_version: int | None = None,
    ) -> revising.Revised | Waiting:
        """Changes a memory and keeps what it was; `version` goes back to an earlier wording.

        `tags` replaces all of them; `add_tags` and `drop_tags` leave those alone that others gave it.
        """
        revision = revising.Revision(
            content=content,
            category=category,
            subject=subject,
            summary=summary,
            project=project,
            tags=None if tags is None else tuple(tags),
            add_tags=tuple(add_tags),
            drop_tags=tuple(drop_tags),
            confidence=confidence,
            importance=importance,
            pinned=pinned,
            version=version,
        )
        return revising.revise(
            memory_id, revision, ctx=self._synced, source=self._source(), expect_version=expect_version
        )

    @needs("write")
    def promote(self, memory_id: str) -> revising.Revised | Waiting:
        """Lets a memory of one project hold in all of them."""
        return promoting.promote(memory_id, ctx=self._synced, source=self._source())

    @needs("write")
    def forget(self, memory_id: str, *, expect_version: int | None = None) -> forgetting.Forgotten:
        """Takes a memory out of sight, softly or for good as the profile says; it does not come back."""
        return forgetting.forget(
            memory_id, ctx=self._synced, source=self._source(), expect_version=expect_version
        )

    @needs("write")
    def restore(self, memory_id: str) -> Memory:
        """Brings a forgotten memory back."""
        return forgetting.restore(memory_id, ctx=self._synced, source=self._source())

    @needs("write")
    def split(self, memory_id: str, number: int) -> splitting.Split:
        """Makes a wording that was counted as a repetition a memory of its own."""
        return splitting.split(memory_id, number, ctx=self._synced, source=self._source())

    @needs("read")
    def erasure(self, *memory_ids: str) -> erasing.Erasure:
        """What `erase` would remove."""
        return erasing.erasure(memory_ids, ctx=self._synced)

    @needs("admin")
    def erase(self, *memory_ids: str) -> erasing.Erasure:
        """Removes memories and every trace of them, for good."""
        return erasing.erase(memory_ids, ctx=self._synced, source=self._source())

    @needs("write")
    def link(self, from_id: str, to_id: str, kind: LinkKind = "related") -> bool:
        """Links two memories; false when they were linked so already."""
        return linking.link(from_id, to_id, kind, ctx=self._synced, source=self._source())

    @needs("write")
    def unlink(self, from_id: str, to_id: str, kind: LinkKind | None = None) -> int:
        """Removes links from one memory to another."""
        return linking.unlink(from_id, to_id, kind, ctx=self._synced, source=self._source())

    @needs("write")
    def undo(self, *memory_ids: str, since: int) -> list[Memory]:
        """Takes back what this speaker did to memories after the change numbered `since`."""
        return undoing.undo(memory_ids, since=since, ctx=self._synced, source=self._source())

    @needs("admin")
    def approve(self, *memory_ids: str) -> list[Memory]:
        """Lets waiting memories in."""
        return inboxes.approve(memory_ids, ctx=self._synced, source=self._source())

    @needs("admin")
    def reject(self, *memory_ids: str) -> list[Memory]:
        """Turns waiting memories down for good."""
        return inboxes.reject(memory_ids, ctx=self._synced, source=self._source())

    @needs("write")
    def undo_session(self, session_id: str) -> undo_session.Undone:
        """Takes back what one session wrote."""
        return undo_session.undo_session(session_id, ctx=self._synced, source=self._source())

    @needs("read")
    def undo_session_preview(self, session_id: str) -> Undone:
        """What `undo_session` would take back, and what would stay; nothing is changed."""
        return undo_session.undoing(session_id, ctx=self._synced)

    @needs("admin")
    def export(self) -> Iterator[str]:
        """The whole space as lines of an archive."""
        with self._synced.store.read(self.space) as tx:
            yield from archive.lines(tx)

    @needs("admin")
    def import_archive(self, stream: Iterable[str], *, dry_run: bool = False) -> list[imports.Imported]:
        """Takes archives of spaces into this one, field by field; a dry run only says what would come in."""
        parts = list(archive.read(stream))
        return [imports.restore_rows(part, ctx=self._synced, dry_run=dry_run) for part in parts]

    @needs("write")
    def import_drafts(
        self,
        drafts: Iterable[tuple[int, Draft]],
        *,
        review: bool = False,
        dry_run: bool = False,
        report: Callable[[int], None] = lambda done: None,
    ) -> list[imports.ImportResult]:
        """Remembers drafts from elsewhere, each with its line number; `review` sends them to the inbox.

        A dry run says what would become of each, and changes nothing; `report` hears how many are done.
        """
        return imports.import_drafts(drafts, ctx=self._synced, review=review, dry_run=dry_run, report=report)
