"""What was said: sessions, their messages, and what is taken from them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.access import needs
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.domain.memory import Message, Session
from holdfast.domain.query import TimeCursor
from holdfast.engine import cache_report as caches
from holdfast.engine import capture as capturing
from holdfast.engine import (
    dialogues,
    jobs,
    reading,
    reading_queue,
    sessions,
    transcripts,
)
from holdfast.engine import session_story as session_stories
from holdfast.engine.ports import TimeUp
from holdfast.engine.sessions import Conversation, NewMessage
from holdfast.engine.verbs.speaking import Speaking


class Hearing(Speaking):
    """What was said: sessions, their messages, and what is taken from them."""

    @needs("read")
    def sessions(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        after: TimeCursor | None = None,
        upkeep: bool = True,
    ) -> list[Session]:
        """The sessions, the latest first; `after` is where the last page ended.

        With `upkeep` also those in which `tend` proposed to make two memories one.
        """
        return sessions.listed(ctx=self._synced, limit=limit, offset=offset, after=after, upkeep=upkeep)

    @needs("read")
    def session_tallies(self, *session_ids: str) -> dict[str, tuple[int, int]]:
        """How many messages each session has, and how many memories came from it."""
        return sessions.tallies(session_ids, ctx=self._synced)

    @needs("read")
    def session_story(
        self, session_id: str, *, first: int = 1, limit: int = 100
    ) -> session_stories.SessionStory:
        """What was said in a session from message `first` on, what it was given, and what it wrote."""
        return session_stories.session_story(session_id, ctx=self._synced, first=first, limit=limit)

    @needs("read")
    def session(self, session_id: str) -> Conversation:
        """One session and what was said in it."""
        return sessions.conversation(session_id, ctx=self._synced)

    @needs("read")
    def cache_report(self, *session_ids: str, limit: int = 20) -> caches.CacheReport:
        """Whether sessions kept their brief, byte for byte, and what a prompt cache could keep of it.

        These sessions, or the latest ones.
        """
        return caches.cache_report(session_ids, ctx=self._synced, limit=limit)

    @needs("read")
    def message(self, message_id: str) -> Message:
        """One message of a session."""
        return sessions.message(message_id, ctx=self._synced)

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
            ctx=self._synced,
            name=name,
            client=client,
            directory=directory,
            project=project,
            tier=tier,
        )

    @needs("write")
    def close_session(
        self,
        session_id: str,
        *,
        exit_code: int | None = None,
        usage: Mapping[str, Any] | None = None,
        ended_at: datetime | None = None,
    ) -> Session:
        """Ends a session, now or when it did end, with what it cost as far as that is known."""
        return sessions.close_session(
            session_id, ctx=self._synced, exit_code=exit_code, usage=usage, ended_at=ended_at
        )

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
            ctx=self._synced,
            speaker=speaker,
            message_id=message_id,
            said_at=said_at,
        )

    @needs("write")
    def say_all(self, session_id: str, said: Sequence[NewMessage]) -> list[Message]:
        """Keeps messages of a session in one step and answers those that are new.

        Raises: Conflict, where something else was said under one of the ids; Invalid, for an unknown role.
        """
        return sessions.say_all(session_id, said, ctx=self._synced, own_ids=True)

    @needs("write")
    def take_session(
        self,
        session_id: str,
        said: Sequence[NewMessage],
        *,
        name: str | None = None,
        client: str | None = None,
        directory: str | None = None,
        project: str | None = None,
        started_at: datetime | None = None,
        ended_at: datetime | None = None,
        notes: transcripts.SessionNotes | None = None,
        time_up: TimeUp | None = None,
        dry_run: bool = False,
    ) -> int:
        """Keeps a session of the past and what was said in it; answers how many messages were new.

        An id that comes with another text than before is that of two messages: both are kept, which `notes`
        says, or else the log. Ended by `time_up`, `notes` say so. A dry run answers how many would be new,
        and keeps none.
        """
        return transcripts.take_session(
            session_id,
            said,
            ctx=self._synced,
            name=name,
            client=client,
            directory=directory,
            project=project,
            started_at=started_at,
            ended_at=ended_at,
            notes=notes,
            time_up=time_up,
            dry_run=dry_run,
        )

    @needs("proxy")
    def proxy_context(
        self,
        dialogue: Dialogue,
        *,
        quiet: capturing.Quiet = lambda project, session: None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> dialogues.Attended:
        """What belongs into the prompt of a client that knows of no memory: the same at every turn."""
        return dialogues.proxy_context(dialogue, ctx=self._synced, quiet=quiet, wanted=wanted)

    @needs("proxy")
    def proxy_record(
        self,
        dialogue: Dialogue,
        *,
        session_id: str | None = None,
        answer: Turn | None = None,
        quiet: capturing.Quiet = lambda project, session: None,
    ) -> list[Message]:
        """Keeps what is new of such a conversation, and answers it."""
        return dialogues.proxy_record(
            dialogue, ctx=self._synced, session_id=session_id, answer=answer, quiet=quiet
        )

    @needs("write")
    def capture(
        self, session_id: str | None = None, *, quiet: capturing.Quiet = lambda project, session: None
    ) -> list[capturing.Captured]:
        """Reads now what waits to be read, of one session or of all, and remembers what is worth keeping."""
        return capturing.capture(ctx=self._synced, session_id=session_id, quiet=quiet)

    @needs("write")
    def capture_due(
        self,
        *,
        quiet: capturing.Quiet = lambda project, session: None,
        time_up: TimeUp = lambda: False,
    ) -> capturing.Captured | None:
        """Reads the next session whose time has come, until the time is up; none when there is none."""
        return capturing.capture_due(ctx=self._synced, quiet=quiet, time_up=time_up)

    @needs("write")
    def read_due(
        self, session_id: str | None = None, *, quiet: capturing.Quiet = lambda project, session: None
    ) -> reading.ChunkResult | None:
        """Reads with a model the next piece that the rules have read, of one session or of all.

        None without a piece or a model.
        """
        return reading.read_due(ctx=self._synced, session_id=session_id, quiet=quiet)

    @needs("write")
    def read_again(self, *, drop: bool = False) -> int:
        """Lets a model try once more what it could not read, or leaves it to the rules; answers how many."""
        return jobs.again(reading_queue.KIND, ctx=self._synced, drop=drop)
