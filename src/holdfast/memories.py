"""`Memories`: one object per space, every verb a method. What programs embed and every door calls."""
# budget: a list of all verbs, each of which only hands over to its own module.

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from types import TracebackType

from holdfast import wiring
from holdfast.domain.history import Story
from holdfast.domain.memory import Draft, LinkKind, Memory, Message, Origin, Session, Source
from holdfast.domain.outcomes import Outcome, Waiting
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter, Order
from holdfast.engine import archive, imports, sessions, tend, undo_session
from holdfast.engine import brief as briefs
from holdfast.engine import erase as erasing
from holdfast.engine import find as finding
from holdfast.engine import forget as forgetting
from holdfast.engine import inbox as inboxes
from holdfast.engine import link as linking
from holdfast.engine import recall as recalling
from holdfast.engine import remember as remembering
from holdfast.engine import revise as revising
from holdfast.engine.desk import Desk
from holdfast.engine.ports import Clock, Embedder, Judge, NewId, Store
from holdfast.errors import HoldfastError
from holdfast.settings import Settings


class Memories:
    """The memories of one space.

    Calls come from `origin`, the operator unless said otherwise, and belong to `session` where one is given.
    Close it, or use it as a context manager, to let go of the database.
    """

    def __init__(self, desk: Desk, *, origin: Origin = "operator", session: str | None = None) -> None:
        self._desk = desk
        self._origin: Origin = origin
        self._session = session

    @classmethod
    def open(
        cls,
        db: str | None = None,
        space: str | None = None,
        *,
        clock: Clock = wiring.utc_now,
        ids: NewId = wiring.new_id,
        judge: Judge | None = None,
        embedder: Embedder | None = None,
    ) -> "Memories":
        """The memories of `space` in `db`, a file path or a postgresql:// URL; the user's own by default.

        Raises: NotFound, Unavailable, NewerSchema, Invalid.
        """
        settings = Settings.read()
        store = wiring.open_store(db or settings.db)
        try:
            return cls.of(
                store,
                space or settings.space,
                clock=clock,
                ids=ids,
                judge=judge,
                embedder=embedder or wiring.open_embedder(settings.embedder),
                budget=settings.budget,
            )
        except HoldfastError:
            store.close()
            raise

    @classmethod
    def of(
        cls,
        store: Store,
        space: str,
        *,
        clock: Clock = wiring.utc_now,
        ids: NewId = wiring.new_id,
        judge: Judge | None = None,
        embedder: Embedder | None = None,
        budget: int | None = None,
    ) -> "Memories":
        """The memories of `space` in an open store; without an embedder, recall goes by words."""
        desk = wiring.desk_for(
            space, store, clock=clock, ids=ids, judge=judge, embedder=embedder, budget=budget
        )
        return cls(desk)

    def speaking_as(self, origin: Origin, *, session: str | None = None) -> "Memories":
        """The same memories for another speaker: an assistant in a session, a tool, an import."""
        return Memories(self._desk, origin=origin, session=session)

    @property
    def space(self) -> str:
        return self._desk.space

    @property
    def profile(self) -> Profile:
        return self._desk.profile

    @property
    def store(self) -> Store:
        return self._desk.store

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
    ) -> Outcome:
        """Keeps what `content` says, as a new memory or as more or less trust in a known one."""
        draft = Draft(
            content=content,
            category=category,
            subject=subject,
            summary=summary,
            project=project,
            tags=tuple(tags),
            confidence=confidence,
            importance=importance,
            source=self._source(message),
            doubtful=doubtful,
        )
        return remembering.remember(draft, desk=self._desk, key=key, anyway=anyway)

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
        confidence: float | None = None,
        importance: int | None = None,
        pinned: bool | None = None,
        version: int | None = None,
        expect_version: int | None = None,
    ) -> revising.Revised | Waiting:
        """Changes a memory and keeps what it was; `version` goes back to an earlier wording."""
        revision = revising.Revision(
            content=content,
            category=category,
            subject=subject,
            summary=summary,
            project=project,
            tags=None if tags is None else tuple(tags),
            confidence=confidence,
            importance=importance,
            pinned=pinned,
            version=version,
        )
        return revising.revise(
            memory_id, revision, desk=self._desk, source=self._source(), expect_version=expect_version
        )

    def forget(self, memory_id: str, *, expect_version: int | None = None) -> forgetting.Forgotten:
        """Takes a memory out of sight, softly or for good as the profile says; it does not come back."""
        return forgetting.forget(
            memory_id, desk=self._desk, source=self._source(), expect_version=expect_version
        )

    def restore(self, memory_id: str) -> Memory:
        """Brings a forgotten memory back."""
        return forgetting.restore(memory_id, desk=self._desk, source=self._source())

    def erasure(self, *memory_ids: str) -> erasing.Erasure:
        """What `erase` would remove."""
        return erasing.erasure(memory_ids, desk=self._desk)

    def erase(self, *memory_ids: str) -> erasing.Erasure:
        """Removes memories and every trace of them, for good."""
        return erasing.erase(memory_ids, desk=self._desk, source=self._source())

    def link(self, from_id: str, to_id: str, kind: LinkKind = "related") -> bool:
        """Links two memories; false when they were linked so already."""
        return linking.link(from_id, to_id, kind, desk=self._desk, source=self._source())

    def unlink(self, from_id: str, to_id: str, kind: LinkKind | None = None) -> int:
        """Removes links from one memory to another."""
        return linking.unlink(from_id, to_id, kind, desk=self._desk, source=self._source())

    def find(
        self,
        where: Filter | None = None,
        *,
        order: Order = "category",
        limit: int | None = None,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> finding.Page:
        """The memories that `where` admits, now or as they were believed at a past moment."""
        return finding.find(
            where or Filter(), desk=self._desk, order=order, limit=limit, offset=offset, as_of=as_of
        )

    def show(self, memory_id: str) -> finding.Details:
        """One memory with its wordings and links."""
        return finding.show(memory_id, desk=self._desk)

    def why(self, memory_id: str) -> Story:
        """Where a memory came from, how its confidence came about, and which prompts it went into."""
        return finding.why(memory_id, desk=self._desk)

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        threshold: float | None = None,
        where: Filter | None = None,
        project: str | None = None,
        as_of: datetime | None = None,
    ) -> recalling.Recall:
        """The memories that answer a question; of `project` and of none, unless `where` says otherwise."""
        return recalling.recall(
            query,
            desk=self._desk,
            where=where,
            project=project,
            limit=limit,
            threshold=threshold,
            as_of=as_of,
            session=self._session,
        )

    def brief(
        self, *, project: str | None = None, subject: str | None = None, budget: int | None = None
    ) -> briefs.Brief:
        """The block for a prompt, within its budget; in a session always the same one."""
        return briefs.brief(
            desk=self._desk, session=self._session, project=project, subject=subject, budget=budget
        )

    def tend(self) -> tend.Tended:
        """The upkeep: decay, so far."""
        return tend.tend(desk=self._desk)

    def inbox(self) -> list[inboxes.Item]:
        """What waits for a person, oldest first."""
        return inboxes.inbox(desk=self._desk)

    def approve(self, *memory_ids: str) -> list[Memory]:
        """Lets waiting memories in."""
        return inboxes.approve(memory_ids, desk=self._desk, source=self._source())

    def reject(self, *memory_ids: str) -> list[Memory]:
        """Turns waiting memories down for good."""
        return inboxes.reject(memory_ids, desk=self._desk, source=self._source())

    def undo_session(self, session_id: str) -> undo_session.Undone:
        """Takes back what one session wrote."""
        return undo_session.undo_session(session_id, desk=self._desk, source=self._source())

    def open_session(
        self,
        session_id: str | None = None,
        *,
        name: str | None = None,
        client: str | None = None,
        directory: str | None = None,
        project: str | None = None,
        tier: int | None = None,
    ) -> Session:
        """Begins a session of an agent, or goes on with one."""
        return sessions.open_session(
            session_id,
            desk=self._desk,
            name=name,
            client=client,
            directory=directory,
            project=project,
            tier=tier,
        )

    def close_session(self, session_id: str, *, exit_code: int | None = None) -> Session:
        """Ends a session."""
        return sessions.close_session(session_id, desk=self._desk, exit_code=exit_code)

    def say(
        self,
        session_id: str,
        role: str,
        content: str,
        *,
        speaker: str | None = None,
        message_id: str | None = None,
        said_at: datetime | None = None,
    ) -> Message:
        """Keeps a message of a session, so that memories can cite it."""
        return sessions.say(
            session_id,
            role,
            content,
            desk=self._desk,
            speaker=speaker,
            message_id=message_id,
            said_at=said_at,
        )

    def export(self) -> Iterator[str]:
        """The whole space as lines of an archive."""
        with self._desk.store.read(self.space) as tx:
            yield from archive.lines(tx)

    def import_archive(self, stream: Iterable[str]) -> list[imports.Imported]:
        """Takes archives of spaces into this one, field by field."""
        return [imports.restore_rows(part, desk=self._desk) for part in list(archive.read(stream))]

    def import_drafts(
        self, drafts: Iterable[tuple[int, Draft]], *, review: bool = False
    ) -> list[imports.Told]:
        """Remembers drafts from elsewhere, each with its line number; `review` sends them to the inbox."""
        return imports.import_drafts(drafts, desk=self._desk, review=review)

    def close(self) -> None:
        """Lets go of the database."""
        self._desk.store.close()

    def __enter__(self) -> "Memories":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _source(self, message: str | None = None) -> Source:
        return Source(origin=self._origin, session=self._session, message=message)
