"""`Memories`: one object per space, every verb a method. What programs embed and every door calls."""

from types import TracebackType

from holdfast.app import wiring
from holdfast.domain.access import Grant, needs
from holdfast.domain.health import HealthFinding
from holdfast.domain.memory import Origin
from holdfast.engine import attention as attending
from holdfast.engine.language_models import Readers
from holdfast.engine.ports import Clock, Embedder, NewId, Store
from holdfast.engine.spaces import no_space
from holdfast.engine.verbs.asking import Asking
from holdfast.engine.verbs.filing import Filing
from holdfast.engine.verbs.hearing import Hearing
from holdfast.engine.verbs.knowing import Knowing
from holdfast.engine.verbs.tending import Tending
from holdfast.errors import HoldfastError
from holdfast.language.compare import PairModel
from holdfast.settings import Settings


class Memories(Knowing, Asking, Hearing, Tending, Filing):
    """The memories of one space.

    Calls come from `origin`, the operator unless said otherwise, and belong to `session` where one is given.
    What they may do, `grant` says: everything, unless a door let somebody in with less.
    Close it, or use it as a context manager, to let go of the database.
    """

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
    ) -> "Memories":
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
        judge: PairModel | None = None,
        embedder: Embedder | None = None,
        budget: int | None = None,
        readers: Readers | None = None,
    ) -> "Memories":
        """The memories of `space` in an open store; without an embedder, recall goes by words.

        Without `readers` no language model is asked: capture goes by rules.
        """
        ctx = wiring.context_for(
            space,
            store,
            clock=clock,
            ids=ids,
            judge=judge,
            embedder=embedder,
            budget=budget,
            readers=readers,
        )
        return cls(ctx)

    def speaking_as(
        self, origin: Origin, *, session: str | None = None, project: str | None = None
    ) -> "Memories":
        """The same memories for another speaker: an assistant in a session, a tool, an import.

        Where no project is named, `project` is meant; what holds everywhere is still kept for all.
        """
        return Memories(self._ctx, origin=origin, session=session, project=project, grant=self._grant)

    def granted(self, grant: Grant) -> "Memories":
        """The same memories for whoever holds `grant`: each verb asks for its scope.

        Raises: NotFound, for a space that the grant does not reach; it looks like one that is not there.
        """
        if not grant.reaches(self.space):
            raise no_space(self.space)
        return Memories(
            self._ctx, origin=self._origin, session=self._session, project=self._project, grant=grant
        )

    @needs("read")
    def attention(self) -> list[HealthFinding]:
        """What in this space needs a look: work that failed or rests, files that ask."""
        found = attending.attention(ctx=self._synced)
        state = self.directory()
        if state is not None and state.asks:
            says = "the files of this space need a decision"
            found.insert(0, HealthFinding("problem", says, f"{state.asks} on the files page"))
        return found

    def __enter__(self) -> "Memories":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
