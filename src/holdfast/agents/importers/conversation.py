"""What a transcript holds: sessions of an agent, and what was said in them by a person and by the agent.

Knows nothing of any client's format, and nothing of stores: what comes of a conversation is not said here.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

Role = Literal["user", "assistant"]
#: Characters of one message. What is longer was pasted, and no space keeps it.
MOST_TEXT: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """One thing that a person typed or an agent answered. Its id is the same whenever it is read."""

    id: str
    role: Role
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSession:
    """A session of an agent, as far as it was read."""

    session: str  # the host's id
    client: str
    directory: str | None = None
    project: str | None = None
    name: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None  # of the last line so far; the session may go on
    messages: tuple[TranscriptMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPart:
    """What stood in a transcript from an offset on, and where to go on.

    `skipped` counts the lines that are no source, by their kind; `broken` the ones that can't be read. A last
    line that is still being written is neither: `next_offset` stands before it. `unfinished`: there is more.
    """

    conversations: tuple[TranscriptSession, ...]
    next_offset: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    broken: int = 0
    unfinished: bool = False

    @property
    def messages(self) -> int:
        return sum(len(one.messages) for one in self.conversations)


class Gathering:
    """Puts lines together into conversations, in the order of their first lines."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._found: dict[str, TranscriptSession] = {}
        self._said: dict[str, dict[str, TranscriptMessage]] = {}
        self.skipped: Counter[str] = Counter()
        self.broken = 0

    def note(
        self,
        session: str,
        *,
        directory: str | None = None,
        project: str | None = None,
        name: str | None = None,
        at: datetime | None = None,
    ) -> None:
        """What a line says of its session; the first directory counts, the last name, the widest times."""
        known = self._found.get(session) or TranscriptSession(session=session, client=self._client)
        times = [moment for moment in (known.started_at, known.ended_at, at) if moment is not None]
        self._found[session] = replace(
            known,
            directory=known.directory or directory,
            project=known.project if known.directory else known.project or project,
            name=name or known.name,
            started_at=min(times, default=None),
            ended_at=max(times, default=None),
        )

    def say(self, session: str, spoken: TranscriptMessage) -> None:
        """Adds what was said; the same id again replaces it in its place."""
        if len(spoken.text) > MOST_TEXT:
            self.skip("too long")
            return
        self._said.setdefault(session, {})[spoken.id] = spoken

    def skip(self, kind: str) -> None:
        self.skipped[kind] += 1

    def reading(self, next_offset: int, *, unfinished: bool = False) -> TranscriptPart:
        whole = (
            replace(one, messages=tuple(self._said.get(session, {}).values()))
            for session, one in self._found.items()
        )
        return TranscriptPart(
            conversations=tuple(whole),
            next_offset=next_offset,
            skipped=dict(self.skipped.most_common()),
            broken=self.broken,
            unfinished=unfinished,
        )
