"""Who speaks to a space, for whom, and what they may do: what all verbs start from."""

from holdfast.domain.access import EVERYTHING, Grant, needs
from holdfast.domain.memory import Origin, Source
from holdfast.domain.profile import Profile
from holdfast.engine.ports import Store
from holdfast.engine.space_context import SpaceContext


class Speaking:
    """Who speaks to a space, for whom, and what they may do: what all verbs start from."""

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

    @property
    def _synced(self) -> SpaceContext:
        """The desk, once what was done by hand in a bound directory is taken over."""
        if self._ctx.arrive is not None:
            self._ctx.arrive(self._ctx)
        return self._ctx

    @property
    def space(self) -> str:
        return self._ctx.space

    @property
    def origin(self) -> Origin:
        """Whose word a call counts as."""
        return self._origin

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

    def _source(self, message: str | None = None) -> Source:
        return Source(origin=self._origin, session=self._session, message=message)
