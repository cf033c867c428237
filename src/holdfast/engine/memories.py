"""`Memories`: one object per space, every verb a method. What programs embed and every door calls.

A method declares its scope, builds the value that a verb works on, and calls the verb's own module.
"""
# budget: all verbs of a space are one list.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, Unpack

from holdfast import engine
from holdfast.app import wiring
from holdfast.domain.access import EVERYTHING, Grant, checked_person, needs
from holdfast.domain.budget import CONTEXT_TOKENS, DELTA_BUDGET
from holdfast.domain.memory import Draft, Origin, Revision, Source
from holdfast.domain.query import EVERY_SESSION, Filter, Query, SessionFilter
from holdfast.engine.doors import shows
from holdfast.engine.ports import (
    BuiltinModel,
    Clock,
    Embedder,
    NewId,
    Quiet,
    ReplicaAway,
    Store,
    TimeUp,
    never_quiet,
)
from holdfast.engine.space_context import LanguageModels, SpaceContext
from holdfast.errors import HoldfastError
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.domain.dialogue import Dialogue, Turn
    from holdfast.domain.health import HealthFinding
    from holdfast.domain.history import Story
    from holdfast.domain.jobs import Job, JobState
    from holdfast.domain.memory import (
        DraftFields,
        Link,
        LinkKind,
        Memory,
        Message,
        RevisionFields,
        Session,
        SessionFields,
    )
    from holdfast.domain.operations import Attempt, CooldownStatus, Event
    from holdfast.domain.outcomes import Outcome, Waiting
    from holdfast.domain.profile import Profile
    from holdfast.domain.query import EventFields, Group, ListFields, MemoryCursor, QueryFields, TimeCursor
    from holdfast.domain.space import Access
    from holdfast.domain.spend import GroupedBy, SpendReport
    from holdfast.engine.access_log import AccessFields
    from holdfast.engine.audit import Audit
    from holdfast.engine.brief import Brief
    from holdfast.engine.cache_report import CacheReport
    from holdfast.engine.capture import Captured
    from holdfast.engine.context import Context, ContextFields
    from holdfast.engine.dialogues import ProxyContext
    from holdfast.engine.erase import Erasure
    from holdfast.engine.feedback import Feedback
    from holdfast.engine.find import Details, Page
    from holdfast.engine.forget import Forgotten
    from holdfast.engine.imports import ImportResult
    from holdfast.engine.inbox import Item, ReviewItem, ReviewPage
    from holdfast.engine.look import Look
    from holdfast.engine.models_in_use import EmbeddingProgress, Models, Trial
    from holdfast.engine.reading import ChunkResult
    from holdfast.engine.recall import Recall
    from holdfast.engine.recapture import Recaptured
    from holdfast.engine.restore import Imported
    from holdfast.engine.revise import Revised
    from holdfast.engine.session_names import SessionTotals
    from holdfast.engine.session_story import SessionStory
    from holdfast.engine.sessions import Conversation, MessageFields, NewMessage
    from holdfast.engine.spaces import Overview
    from holdfast.engine.split import Split
    from holdfast.engine.stats import Stats
    from holdfast.engine.subject_story import SubjectStory
    from holdfast.engine.tend import Preview, Tended
    from holdfast.engine.transcripts import SessionNotes
    from holdfast.engine.undo import Undone
    from holdfast.files.bindings import DirectoryState
    from holdfast.files.scan import SyncReport
    from holdfast.files.verbs import FileChange, FileEntry, FileText
    from holdfast.language.judge import PairModel


Given = ParamSpec("Given")
Result = TypeVar("Result")


def reads(
    verb: Callable[Concatenate[Memories, Given], Result],
) -> Callable[Concatenate[Memories, Given], Result]:
    """Declares scope read, for a verb whose reads a replica may answer."""

    @wraps(verb)
    def answered(self: Memories, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return verb(self._from_replica(), *args, **kwargs)
        except ReplicaAway:
            return verb(self, *args, **kwargs)

    answered.__from_replica__ = True  # type: ignore[attr-defined]
    return needs("read")(answered)


class Memories:
    """The memories of one space.

    Calls come from `origin`, the operator unless said otherwise, and belong to `session` where one is given.
    What they may do, `grant` says: everything, unless a door let somebody in with less.
    Close it, or use it as a context manager, to let go of the database.
    """

    def __init__(
        self,
        ctx: SpaceContext,
        *,
        origin: Origin = "operator",
        session: str | None = None,
        project: str | None = None,
        grant: Grant = EVERYTHING,
    ) -> None:
        self._ctx = ctx
        self._origin: Origin = origin
        self._session = session
        self._project = project
        self._grant = grant

    @classmethod
    def open(
        cls,
        db: str | None = None,
        space: str | None = None,
        *,
        clock: Clock = wiring.utc_now,
        ids: NewId = wiring.new_id,
        judge: PairModel | None = None,
        embedder: Embedder | None = None,
    ) -> Memories:
        """The memories of `space` in `db`, a file path or a postgresql:// URL; the user's own by default.

        Raises: NotFound, Unavailable, NewerSchema, Invalid.
        """
        settings = Settings.read()
        store = wiring.open_store(db or settings.db, clock=clock)
        try:
            return cls.of(
                store,
                space or settings.space,
                clock=clock,
                ids=ids,
                judge=judge,
                embedder=embedder or wiring.open_embedder(settings.embedder),
                budget=settings.budget,
                language_models=wiring.open_language_models(settings),
                person=settings.person,
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
        judge: PairModel | None = None,
        builtin_model: BuiltinModel | None = None,
        embedder: Embedder | None = None,
        budget: int | None = None,
        language_models: LanguageModels | None = None,
        waits: bool = True,
        person: str | None = None,
    ) -> Memories:
        """The memories of `space` in an open store; without an embedder, recall goes by words.

        Without `language_models` only the `builtin_model` captures. What is written says that `person` wrote
        it. `waits=False` is for a process that calls
        `embed` in the background: its queries don't wait for missing vectors.
        """
        ctx = wiring.context_for(
            space,
            store,
            clock=clock,
            ids=ids,
            judge=judge,
            builtin_model=builtin_model,
            embedder=embedder,
            budget=budget,
            language_models=language_models,
            waits=waits,
        )
        return cls(replace(ctx, person=checked_person(person)))

    def speaking_as(
        self,
        origin: Origin,
        *,
        session: str | None = None,
        project: str | None = None,
        person: str | None = None,
    ) -> Memories:
        """The same memories for another speaker: an assistant in a session, a tool, an import.

        Where no project is named, `project` is meant; what holds everywhere is still kept for all.
        `person` is who speaks, for a program that holds the database; a token says whose it is.
        """
        ctx = self._ctx
        if person is not None:
            self._grant.require_person(checked_person(person))
            ctx = replace(ctx, person=person)
        return Memories(ctx, origin=origin, session=session, project=project, grant=self._grant)

    def granted(self, grant: Grant) -> Memories:
        """The same memories for whoever holds `grant`: each verb asks for its scope.

        Raises: NotFound, for a space that the grant does not reach; it looks like one that is not there.
        """
        grant.require_space(self.space)
        person = grant.person if grant.token is not None else self._ctx.person
        ctx = replace(self._ctx, token=grant.token, quota=grant.quota, person=person, reader=grant.reader)
        return Memories(ctx, origin=self._origin, session=self._session, project=self._project, grant=grant)

    def _from_replica(self) -> Memories:
        """The same memories, where reads may be answered by a replica."""
        ctx = replace(self._ctx, from_replica=True)
        return Memories(
            ctx, origin=self._origin, session=self._session, project=self._project, grant=self._grant
        )

    @property
    def space(self) -> str:
        return self._ctx.space

    @property
    def origin(self) -> Origin:
        """Whose word a call counts as."""
        return self._origin

    @property
    def person(self) -> str | None:
        """Who writes, if that is known."""
        return self._ctx.person

    @property
    def profile(self) -> Profile:
        return self._ctx.profile

    @property
    def budget(self) -> int:
        """The tokens of a brief, unless a call says otherwise."""
        return self._ctx.budget if self._ctx.budget is not None else self.profile.block.budget

    @property
    @needs("admin")
    def store(self) -> Store:
        return self._ctx.store

    def close(self) -> None:
        """Lets go of the database."""
        self._ctx.store.close()

    def __enter__(self) -> Memories:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _in_files(self) -> SpaceContext:
        """The context for memories as files, which are shared."""
        return self._synced.among(None)

    @property
    def _synced(self) -> SpaceContext:
        """The context, once what was done by hand in a bound directory is taken over."""
        if self._ctx.arrive is not None:
            self._ctx.arrive(self._ctx)
        return self._ctx

    def _source(self, message: str | None = None) -> Source:
        return Source(origin=self._origin, session=self._session, message=message, person=self._ctx.person)

    def _query(self, text: str, fields: QueryFields) -> Query:
        query = Query(text=text, session=self._session, **fields)
        return replace(query, project=query.project or self._project)

    # ------------------------------------------------------------------------------------- changing memories

    @needs("tools")
    def remember(
        self,
        content: str,
        *,
        message: str | None = None,
        key: str | None = None,
        anyway: bool = False,
        unattended: bool = False,
        **fields: Unpack[DraftFields],
    ) -> Outcome:
        """Keeps what `content` says, as a new memory or as more or less trust in a known one.

        `fields` are those of a `Draft`: category, subject, summary, project, tags, confidence, importance,
        doubtful. `message` is the id of the message that it was taken from; a call with a `key` that was used
        before has no effect; `anyway` stores what was deleted before.
        `unattended`: nobody reads an advice to update, so that it becomes a proposal in the inbox.
        """
        draft = Draft.of(content, self._source(message), **fields)
        project = None if self.profile.holds_everywhere(draft.category) else self._project
        draft = replace(draft, project=draft.project or project)
        return engine.remember.remember(
            draft, ctx=self._synced, key=key, anyway=anyway, unattended=unattended
        )

    @needs("tools")
    def revise(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        expect_version: int | None = None,
        **fields: Unpack[RevisionFields],
    ) -> Revised | Waiting:
        """Changes a memory and keeps what it was.

        `fields` are those of a `Revision`: category, subject, summary, project, confidence, importance,
        pinned; `version` goes back to an earlier wording. `tags` replaces all of them; `add_tags` and
        `drop_tags` leave those alone that others gave it.
        """
        revision = Revision.of(content, **fields)
        return engine.revise.revise(
            memory_id, revision, ctx=self._synced, source=self._source(), expect_version=expect_version
        )

    @needs("tools")
    def promote(self, memory_id: str) -> Revised | Waiting:
        """Makes a memory of one project global."""
        return engine.revise.promote(memory_id, ctx=self._synced, source=self._source())

    @needs("tools")
    def forget(self, memory_id: str, *, expect_version: int | None = None) -> Forgotten:
        """Soft-deletes a memory; it can be restored, unless the profile deletes for good."""
        return engine.forget.forget(
            memory_id, ctx=self._synced, source=self._source(), expect_version=expect_version
        )

    @needs("tools")
    def restore(self, memory_id: str) -> Memory:
        """Restores a deleted memory."""
        return engine.forget.restore(memory_id, ctx=self._synced, source=self._source())

    @needs("tools")
    def split(self, memory_id: str, number: int) -> Split:
        """Splits off a wording that was counted as a repetition; `why` lists the wordings."""
        return engine.split.split(memory_id, number, ctx=self._synced, source=self._source())

    @reads
    @shows
    def erasure(self, *memory_ids: str) -> Erasure:
        """Previews what erasing would remove."""
        return engine.erase.erasure(memory_ids, ctx=self._synced)

    @needs("admin")
    def erase(self, *memory_ids: str) -> Erasure:
        """Erases memories and all their traces for good."""
        return engine.erase.erase(memory_ids, ctx=self._synced, source=self._source())

    @needs("tools")
    def link(self, from_id: str, to_id: str, kind: LinkKind = "related") -> bool:
        """Links two memories; false if they are already linked."""
        return engine.link.link(from_id, to_id, kind, ctx=self._synced, source=self._source())

    @needs("tools")
    def unlink(self, from_id: str, to_id: str, kind: LinkKind | None = None) -> int:
        """Removes links from one memory to another, of one kind or all kinds."""
        return engine.link.unlink(from_id, to_id, kind, ctx=self._synced, source=self._source())

    @needs("tools")
    def undo(self, *memory_ids: str, since: int) -> list[Memory]:
        """Takes back what this speaker did to memories after the change numbered `since`."""
        return engine.undo.undo(memory_ids, since=since, ctx=self._synced, source=self._source())

    @needs("tools")
    def undo_session(self, session_id: str) -> Undone:
        """Undoes everything that a session wrote."""
        return engine.undo.undo_session(session_id, ctx=self._synced, source=self._source())

    @reads
    @shows
    def undo_session_preview(self, session_id: str) -> Undone:
        """What `undo_session` would take back, and what would stay; nothing is changed."""
        return engine.undo.undoing(session_id, ctx=self._synced)

    @needs("admin")
    @shows
    def export(self) -> Iterator[str]:
        """Exports the whole space as JSON lines."""
        with self._synced.read() as tx:
            yield from engine.archive.lines(tx)

    @needs("admin")
    def import_archive(self, stream: Iterable[str], *, dry_run: bool = False) -> list[Imported]:
        """Takes archives of spaces into this one, field by field; a dry run only says what would come in."""
        parts = list(engine.archive.read(stream))
        return [engine.restore.restore_rows(part, ctx=self._synced, dry_run=dry_run) for part in parts]

    @needs("tools")
    def import_drafts(
        self,
        drafts: Iterable[tuple[int, Draft]],
        *,
        review: bool = False,
        dry_run: bool = False,
    ) -> list[ImportResult]:
        """Remembers drafts from elsewhere, each with its line number; `review` sends them to the inbox.

        A dry run says what would become of each, and changes nothing.
        """
        batches = self.import_batches(drafts, review=review, dry_run=dry_run)
        return [each for batch in batches for each in batch]

    @needs("tools")
    def import_batches(
        self, drafts: Iterable[tuple[int, Draft]], *, review: bool = False, dry_run: bool = False
    ) -> Iterator[list[ImportResult]]:
        """The same in batches, for any number of drafts: each is stored when it is asked for."""
        return engine.imports.import_drafts(drafts, ctx=self._synced, review=review, dry_run=dry_run)

    # ------------------------------------------------------------------------------------------------- inbox

    @reads
    @shows
    def inbox(self) -> list[Item]:
        """Memories waiting for review, oldest first."""
        return engine.inbox.inbox(ctx=self._synced)

    @reads
    @shows
    def review(self, *, limit: int = 20, after: MemoryCursor | None = None) -> ReviewPage:
        """What waits for a person, oldest first, with its origin and the known ones beside it."""
        return engine.inbox.review(ctx=self._synced, limit=limit, after=after)

    @reads
    @shows
    def review_items(self, *memory_ids: str) -> list[ReviewItem]:
        """What a decision about these waiting memories would change."""
        return engine.inbox.review_items(memory_ids, ctx=self._synced)

    @needs("admin")
    def approve(self, *memory_ids: str) -> list[Memory]:
        """Approves waiting memories: all of them, or none if one fails."""
        return engine.inbox.approve(memory_ids, ctx=self._synced, source=self._source())

    @needs("admin")
    def reject(self, *memory_ids: str) -> list[Memory]:
        """Rejects waiting memories: all of them, or none if one fails. The same text is not stored again."""
        return engine.inbox.reject(memory_ids, ctx=self._synced, source=self._source())

    # -------------------------------------------------------------------------------------- finding memories

    @reads
    @shows
    def find(self, where: Filter | None = None, **listing: Unpack[ListFields]) -> Page:
        """The memories that `where` admits, now or as they were believed at a past moment.

        `listing` is order, group, limit, offset, after, as_of. Without `exact`, a total that would take long
        to count may be 10,000 and `more`.
        """
        return engine.find.find(where or Filter(), ctx=self._synced, **listing)

    @reads
    def subjects(self, *, limit: int = 200) -> list[tuple[str | None, int]]:
        """What memories are about, and how many of each; none stands for general knowledge."""
        with self._synced.read() as tx:
            return tx.memories.subjects(limit)

    @reads
    def projects(self) -> list[str]:
        """The projects that memories belong to, by name."""
        with self._synced.read() as tx:
            return sorted(tx.ranks.projects(), key=str.casefold)

    @reads
    @shows
    def subject_story(self, subject: str | None) -> SubjectStory:
        """The latest changes of the memories about a subject; without one, of general knowledge."""
        return engine.subject_story.subject_story(subject, ctx=self._synced)

    @reads
    def group_sizes(self, where: Filter, group: Group, names: Sequence[str]) -> dict[str, int]:
        """How many memories are in each of these groups of a list; an empty name: of no subject."""
        with self._synced.read() as tx:
            return tx.memories.group_sizes(where, group, names)

    @needs("read")
    def last_change(self) -> int:
        """The number of the newest change in this space: the same number, the same memories."""
        with self._synced.read() as tx:
            return tx.journal.last()

    @reads
    @shows
    def linked(self, memory_id: str) -> list[tuple[Link, Memory]]:
        """The links of a memory with what stands at their other ends."""
        return engine.find.linked(memory_id, ctx=self._synced)

    @reads
    @shows
    def show(self, memory_id: str) -> Details:
        """One memory with its versions and links; also a deleted one that can be restored."""
        return engine.find.show(memory_id, ctx=self._synced)

    @reads
    @shows
    def why(self, memory_id: str) -> Story:
        """The source of a memory, its changes of confidence, and the prompts it was used in."""
        return engine.find.why(memory_id, ctx=self._synced, to_agent=self._origin == "assistant")

    @needs("tools")
    def feedback(self, memory_id: str, *, helpful: bool = False, receipt: str | None = None) -> Feedback:
        """Says that a recalled memory did not help, or takes that back; of the latest recall unless `receipt`
        names another, in this session if there is one.

        For prompts like that one it ranks lower and is not put beside them.
        """
        session = self._session if receipt is None else None
        return engine.feedback.feedback(
            memory_id, helpful=helpful, receipt=receipt, session=session, ctx=self._synced
        )

    @reads
    @shows
    def recall(self, query: str, **fields: Unpack[QueryFields]) -> Recall:
        """Searches memories and messages, best match first.

        `fields` are those of a `Query`: limit (default: 5), threshold, where, project (finds what has none,
        too), as_of, messages, and asked_at (default: now), from which days like "last week" are counted.
        """
        return engine.recall.recall(self._query(query, fields), ctx=self._synced)

    @reads
    @shows
    def look(
        self,
        query: str,
        *,
        limit: int = 5,
        project: str | None = None,
        as_of: datetime | None = None,
        budget: int = CONTEXT_TOKENS,
    ) -> Look:
        """What `recall` and `context` would bring up and what they nearly did; no access, no receipt.

        Of all projects, unless one is named.
        """
        asked = self._query(query, {"limit": limit, "project": project, "as_of": as_of})
        return engine.look.look(asked, ctx=self._synced, budget=budget)

    @needs("read")
    @shows
    def brief(
        self, *, project: str | None = None, subject: str | None = None, budget: int | None = None
    ) -> Brief:
        """The block for a prompt, within a token budget; the same text throughout a session."""
        project = project or self._project
        return engine.brief.brief(
            ctx=self._synced, session=self._session, project=project, subject=subject, budget=budget
        )

    @reads
    @shows
    def context(self, said: Sequence[NewMessage | str], **fields: Unpack[ContextFields]) -> Context:
        """Memories that help with the last message, as a block for a prompt: none that the session has seen.

        `fields`: project, budget (default: 150 tokens), limit (default: 3 memories), and explain, which says
        why each line is there and what was left out, and does not count as showing it.
        """
        fields["project"] = fields.get("project") or self._project
        return engine.context.context(said, ctx=self._synced, session=self._session, **fields)

    @needs("read")
    @shows
    def delta(self, *, budget: int = DELTA_BUDGET) -> str:
        """What others added since the brief of the session; each addition once."""
        if self._session is None:
            return ""
        return engine.brief.delta(self._session, ctx=self._synced, project=self._project, budget=budget)

    # ----------------------------------------------------------------------------------------- what was said

    @reads
    def sessions(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: TimeCursor | None = None,
        where: SessionFilter = EVERY_SESSION,
    ) -> list[Session]:
        """The sessions, the latest first; `after` is where the last page ended."""
        return engine.sessions.listed(ctx=self._synced, limit=limit, offset=offset, after=after, where=where)

    @reads
    def session_totals(self, where: SessionFilter) -> SessionTotals:
        """How many sessions there are, and what they used in all, as far as agents reported it."""
        return engine.session_names.totals(where, ctx=self._synced)

    @reads
    def unread_sessions(self) -> int:
        """How many sessions have messages that are due to be read in the background."""
        with self._synced.read() as tx:
            return tx.jobs.overdue("capture", self._synced.now())

    @reads
    def session_values(self, what: Literal["client", "project"]) -> list[str]:
        """The clients or projects of all sessions."""
        with self._synced.read() as tx:
            return tx.sessions.named(what)

    @reads
    def session_tallies(self, *session_ids: str) -> dict[str, tuple[int, int]]:
        """How many messages each session has, and how many memories came from it."""
        with self._synced.read() as tx:
            return tx.sessions.tallies(session_ids)

    @reads
    def session_titles(self, *session_ids: str) -> dict[str, str]:
        """What sessions are called: by their name, or by how the first prompt begins."""
        return engine.session_names.titles(session_ids, ctx=self._synced)

    @reads
    def find_session(self, words: str, *, wrote: bool = False) -> str:
        """The id of the session with this id or title, or which begins so; "last" is the latest one, or with
        `wrote` the latest that changed a memory.
        """
        return engine.session_names.find_session(words, ctx=self._synced, wrote=wrote)

    @reads
    def find_memory(self, words: str) -> str:
        """The id that is given, or the one that begins so."""
        return engine.find.find_memory(words, ctx=self._synced)

    @needs("tools")
    def name_session(self, session_id: str, name: str) -> Session:
        """Gives a session a name."""
        return engine.session_names.name_session(session_id, name, ctx=self._synced)

    @reads
    @shows
    def session_story(self, session_id: str, *, first: int = 1, limit: int = 100) -> SessionStory:
        """What was said in a session from message `first` on, what it was given, and what it wrote."""
        return engine.session_story.session_story(session_id, ctx=self._synced, first=first, limit=limit)

    @reads
    @shows
    def session(self, session_id: str) -> Conversation:
        """One session and what was said in it."""
        return engine.sessions.conversation(session_id, ctx=self._synced)

    @reads
    def cache_report(self, *session_ids: str, limit: int = 20) -> CacheReport:
        """Whether sessions kept their brief, byte for byte, and what a prompt cache could keep of it.

        These sessions, or the latest ones.
        """
        return engine.cache_report.cache_report(session_ids, ctx=self._synced, limit=limit)

    @reads
    @shows
    def message(self, message_id: str) -> Message:
        """One message, as first received."""
        return engine.sessions.message(message_id, ctx=self._synced)

    @reads
    @shows
    def around(self, message_id: str, *, reach: int = 2) -> list[Message]:
        """A message between those that were said before and after it."""
        return engine.sessions.around(message_id, ctx=self._synced, reach=reach)

    @needs("tools")
    def open_session(
        self, session_id: str | None = None, *, tier: int | None = None, **fields: Unpack[SessionFields]
    ) -> Session:
        """Opens a session, or continues a known one.

        `fields` are name, client, directory and project.
        """
        return engine.sessions.open_session(session_id, ctx=self._synced, tier=tier, **fields)

    @needs("tools")
    def close_session(
        self,
        session_id: str,
        *,
        exit_code: int | None = None,
        usage: Mapping[str, Any] | None = None,
        ended_at: datetime | None = None,
    ) -> Session:
        """Closes a session, now or at `ended_at`, optionally with exit code and usage."""
        return engine.sessions.close_session(
            session_id, ctx=self._synced, exit_code=exit_code, usage=usage, ended_at=ended_at
        )

    @needs("write")
    def say(self, session_id: str, role: str, content: str, **fields: Unpack[MessageFields]) -> Message:
        """Stores a message of a session, so that memories can cite it.

        `fields` are speaker, message_id and said_at.
        """
        said = engine.sessions.NewMessage(role=role, content=content, **fields)
        return engine.sessions.say(session_id, said, ctx=self._synced)

    @needs("write")
    def say_all(self, session_id: str, said: Sequence[NewMessage]) -> list[Message]:
        """Stores messages of a session in order, all or none; returns the new ones.

        Raises: Conflict, where something else was said under one of the ids; Invalid, for an unknown role.
        """
        return engine.sessions.say_all(session_id, said, ctx=self._synced, own_ids=True)

    @needs("write")
    def take_session(
        self,
        session_id: str,
        said: Sequence[NewMessage],
        *,
        started_at: datetime | None = None,
        ended_at: datetime | None = None,
        notes: SessionNotes | None = None,
        time_up: TimeUp | None = None,
        dry_run: bool = False,
        **fields: Unpack[SessionFields],
    ) -> int:
        """Keeps a session of the past and what was said in it; answers how many messages were new.

        An id that comes with another text than before is that of two messages: both are kept, which `notes`
        says, or else the log. Ended by `time_up`, `notes` say so. A dry run answers how many would be new,
        and keeps none. `fields` are name, client, directory, project.
        """
        return engine.transcripts.take_session(
            session_id,
            said,
            ctx=self._synced,
            started_at=started_at,
            ended_at=ended_at,
            notes=notes,
            time_up=time_up,
            dry_run=dry_run,
            **fields,
        )

    @needs("proxy")
    @shows
    def proxy_context(
        self,
        dialogue: Dialogue,
        *,
        quiet: Quiet = never_quiet,
        wanted: Callable[[], bool] = lambda: True,
    ) -> ProxyContext:
        """What belongs into the prompt of a client that knows of no memory: the same at every turn."""
        return engine.dialogues.proxy_context(dialogue, ctx=self._synced, quiet=quiet, wanted=wanted)

    @needs("proxy")
    def proxy_record(
        self,
        dialogue: Dialogue,
        *,
        session_id: str | None = None,
        answer: Turn | None = None,
        quiet: Quiet = never_quiet,
    ) -> list[Message]:
        """Keeps what is new of such a conversation, and answers it."""
        return engine.dialogues.proxy_record(
            dialogue, ctx=self._synced, session_id=session_id, answer=answer, quiet=quiet
        )

    @needs("tools")
    def capture(self, session_id: str | None = None, *, quiet: Quiet = never_quiet) -> list[Captured]:
        """Reads now what waits to be read, of one session or of all, and remembers what is worth keeping."""
        return engine.capture.capture(ctx=self._synced, session_id=session_id, quiet=quiet)

    @needs("tools")
    def capture_due(self, *, quiet: Quiet = never_quiet, time_up: TimeUp = lambda: False) -> Captured | None:
        """Reads the next session whose time has come, until the time is up; none when there is none."""
        return engine.capture.capture_due(ctx=self._synced, quiet=quiet, time_up=time_up)

    @needs("tools")
    def recapture(self, *, quiet: Quiet = never_quiet, dry_run: bool = False) -> Recaptured:
        """Reads all kept messages again, for what a better reader finds; undone as one session."""
        return engine.recapture.recapture(ctx=self._synced, quiet=quiet, dry_run=dry_run)

    @needs("tools")
    def read_due(self, session_id: str | None = None, *, quiet: Quiet = never_quiet) -> ChunkResult | None:
        """Reads with a model the next piece that our reader has read, of one session or of all.

        None without a piece or a model.
        """
        return engine.reading.read_due(ctx=self._synced, session_id=session_id, quiet=quiet)

    @needs("tools")
    def read_again(self, *, drop: bool = False) -> int:
        """Lets a model try again what it could not read, or leaves it unread; answers how many."""
        return engine.jobs.again(engine.reading_queue.READING, ctx=self._synced, drop=drop)

    # ------------------------------------------------------------------------------------- upkeep and figures

    @needs("read")
    def overview(self) -> Overview:
        """The space and its counts."""
        return engine.spaces.overview(self.space, store=self._synced.store)

    @reads
    @shows
    def stats(self) -> Stats:
        """The space in figures: growth, kinds, belief, use, capture and jobs."""
        return engine.stats.stats(ctx=self._synced)

    @reads
    def attention(self) -> list[HealthFinding]:
        """What in this space needs a look: work that failed or rests, files that ask."""
        from holdfast.domain.health import HealthFinding

        found = engine.audit.attention(ctx=self._synced)
        state = self.directory()
        if state is not None and state.asks:
            says = "the files of this space need a decision"
            found.insert(0, HealthFinding("problem", says, f"{state.asks} on the files page"))
        return found

    @needs("read")
    def models(self) -> Models:
        """The models that the space works with, by name."""
        return engine.models_in_use.models(ctx=self._synced)

    @needs("admin")
    def try_models(self) -> list[Trial]:
        """Asks the embedder and each language model something short, and tells which answered."""
        found = engine.models_in_use.trials(ctx=self._synced)
        embedder = self._ctx.embedder
        if embedder is None:
            return found
        return [engine.models_in_use.Trial(embedder.name, "meaning", wiring.try_embedder(embedder)), *found]

    @needs("tools")
    def tend(
        self,
        report: Callable[[EmbeddingProgress], None] | None = None,
        *,
        clock_is_right: bool = False,
    ) -> Tended:
        """The upkeep: lets fade what nobody confirmed, and makes vectors; `report` hears how far they are.

        After a pause of more than 180 days nothing fades, unless somebody says that `clock_is_right`.
        """
        return engine.tend.tend(ctx=self._synced, report=report, clock_is_right=clock_is_right)

    @needs("tools")
    def upkeep(self) -> Iterator[Tended]:
        """The same without the vectors, in small steps: begin each when nothing more urgent is to be done."""
        return engine.tend.upkeep(ctx=self._synced)

    @needs("read")
    @shows
    def tend_preview(self) -> Preview:
        """What upkeep would do now; changes nothing."""
        return engine.tend.preview(ctx=self._synced)

    @reads
    @shows
    def audit(self, seen: Callable[[int, int], None] = lambda done, total: None) -> Audit:
        """What is junk or may become it, with ids and what to do; `seen` hears how far it is."""
        return engine.audit.audit(ctx=self._synced, seen=seen)

    @needs("tools")
    def embed(self, limit: int, *, time_up: TimeUp = lambda: False) -> int:
        """Gives up to `limit` texts that have none their vectors, until the time is up; answers how many.

        Raises: Unavailable, when the embedder fails.
        """
        return engine.embedding.embed_missing(self._synced, limit=limit, changing=limit, time_up=time_up)

    @reads
    def jobs(self, state: JobState = "queued", *, limit: int = 100) -> list[Job]:
        """Background jobs in one state, oldest first."""
        return engine.jobs.listed(state, ctx=self._synced, limit=limit)

    @reads
    def spend(self, *, by: GroupedBy = "purpose", days: int | None = None) -> SpendReport:
        """Model cost of the space: calls, tokens, list prices and limits, of the last days or in total."""
        return engine.meter.spend(ctx=self._synced, by=by, days=days)

    @needs("tools")
    def record_event(self, level: str, content: str, *, service: str | None = None) -> Event:
        """Records an event of a service, or in general."""
        return engine.events.record_event(
            level, content, ctx=self._synced, service=service, session=self._session
        )

    @reads
    def events(self, **listing: Unpack[EventFields]) -> list[Event]:
        """Events, latest first.

        `listing` is level, service, session, since, before, limit, offset and after.
        """
        return engine.events.events(ctx=self._synced, **listing)

    @reads
    def events_by_day(self, since: datetime, *, service: str | None = None) -> list[tuple[str, str, int]]:
        """How many events of each level there were on each day (UTC) from `since` on."""
        with self._synced.read() as tx:
            return tx.events.by_day(since, service)

    @needs("tools")
    def record_attempt(
        self, action: str, service: str, succeeded: bool, *, content: str | None = None
    ) -> Attempt:
        """Records an action on a service, so that it is not taken too often."""
        return engine.events.record_attempt(
            action, service, succeeded, ctx=self._synced, content=content, session=self._session
        )

    @reads
    def cooldowns(self, *, service: str | None = None) -> list[CooldownStatus]:
        """Recent actions on services, and when the next one is allowed."""
        return engine.events.cooldowns(ctx=self._synced, service=service)

    @needs("admin")
    def access_log(self, **wanted: Unpack[AccessFields]) -> list[Access]:
        """Who read what, newest first, where the space records it.

        `wanted` is memory (an id that was shown), token, door, since, and limit (default: 100).
        """
        return engine.access_log.listed(ctx=self._ctx, **wanted)

    # ------------------------------------------------------------------------------------- memories as files

    @reads
    @shows
    def files(self) -> list[FileEntry]:
        """The memories as files, by path."""
        from holdfast.files import verbs

        return verbs.listed(ctx=self._in_files)

    @reads
    @shows
    def file(self, path: str) -> FileText:
        """One file: its whole text, and the memory behind it."""
        from holdfast.files import verbs

        return verbs.read(path, ctx=self._in_files)

    @reads
    @shows
    def file_index(self) -> str:
        """The index of all files, as MEMORY.md has it."""
        from holdfast.files import verbs

        return verbs.index(ctx=self._in_files)

    @needs("tools")
    def write_file(
        self,
        path: str,
        content: str,
        *,
        name: str | None = None,
        description: str | None = None,
        type: str | None = None,  # noqa: A002  # the word that files have for it
        expect: str | None = None,
    ) -> FileChange:
        """Creates or overwrites a file with a heading; what is not given stays as it was."""
        from holdfast.files import verbs

        return verbs.write(
            path, content, ctx=self._in_files, source=self._source(), name=name, description=description,
            category=type, expect=expect,
            project=None if self.profile.holds_everywhere(type) else self._project,
        )  # fmt: skip

    @needs("tools")
    def put_file(self, path: str, text: str, *, new: bool = False, expect: str | None = None) -> FileChange:
        """Makes a file say exactly `text`; `expect` is the sha256 of what the caller last saw in it."""
        from holdfast.files import verbs

        return verbs.put(
            path,
            text,
            ctx=self._in_files,
            source=self._source(),
            new=new,
            expect=expect,
            project=self._project,
        )

    @needs("tools")
    def rename_file(self, old: str, new: str) -> list[tuple[str, str]]:
        """Moves a file, or a folder with all in it; answers what is where now."""
        from holdfast.files import verbs

        return verbs.rename(old, new, ctx=self._in_files, source=self._source())

    @needs("tools")
    def delete_file(self, path: str) -> list[str]:
        """Deletes a file, or a folder with all in it; what they said is forgotten softly."""
        from holdfast.files import verbs

        return verbs.delete(path, ctx=self._in_files, source=self._source())

    @needs("read")
    def directory(self) -> DirectoryState | None:
        """How the directory that this space is bound to stands; none without one."""
        return wiring.directories(self._ctx.store).state(self._ctx)

    @needs("tools")
    def sync_directory(self, *, accept_empty: bool = False, write_back: bool = False) -> SyncReport:
        """Brings the bound directory and this space to agree."""
        found = wiring.directories(self._ctx.store)
        return found.sync(self._ctx, accept_empty=accept_empty, write_back=write_back)

    @needs("admin")
    def bind_directory(self, path: str, *, layout: str | None = None) -> SyncReport:
        """Binds this space to a directory of this machine, which is the same memory from then on."""
        return wiring.directories(self._ctx.store).bind(self._ctx, path, layout)

    @needs("admin")
    def unbind_directory(self) -> str:
        """Lets go of the directory; its files stay. Answers its path."""
        return wiring.directories(self._ctx.store).unbind(self._ctx)
