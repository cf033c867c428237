"""What every verb needs: a space with its profile, store, models and clock.

Also the language models of a space with their instructions and limits; all are optional.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.budget import Estimate
from holdfast.domain.memory import Draft, Memory, Session
from holdfast.domain.profile import Profile
from holdfast.domain.space import NO_QUOTA, Quota
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
from holdfast.engine.quota import charge
from holdfast.errors import Conflict, NotFound, Outdated, Unavailable

_log = logging.getLogger(__name__)


#: By thread: whether others write its changes to files, whether there was one, and whether the space of its
#: last transaction keeps an access log.
_THREAD = threading.local()


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """The system prompts; they never change, so that prompt caches hold."""

    gate: str
    extract: str  # has {{categories}} in place of the categories
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModels:
    """The language model for each purpose; without one, the built-in models decide."""

    gate: LanguageModel | None = None
    extract: LanguageModel | None = None
    judge: LanguageModel | None = None
    instructions: Instructions
    caps: Caps
    cautious: Price  # assumed for models without a known price
    resting: dict[str, datetime] = field(default_factory=dict)  # pauses after failures, by purpose

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
    embedder: Embedder | None = None  # None: search by words
    open_embedder: Callable[[str], Embedder | None] | None = None  # opens the embedder of older vectors
    from_replica: bool = False  # whether a read replica may answer
    waits: bool = True  # whether a query waits for missing vectors; False if a service makes them
    budget: int | None = None  # tokens of a brief; None: the profile's
    #: Applies changes of synced files, before each verb.
    arrive: Callable[["SpaceContext"], None] | None = None
    language_models: LanguageModels | None = None  # None: capture by the built-in finder alone
    token: str | None = None  # the id of the token that calls
    quota: Quota = NO_QUOTA  # of that token
    person: str | None = None  # who calls: what is written says so
    reader: Reader = ALL_MEMORIES  # which memories there are for the caller

    def now(self) -> datetime:
        return self.clock()

    def among(self, person: str | None) -> "SpaceContext":
        """The same, where there are only memories that are private to `person`, or only shared ones."""
        return replace(self, reader=Reader.of_private(person))

    def for_prompts(self) -> "SpaceContext":
        """The same without what is private to another person, whoever asks."""
        return replace(self, reader=Reader(self.person)) if self.reader.everybody else self

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A read transaction: the space as of one moment."""
        with self.store.read(self.space, replica=self.from_replica, reader=self.reader) as tx:
            _THREAD.logs = tx.space.access_log
            yield tx

    @contextmanager
    def write(self, *, urgent: bool = False) -> Iterator[Transaction]:
        """A write transaction: all changes or none. An `urgent` one goes first: an agent waits for it.

        Raises: QuotaExceeded.
        """
        with self.store.write(self.space, urgent=urgent, reader=self.reader) as tx:
            _THREAD.logs = tx.space.access_log
            yield tx
            charge(tx, self.token, self.quota)


def existing(tx: Transaction, memory_id: str, *, forgotten: bool = False) -> Memory:
    """The memory with this id; a deleted one only with `forgotten`.

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
    """The project of a session, if known."""
    session = tx.sessions.get(session_id) if session_id is not None else None
    return session.project if session else None


def known_spelling(draft: Draft, tx: Transaction, ctx: SpaceContext) -> Draft:
    """The draft with its subject in the first known spelling, unless the subject is a unique name."""
    if draft.subject is None or ctx.profile.policy.subject_is_key:
        return draft
    return replace(draft, subject=tx.memories.first_spelling(draft.subject))


def expect(memory: Memory, version: int | None) -> None:
    """Raises Outdated if `memory` has another version than the caller expects."""
    if version is not None and memory.version != version:
        raise Outdated(
            f"memory {memory.id} is at version {memory.version}, not {version}: reload it, then try again",
            command=f"`holdfast show {memory.id}` shows it",
        )


def of_that_name(memory: Draft | Memory, tx: Transaction, ctx: SpaceContext) -> list[Memory]:
    """The memories with this name, if the profile makes subjects unique names."""
    if not ctx.profile.policy.subject_is_key or memory.subject is None:
        return []
    return tx.memories.named(memory.subject, memory.project)


def refuse_taken_name(known: Draft | Memory, memory_id: str, tx: Transaction, ctx: SpaceContext) -> None:
    """Raises Conflict if subjects are unique names and another memory has this one."""
    for other in of_that_name(known, tx, ctx):
        if other.id != memory_id:
            raise Conflict(
                f"memory {other.id} already has the name {known.subject!r}: "
                "choose another name, or delete that one first"
            )


@contextmanager
def shown_later() -> Iterator[Callable[[], bool]]:
    """Within it, this thread doesn't write its changes to files; returns whether there was a change.

    Writing files takes time in proportion to the space, and a slice of background work must be short.
    """
    _THREAD.later, _THREAD.changed = True, False
    try:
        yield lambda: bool(_THREAD.changed)
    finally:
        _THREAD.later = False


def is_shown_later(*, changed: bool = False) -> bool:
    """Whether another process writes the changes of this thread to files; `changed` records one."""
    later = getattr(_THREAD, "later", False)
    if later and changed:
        _THREAD.changed = True
    return later


@contextmanager
def is_logged(ctx: SpaceContext) -> Iterator[Callable[[], bool]]:
    """Around a verb: returns whether its space keeps an access log, as its transactions have read anyway."""
    _THREAD.logs = None
    yield lambda: _keeps_log(ctx) if _THREAD.logs is None else bool(_THREAD.logs)


def _keeps_log(ctx: SpaceContext) -> bool:
    space = ctx.store.space(ctx.space)
    return space is not None and space.access_log


@contextmanager
def without_receipt(space: str) -> Iterator[None]:
    """Ignores a store that takes no writes now, so that an agent gets its block without a receipt."""
    try:
        yield
    except Unavailable as trouble:
        _log.warning("space %s: answered without a receipt: %s", space, trouble)
