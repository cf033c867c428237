"""What every verb works with: one space, its rules, and the outside that was wired in.

With the language models of a space, what they are told, and what they may cost. None of them is needed.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.domain.budget import Estimate
from holdfast.domain.memory import Draft, Memory, Session
from holdfast.domain.profile import Profile
from holdfast.domain.spend import Caps, Price, Purpose
from holdfast.engine.ports import (
    BuiltinModel,
    Clock,
    Embedder,
    Judge,
    LanguageModel,
    NewId,
    Store,
    Transaction,
)
from holdfast.errors import Conflict, NotFound, Outdated, Unavailable

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What a model is told before each question; the same every time, so that caches hold it."""

    gate: str
    extract: str  # names the categories by {{categories}}
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModels:
    """Who is asked for what; where nobody is, our own models decide."""

    gate: LanguageModel | None = None
    extract: LanguageModel | None = None
    judge: LanguageModel | None = None
    instructions: Instructions
    caps: Caps
    cautious: Price  # what limits take a model for whose price is not known
    resting: dict[str, datetime] = field(default_factory=dict)  # until when nobody is asked for a purpose

    @property
    def by_purpose(self) -> dict[Purpose, LanguageModel | None]:
        return {"gate": self.gate, "extract": self.extract, "judge": self.judge}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceContext:
    """One space, ready to work in."""

    space: str
    profile: Profile
    store: Store
    judge: Judge
    builtin_model: BuiltinModel
    clock: Clock
    new_id: NewId
    estimate: Estimate
    embedder: Embedder | None = None  # none: recall by words
    open_embedder: Callable[[str], Embedder | None] | None = None  # for the vectors of another
    waits: bool = True  # whether a question waits for missing vectors; not where a service makes them
    budget: int | None = None  # tokens of a brief; none = the profile's
    #: Takes over what was changed outside, before each verb.
    arrive: Callable[["SpaceContext"], None] | None = None
    language_models: LanguageModels | None = None  # none: capture by our own reader alone

    def now(self) -> datetime:
        return self.clock()

    def read(self) -> AbstractContextManager[Transaction]:
        """What the space holds, as of one moment."""
        return self.store.read(self.space)

    def write(self, *, urgent: bool = False) -> AbstractContextManager[Transaction]:
        """A change of the space: all of it, or nothing. Urgent: somebody waits for it who only asks."""
        return self.store.write(self.space, urgent=urgent)


def existing(tx: Transaction, memory_id: str, *, forgotten: bool = False) -> Memory:
    """The memory with this id; a forgotten one counts only when asked for.

    Raises: NotFound.
    """
    memory = tx.memories.get(memory_id)
    if memory is None:
        raise NotFound(
            f"there is no memory {memory_id!r} in space {tx.space.name!r}",
            command="`holdfast list` shows them",
        )
    if memory.state == "forgotten" and not forgotten:
        raise NotFound(
            f"memory {memory_id} is deleted; it can be restored",
            command=f"`holdfast restore {memory_id}` restores it",
        )
    return memory


def existing_session(tx: Transaction, session_id: str) -> Session:
    """Raises: NotFound."""
    session = tx.sessions.get(session_id)
    if session is None:
        raise NotFound(f"there is no session {session_id!r} in space {tx.space.name!r}")
    return session


def project_of(session_id: str | None, tx: Transaction) -> str | None:
    """The project that a session works on, as far as is known."""
    session = tx.sessions.get(session_id) if session_id is not None else None
    return session.project if session else None


def known_spelling(draft: Draft, tx: Transaction, ctx: SpaceContext) -> Draft:
    """The draft with its subject as it was spelt first; where a subject is a name, each spelling is one."""
    if draft.subject is None or ctx.profile.policy.subject_is_key:
        return draft
    return replace(draft, subject=tx.memories.first_spelling(draft.subject))


def expect(memory: Memory, version: int | None) -> None:
    """Raises Outdated when `memory` has another version than the caller last saw."""
    if version is not None and memory.version != version:
        raise Outdated(
            f"memory {memory.id} is at version {memory.version}, not {version}: reload it, then try again",
            command=f"`holdfast show {memory.id}` shows it",
        )


def of_that_name(memory: Draft | Memory, tx: Transaction, ctx: SpaceContext) -> list[Memory]:
    """What has the name of a memory or a draft, where one subject means one memory."""
    if not ctx.profile.policy.subject_is_key or memory.subject is None:
        return []
    return tx.memories.named(memory.subject, memory.project)


def refuse_taken_name(known: Draft | Memory, memory_id: str, tx: Transaction, ctx: SpaceContext) -> None:
    """Raises Conflict when one subject means one memory and another one has it."""
    for other in of_that_name(known, tx, ctx):
        if other.id != memory_id:
            raise Conflict(
                f"memory {other.id} already has the name {known.subject!r}: "
                "choose another name, or delete that one first"
            )


#: Whether this thread leaves it to others to show its changes in files, and whether it made one.
_THREAD = threading.local()


@contextmanager
def shown_later() -> Iterator[Callable[[], bool]]:
    """Leaves it to others to show this thread's changes in files; answers whether there was one.

    That takes as long as a space is large, and a slice of the background must not.
    """
    _THREAD.later, _THREAD.changed = True, False
    try:
        yield lambda: bool(_THREAD.changed)
    finally:
        _THREAD.later = False


def is_shown_later(*, changed: bool = False) -> bool:
    """Whether others show in files what this thread `changed`, and take over edits of them."""
    later = getattr(_THREAD, "later", False)
    if later and changed:
        _THREAD.changed = True
    return later


@contextmanager
def without_receipt(space: str) -> Iterator[None]:
    """Leaves out what the block would write when the store takes no writes now: no agent waits for a disk."""
    try:
        yield
    except Unavailable as trouble:
        _log.warning("space %s: answered without a receipt: %s", space, trouble)
