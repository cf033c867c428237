"""`Memories`: one object per space, every verb a method. What programs embed and every door calls."""
# budget: a list of all verbs, each of which only hands over to its own module.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from holdfast import wiring
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.domain.grant import EVERYTHING, Grant, needs
from holdfast.domain.health import Finding
from holdfast.domain.history import Story
from holdfast.domain.memory import Draft, Link, LinkKind, Memory, Message, Origin, Session, Source
from holdfast.domain.operations import Attempt, Event, Standing
from holdfast.domain.outcomes import Outcome, Waiting
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter, Group, Moment, Order, Place
from holdfast.domain.spend import GroupedBy, SpendReport
from holdfast.engine import (
    archive,
    dialogues,
    embedding,
    imports,
    jobs,
    looking,
    metering,
    models_in_use,
    reading,
    reading_queue,
    sessions,
    tend,
    transcripts,
    undo_session,
)
from holdfast.engine import attention as attending
from holdfast.engine import audit as audits
from holdfast.engine import brief as briefs
from holdfast.engine import cache_report as caches
from holdfast.engine import capture as capturing
from holdfast.engine import context as contexts
from holdfast.engine import cooldowns as cooling
from holdfast.engine import delta as deltas
from holdfast.engine import erase as erasing
from holdfast.engine import events as happenings
from holdfast.engine import find as finding
from holdfast.engine import forget as forgetting
from holdfast.engine import inbox as inboxes
from holdfast.engine import link as linking
from holdfast.engine import recall as recalling
from holdfast.engine import remember as remembering
from holdfast.engine import review as reviewing
from holdfast.engine import revise as revising
from holdfast.engine import session_story as session_stories
from holdfast.engine import stats as figuring
from holdfast.engine import undo as undoing
from holdfast.engine.desk import Desk
from holdfast.engine.embedding_progress import EmbeddingProgress
from holdfast.engine.ports import Clock, Embedder, Job, JobState, Judge, NewId, Store
from holdfast.engine.readers import Readers
from holdfast.engine.sessions import Conversation, Said
from holdfast.engine.spaces import Overview, no_space, overview
from holdfast.engine.tend import Preview
from holdfast.engine.undo_session import Undone
from holdfast.errors import HoldfastError
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.files.bound import DirectoryState
    from holdfast.files.taking import SyncReport
    from holdfast.files.verbs import FileChange, FileEntry, FileText


class Memories:
    """The memories of one space.

    Calls come from `origin`, the operator unless said otherwise, and belong to `session` where one is given.
    What they may do, `grant` says: everything, unless a door let somebody in with less.
    Close it, or use it as a context manager, to let go of the database.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        origin: Origin = "operator",
        session: str | None = None,
        project: str | None = None,
        grant: Grant = EVERYTHING,
    ) -> None:
        self._here = desk
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
                readers=wiring.open_readers(settings),
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
        readers: Readers | None = None,
    ) -> "Memories":
        """The memories of `space` in an open store; without an embedder, recall goes by words.

        Without `readers` no language model is asked: capture goes by rules.
        """
        desk = wiring.desk_for(
            space,
            store,
            clock=clock,
            ids=ids,
            judge=judge,
            embedder=embedder,
            budget=budget,
            readers=readers,
        )
        return cls(desk)

    def speaking_as(
        self, origin: Origin, *, session: str | None = None, project: str | None = None
    ) -> "Memories":
        """The same memories for another speaker: an assistant in a session, a tool, an import.

        Where no project is named, `project` is meant; what holds everywhere is still kept for all.
        """
        return Memories(self._here, origin=origin, session=session, project=project, grant=self._grant)

    def granted(self, grant: Grant) -> "Memories":
        """The same memories for whoever holds `grant`: each verb asks for its scope.

        Raises: NotFound, for a space that the grant does not reach; it looks like one that is not there.
        """
        if not grant.reaches(self.space):
            raise no_space(self.space)
        return Memories(
            self._here, origin=self._origin, session=self._session, project=self._project, grant=grant
        )

    @property
    def _desk(self) -> Desk:
        """The desk, once what was done by hand in a bound directory is taken over."""
        if self._here.arrive is not None:
            self._here.arrive(self._here)
        return self._here

    @property
    def space(self) -> str:
        return self._here.space

    @property
    def origin(self) -> Origin:
        """Whose word a call counts as."""
        return self._origin

    @property
    def profile(self) -> Profile:
        return self._here.profile

    @property
    def budget(self) -> int:
        """The tokens of a brief, unless a call says otherwise."""
        return self._here.budget if self._here.budget is not None else self.profile.block.budget

    @property
    @needs("admin")
    def store(self) -> Store:
        return self._here.store

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
    ) -> Outcome:
        """Keeps what `content` says, as a new memory or as more or less trust in a known one."""
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
        return remembering.remember(draft, desk=self._desk, key=key, anyway=anyway)

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

    @needs("write")
    def forget(self, memory_id: str, *, expect_version: int | None = None) -> forgetting.Forgotten:
        """Takes a memory out of sight, softly or for good as the profile says; it does not come back."""
        return forgetting.forget(
            memory_id, desk=self._desk, source=self._source(), expect_version=expect_version
        )

    @needs("write")
    def restore(self, memory_id: str) -> Memory:
        """Brings a forgotten memory back."""
        return forgetting.restore(memory_id, desk=self._desk, source=self._source())

    @needs("read")
    def erasure(self, *memory_ids: str) -> erasing.Erasure:
        """What `erase` would remove."""
        return erasing.erasure(memory_ids, desk=self._desk)

    @needs("admin")
    def erase(self, *memory_ids: str) -> erasing.Erasure:
        """Removes memories and every trace of them, for good."""
        return erasing.erase(memory_ids, desk=self._desk, source=self._source())

    @needs("write")
    def link(self, from_id: str, to_id: str, kind: LinkKind = "related") -> bool:
        """Links two memories; false when they were linked so already."""
        return linking.link(from_id, to_id, kind, desk=self._desk, source=self._source())

    @needs("write")
    def unlink(self, from_id: str, to_id: str, kind: LinkKind | None = None) -> int:
        """Removes links from one memory to another."""
        return linking.unlink(from_id, to_id, kind, desk=self._desk, source=self._source())

    @needs("read")
    def find(
        self,
        where: Filter | None = None,
        *,
        order: Order = "category",
        group: Group | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: Place | None = None,
        as_of: datetime | None = None,
    ) -> finding.Page:
        """The memories that `where` admits, now or as they were believed at a past moment."""
        return finding.find(
            where or Filter(), desk=self._desk, order=order, group=group, limit=limit, offset=offset,
            after=after, as_of=as_of,
        )  # fmt: skip

    @needs("read")
    def subjects(self, *, limit: int = 200) -> list[tuple[str | None, int]]:
        """What memories are about, and how many of each; none stands for general knowledge."""
        return finding.subjects(desk=self._desk, limit=limit)

    @needs("read")
    def last_change(self) -> int:
        """The number of the newest change in this space: the same number, the same memories."""
        return finding.last_change(desk=self._desk)

    @needs("read")
    def linked(self, memory_id: str) -> list[tuple[Link, Memory]]:
        """The links of a memory with what stands at their other ends."""
        return finding.linked(memory_id, desk=self._desk)

    @needs("read")
    def around(self, message_id: str, *, reach: int = 2) -> list[Message]:
        """A message between those that were said before and after it."""
        return sessions.around(message_id, desk=self._desk, reach=reach)

    @needs("write")
    def undo(self, *memory_ids: str, since: int) -> list[Memory]:
        """Takes back what this speaker did to memories after the change numbered `since`."""
        return undoing.undo(memory_ids, since=since, desk=self._desk, source=self._source())

    @needs("read")
    def show(self, memory_id: str) -> finding.Details:
        """One memory with its wordings and links."""
        return finding.show(memory_id, desk=self._desk)

    @needs("read")
    def why(self, memory_id: str) -> Story:
        """Where a memory came from, how its confidence came about, and which prompts it went into."""
        return finding.why(memory_id, desk=self._desk)

    @needs("read")
    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        threshold: float | None = None,
        where: Filter | None = None,
        project: str | None = None,
        as_of: datetime | None = None,
        asked_at: datetime | None = None,
        messages: bool = True,
    ) -> recalling.Recall:
        """What answers a question, remembered or said; of `project` and of none unless `where` says more.

        Days like "last week" are counted from `asked_at`, now if not said.
        """
        return recalling.recall(
            query,
            desk=self._desk,
            where=where,
            project=project or self._project,
            limit=limit,
            threshold=threshold,
            as_of=as_of,
            asked_at=asked_at,
            session=self._session,
            messages=messages,
        )

    @needs("read")
    def look(
        self,
        query: str,
        *,
        limit: int = 5,
        project: str | None = None,
        as_of: datetime | None = None,
        budget: int = contexts.BUDGET,
    ) -> looking.Look:
        """What `recall` and `context` would bring up and what they nearly did; no access, no receipt.

        Of all projects, unless one is named.
        """
        return looking.look(
            query, desk=self._desk, project=project or self._project, limit=limit, as_of=as_of, budget=budget
        )

    @needs("read")
    def stats(self) -> figuring.Stats:
        """The space in figures: growth, kinds, belief, use, capture and jobs."""
        return figuring.stats(desk=self._desk)

    @needs("read")
    def models(self) -> models_in_use.Models:
        """The models that the space works with, by name."""
        return models_in_use.models(desk=self._desk)

    @needs("admin")
    def try_models(self) -> list[models_in_use.Trial]:
        """Asks the embedder and each language model something short, and tells which answered."""
        found = models_in_use.trials(desk=self._desk)
        embedder = self._here.embedder
        if embedder is None:
            return found
        trial = models_in_use.Trial(embedder.name, "meaning", wiring.try_embedder(embedder))
        return [trial, *found]

    @needs("read")
    def brief(
        self, *, project: str | None = None, subject: str | None = None, budget: int | None = None
    ) -> briefs.Brief:
        """The block for a prompt, within its budget; in a session always the same one."""
        return briefs.brief(
            desk=self._desk,
            session=self._session,
            project=project or self._project,
            subject=subject,
            budget=budget,
        )

    @needs("read")
    def context(
        self,
        said: Sequence[Said | str],
        *,
        project: str | None = None,
        budget: int = contexts.BUDGET,
    ) -> contexts.Context:
        """What is relevant to the last messages and new to this session, as a block for a prompt."""
        return contexts.context(
            said, desk=self._desk, session=self._session, project=project or self._project, budget=budget
        )

    @needs("read")
    def delta(self, *, budget: int = deltas.BUDGET) -> str:
        """What others added since this session's brief, once; empty when there is nothing."""
        if self._session is None:
            return ""
        return deltas.delta(self._session, desk=self._desk, project=self._project, budget=budget)

    @needs("write")
    def tend(self, report: Callable[[EmbeddingProgress], None] | None = None) -> tend.Tended:
        """The upkeep: lets fade what nobody confirmed, and makes vectors; `report` hears how far they are."""
        return tend.tend(desk=self._desk, report=report)

    @needs("read")
    def tend_preview(self) -> Preview:
        """What the upkeep would let fade, archive and propose now; nothing is changed."""
        return tend.preview(desk=self._desk)

    @needs("read")
    def audit(self, seen: Callable[[int, int], None] = lambda done, total: None) -> audits.Audit:
        """What is junk or may become it, with ids and what to do; `seen` hears how far it is."""
        return audits.audit(desk=self._desk, seen=seen)

    @needs("write")
    def embed(self, limit: int) -> int:
        """Gives up to `limit` texts that have none their vectors; answers how many.

        Raises: Unavailable, when the embedder fails.
        """
        return embedding.embed_missing(self._desk, limit=limit, changing=limit)

    @needs("read")
    def inbox(self) -> list[inboxes.Item]:
        """What waits for a person, oldest first."""
        return inboxes.inbox(desk=self._desk)

    @needs("admin")
    def approve(self, *memory_ids: str) -> list[Memory]:
        """Lets waiting memories in."""
        return inboxes.approve(memory_ids, desk=self._desk, source=self._source())

    @needs("admin")
    def reject(self, *memory_ids: str) -> list[Memory]:
        """Turns waiting memories down for good."""
        return inboxes.reject(memory_ids, desk=self._desk, source=self._source())

    @needs("write")
    def undo_session(self, session_id: str) -> undo_session.Undone:
        """Takes back what one session wrote."""
        return undo_session.undo_session(session_id, desk=self._desk, source=self._source())

    @needs("read")
    def undo_session_preview(self, session_id: str) -> Undone:
        """What `undo_session` would take back, and what would stay; nothing is changed."""
        return undo_session.undoing(session_id, desk=self._desk)

    @needs("read")
    def review(self, *, limit: int = 20, after: Place | None = None) -> reviewing.Pile:
        """What waits for a person, oldest first, with its origin and the known ones beside it."""
        return reviewing.review(desk=self._desk, limit=limit, after=after)

    @needs("read")
    def stakes(self, *memory_ids: str) -> list[reviewing.Waiter]:
        """What a decision about these waiting memories would change."""
        return reviewing.stakes(memory_ids, desk=self._desk)

    @needs("read")
    def attention(self) -> list[Finding]:
        """What in this space needs a look: work that failed or rests, files that ask."""
        found = attending.attention(desk=self._desk)
        state = self.directory()
        if state is not None and state.asks:
            found.insert(0, Finding("problem", "the files of this space wait for you", state.asks))
        return found

    @needs("read")
    def sessions(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: Moment | None = None,
        upkeep: bool = True,
    ) -> list[Session]:
        """The sessions, the latest first; `after` is where the last page ended.

        With `upkeep` also those in which `tend` proposed to make two memories one.
        """
        return sessions.listed(desk=self._desk, limit=limit, offset=offset, after=after, upkeep=upkeep)

    @needs("read")
    def session_tallies(self, *session_ids: str) -> dict[str, tuple[int, int]]:
        """How many messages each session has, and how many memories came from it."""
        return sessions.tallies(session_ids, desk=self._desk)

    @needs("read")
    def session_story(
        self, session_id: str, *, first: int = 1, limit: int = 100
    ) -> session_stories.SessionStory:
        """What was said in a session from message `first` on, what it was given, and what it wrote."""
        return session_stories.session_story(session_id, desk=self._desk, first=first, limit=limit)

    @needs("read")
    def session(self, session_id: str) -> Conversation:
        """One session and what was said in it."""
        return sessions.conversation(session_id, desk=self._desk)

    @needs("read")
    def cache_report(self, *session_ids: str, limit: int = 20) -> caches.CacheReport:
        """Whether sessions kept their brief, byte for byte, and what a prompt cache could keep of it.

        These sessions, or the latest ones.
        """
        return caches.cache_report(session_ids, desk=self._desk, limit=limit)

    @needs("read")
    def message(self, message_id: str) -> Message:
        """One message of a session."""
        return sessions.message(message_id, desk=self._desk)

    @needs("write")
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

    @needs("write")
    def close_session(
        self, session_id: str, *, exit_code: int | None = None, usage: Mapping[str, Any] | None = None
    ) -> Session:
        """Ends a session, with what it cost as far as that is known."""
        return sessions.close_session(session_id, desk=self._desk, exit_code=exit_code, usage=usage)

    @needs("write")
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

    @needs("write")
    def say_all(self, session_id: str, said: Sequence[Said]) -> list[Message]:
        """Keeps messages of a session in one step and answers those that are new."""
        return sessions.say_all(session_id, said, desk=self._desk)

    @needs("write")
    def take_session(
        self,
        session_id: str,
        said: Sequence[Said],
        *,
        name: str | None = None,
        client: str | None = None,
        directory: str | None = None,
        project: str | None = None,
        started_at: datetime | None = None,
        ended_at: datetime | None = None,
        dry_run: bool = False,
    ) -> int:
        """Keeps a session of the past and what was said in it; answers how many messages were new.

        A dry run answers how many would be, and keeps none.
        """
        return transcripts.take_session(
            session_id,
            said,
            desk=self._desk,
            name=name,
            client=client,
            directory=directory,
            project=project,
            started_at=started_at,
            ended_at=ended_at,
            dry_run=dry_run,
        )

    @needs("proxy")
    def attend(
        self,
        dialogue: Dialogue,
        *,
        quiet: capturing.Quiet = lambda project, session: None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> dialogues.Attended:
        """What belongs into the prompt of a client that knows of no memory: the same at every turn."""
        return dialogues.attend(dialogue, desk=self._desk, quiet=quiet, wanted=wanted)

    @needs("proxy")
    def overhear(
        self,
        dialogue: Dialogue,
        *,
        session_id: str | None = None,
        answer: Turn | None = None,
        quiet: capturing.Quiet = lambda project, session: None,
    ) -> list[Message]:
        """Keeps what is new of such a conversation, and answers it."""
        return dialogues.overhear(
            dialogue, desk=self._desk, session_id=session_id, answer=answer, quiet=quiet
        )

    @needs("read")
    def jobs(self, state: JobState = "queued", *, limit: int = 100) -> list[Job]:
        """The jobs in one state, oldest first."""
        return jobs.listed(state, desk=self._desk, limit=limit)

    @needs("write")
    def queue(self, kind: str, payload: Mapping[str, Any], *, job_id: str | None = None) -> bool:
        """Leaves work for the background; false when a job of this id is known."""
        return jobs.enqueue(kind, payload, desk=self._desk, job_id=job_id)

    @needs("write")
    def capture(
        self, session_id: str | None = None, *, quiet: capturing.Quiet = lambda project, session: None
    ) -> list[capturing.Captured]:
        """Reads now what waits to be read, of one session or of all, and remembers what is worth keeping."""
        return capturing.capture(desk=self._desk, session_id=session_id, quiet=quiet)

    @needs("write")
    def capture_due(
        self, *, quiet: capturing.Quiet = lambda project, session: None
    ) -> capturing.Captured | None:
        """Reads the next session whose time has come; none when there is none."""
        return capturing.capture_due(desk=self._desk, quiet=quiet)

    @needs("write")
    def read_due(self, *, quiet: capturing.Quiet = lambda project, session: None) -> reading.Reading | None:
        """Reads with a model the next piece that the rules have read; none when there is none, or no model."""
        return reading.read_due(desk=self._desk, quiet=quiet)

    @needs("write")
    def read_again(self, *, drop: bool = False) -> int:
        """Lets a model try once more what it could not read, or leaves it to the rules; answers how many."""
        return jobs.again(reading_queue.KIND, desk=self._desk, drop=drop)

    @needs("read")
    def spend(self, *, by: GroupedBy = "purpose", days: int | None = None) -> SpendReport:
        """What models cost the space, of the last days or ever, by one label, and what they may cost."""
        return metering.spend(desk=self._desk, by=by, days=days)

    @needs("write")
    def take_job(self, *kinds: str) -> Job | None:
        """The next job of these kinds, the caller's for a while; none when there is none."""
        return jobs.take(kinds, desk=self._desk)

    @needs("write")
    def finish_job(self, job: Job) -> None:
        """The job was done."""
        jobs.finish(job, desk=self._desk)

    @needs("write")
    def fail_job(self, job: Job, error: str) -> None:
        """The job could not be done now; it is tried again, a few times."""
        jobs.fail(job, error, desk=self._desk)

    @needs("write")
    def record_event(self, level: str, content: str, *, service: str | None = None) -> Event:
        """Keeps what happened to a service, or in general."""
        return happenings.record_event(
            level, content, desk=self._desk, service=service, session=self._session
        )

    @needs("read")
    def events(
        self,
        *,
        level: str | None = None,
        service: str | None = None,
        session: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: Moment | None = None,
    ) -> list[Event]:
        """What happened, the latest first; `after` is where the last page ended."""
        return happenings.events(
            desk=self._desk, level=level, service=service, session=session, limit=limit, offset=offset,
            after=after,
        )  # fmt: skip

    @needs("write")
    def record_attempt(
        self, action: str, service: str, succeeded: bool, *, content: str | None = None
    ) -> Attempt:
        """Keeps that an action was taken on a service, so that it is not taken too often."""
        return cooling.record_attempt(
            action, service, succeeded, desk=self._desk, content=content, session=self._session
        )

    @needs("read")
    def cooldowns(self, *, service: str | None = None) -> list[Standing]:
        """The actions inside their window, by service, and whether another one is allowed."""
        return cooling.cooldowns(desk=self._desk, service=service)

    @needs("read")
    def files(self) -> "list[FileEntry]":
        """The memories as files, by path."""
        from holdfast.files import verbs

        return verbs.listed(desk=self._desk)

    @needs("read")
    def file(self, path: str) -> "FileText":
        """One file: its whole text, and the memory behind it."""
        from holdfast.files import verbs

        return verbs.read(path, desk=self._desk)

    @needs("read")
    def file_index(self) -> str:
        """The index of all files, as MEMORY.md has it."""
        from holdfast.files import verbs

        return verbs.index(desk=self._desk)

    @needs("write")
    def write_file(
        self,
        path: str,
        content: str,
        *,
        name: str | None = None,
        description: str | None = None,
        type: str | None = None,  # noqa: A002  # the word that files have for it
        expect: str | None = None,
    ) -> "FileChange":
        """Creates or overwrites a file with a heading; what is not given stays as it was."""
        from holdfast.files import verbs

        return verbs.write(
            path, content, desk=self._desk, source=self._source(), name=name, description=description,
            category=type, expect=expect,
            project=None if self.profile.holds_everywhere(type) else self._project,
        )  # fmt: skip

    @needs("write")
    def put_file(
        self, path: str, text: str, *, new: bool = False, expect: str | None = None
    ) -> "FileChange":
        """Makes a file say exactly `text`; `expect` is the sha256 of what the caller last saw in it."""
        from holdfast.files import verbs

        return verbs.put(
            path, text, desk=self._desk, source=self._source(), new=new, expect=expect, project=self._project
        )

    @needs("write")
    def rename_file(self, old: str, new: str) -> list[tuple[str, str]]:
        """Moves a file, or a folder with all in it; answers what is where now."""
        from holdfast.files import verbs

        return verbs.rename(old, new, desk=self._desk, source=self._source())

    @needs("write")
    def delete_file(self, path: str) -> list[str]:
        """Deletes a file, or a folder with all in it; what they said is forgotten softly."""
        from holdfast.files import verbs

        return verbs.delete(path, desk=self._desk, source=self._source())

    @needs("read")
    def directory(self) -> "DirectoryState | None":
        """How the directory that this space is bound to stands; none without one."""
        return wiring.directories(self._here.store).state(self._here)

    @needs("write")
    def sync_directory(self, *, accept_empty: bool = False, write_back: bool = False) -> "SyncReport":
        """Brings the bound directory and this space to agree."""
        found = wiring.directories(self._here.store)
        return found.sync(self._here, accept_empty=accept_empty, write_back=write_back)

    @needs("admin")
    def bind_directory(self, path: str, *, layout: str | None = None) -> "SyncReport":
        """Binds this space to a directory of this machine, which is the same memory from then on."""
        return wiring.directories(self._here.store).bind(self._here, path, layout)

    @needs("admin")
    def unbind_directory(self) -> str:
        """Lets go of the directory; its files stay. Answers its path."""
        return wiring.directories(self._here.store).unbind(self._here)

    @needs("read")
    def overview(self) -> Overview:
        """The space and how much is in it."""
        return overview(self.space, store=self._desk.store)

    @needs("admin")
    def export(self) -> Iterator[str]:
        """The whole space as lines of an archive."""
        with self._desk.store.read(self.space) as tx:
            yield from archive.lines(tx)

    @needs("admin")
    def import_archive(self, stream: Iterable[str], *, dry_run: bool = False) -> list[imports.Imported]:
        """Takes archives of spaces into this one, field by field; a dry run only says what would come in."""
        parts = list(archive.read(stream))
        return [imports.restore_rows(part, desk=self._desk, dry_run=dry_run) for part in parts]

    @needs("write")
    def import_drafts(
        self,
        drafts: Iterable[tuple[int, Draft]],
        *,
        review: bool = False,
        dry_run: bool = False,
        report: Callable[[int], None] = lambda done: None,
    ) -> list[imports.Told]:
        """Remembers drafts from elsewhere, each with its line number; `review` sends them to the inbox.

        A dry run says what would become of each, and changes nothing; `report` hears how many are done.
        """
        return imports.import_drafts(
            drafts, desk=self._desk, review=review, dry_run=dry_run, report=report
        )

    def close(self) -> None:
        """Lets go of the database."""
        self._here.store.close()

    def __enter__(self) -> "Memories":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _source(self, message: str | None = None) -> Source:
        return Source(origin=self._origin, session=self._session, message=message)
