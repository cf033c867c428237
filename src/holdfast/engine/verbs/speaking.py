"""Who speaks to a space, for whom, and what they may do: what all verbs start from."""

from holdfast.domain.access import EVERYTHING, Grant, needs
from holdfast.domain.memory import Origin, Source
from holdfast.domain.profile import Profile
from holdfast.engine.ports import Store
from holdfast.engine.space_context import Desk


class Speaking:
    """Who speaks to a space, for whom, and what they may do: what all verbs start from."""

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

    def close(self) -> None:
        """Lets go of the database."""
        self._here.store.close()

    def _source(self, message: str | None = None) -> Source:
        return Source(origin=self._origin, session=self._session, message=message)
