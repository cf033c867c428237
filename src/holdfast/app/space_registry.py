"""The spaces of one database while a process serves them, opened as they are asked for."""

import threading
from collections.abc import Iterator
from contextlib import suppress

from holdfast.app import paths, wiring
from holdfast.app.checkup import Checkup, checkup
from holdfast.domain.access import EVERYTHING, Grant
from holdfast.engine.administration import Administration
from holdfast.engine.memories import Memories
from holdfast.engine.ports import InProcess, Store
from holdfast.engine.stats import Figures
from holdfast.engine.tokens import grant_by_hash, grant_of
from holdfast.errors import HoldfastError, Invalid
from holdfast.settings import Settings


class SpaceRegistry:
    """The spaces of one database, each opened when it is first asked for; one model for all of them.

    Shared by all threads of a process.
    """

    def __init__(self, db: str | None = None, space: str | None = None) -> None:
        self._db = db
        self._settings = Settings.read()
        self._space = space or self._settings.space
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._opened: dict[str, Memories] = {}
        self.embedder = wiring.open_embedder(self._settings.embedder)
        self._readers = wiring.open_readers(self._settings)

    @property
    def db(self) -> str:
        """The database, as it can be named to other programs."""
        return paths.public_place(self._db or self._settings.db)

    @property
    def reads(self) -> bool:
        """Whether there is a model that reads what was said."""
        return self._readers is not None and self._readers.extract is not None

    def memories(self, space: str | None = None) -> Memories:
        """The memories of `space`, the usual one when none is named.

        Raises: NotFound, Unavailable, NewerSchema, Invalid; asked again later it may be there.
        """
        name = space or self._space
        with self._opening:
            found = self._opened.get(name)
            if found is None:
                if self._store is None:
                    self._store = wiring.open_store(self._db or self._settings.db)
                found = self._opened[name] = self._memories(self._store, name)
            return found

    def opened(self, space: str) -> Memories:
        """The same, opened anew: whatever other processes did to the space, its profile is as it is now."""
        return self._memories(self.memories().store, space)

    def _memories(self, store: Store, space: str) -> Memories:
        return Memories.of(
            store, space, embedder=self.embedder, budget=self._settings.budget, readers=self._readers
        )

    def entered(self, grant: Grant, space: str | None = None) -> Memories:
        """The memories of `space` for whoever holds `grant`; where it reaches one space alone, that one.

        An administrator's word is the operator's; all others speak for an assistant.
        Raises: NotFound, for a space out of reach as for one that is not there; Invalid, with the names to
        choose from; what `memories` raises.
        """
        if space is None:
            within = self.spaces() if grant.spaces is None else list(grant.spaces)
            if len(within) != 1:
                raise _which(within)
            [space] = within
        found = self.memories(grant.require_space(space))
        return (found if grant.allows("admin") else found.speaking_as("assistant")).granted(grant)

    @property
    def usual(self) -> str:
        """The name of the space that is meant when none is named."""
        return self._space

    def administration(self, grant: Grant) -> Administration:
        """Spaces and tokens, for whoever holds `grant`."""
        return Administration(self.memories().store, grant=grant)

    def admit(self, secret: str) -> Grant | None:
        """What the holder of a token may do; none for an unknown one.

        Raises: Unavailable.
        """
        return grant_of(secret, store=self.memories().store, now=wiring.utc_now())

    def admit_known(self, token_hash: str) -> Grant | None:
        """The same for a token that was shown before, by its hash.

        Raises: Unavailable.
        """
        return grant_by_hash(token_hash, store=self.memories().store, now=wiring.utc_now())

    def figures(self) -> Figures:
        """How much there is and how much waits, in all spaces together.

        Raises: Unavailable.
        """
        embedder = self.embedder.name if self.embedder else None
        return self.administration(EVERYTHING).figures(embedder=embedder)

    def checkup(self, grant: Grant) -> Checkup:
        """What is right and wrong with the whole installation.

        Raises: Forbidden, to who administers some spaces only; Unavailable, Invalid.
        """
        grant.require("admin", everywhere="a checkup covers all spaces: use a token for all spaces")
        self.check()  # what is at the path now may be another file than the one in use
        return checkup(self._db or self._settings.db, self.embedder)

    def check(self) -> None:
        """Raises: Unavailable, when the database was removed or replaced since it was opened."""
        if self._store is not None:
            self._store.check()

    def left(self, space: str) -> None:
        """A space was deleted: one of that name is another one from now on."""
        with self._opening:
            self._opened.pop(space, None)

    def spaces(self) -> list[str]:
        """The names of all spaces; the usual one exists from first use."""
        usual = self.memories()
        return [space.name for space in usual.store.spaces()]

    def warm_up(self) -> Iterator[None]:
        """Loads, step by step, what a first question or capture would wait for: words and models."""
        from holdfast.language.extract import extract
        from holdfast.language.wording import Utterance

        said = Utterance("user", "We use PostgreSQL, because SQLite was too slow.", wiring.utc_now().date())
        with suppress(HoldfastError):  # what is wrong is told where it is used
            extract([], said, wiring.own_reader())
        yield
        with suppress(HoldfastError):
            wiring.own_reader().helps("what is known", ["nothing"])  # its own network, beside the finder's
        yield
        with suppress(HoldfastError):
            if isinstance(self.embedder, InProcess):
                self.embedder.load()
        yield
        with suppress(HoldfastError):
            # A recall embeds what has no vector yet; where that is much, it is done in slices, not here.
            if not self.memories().embed(1, time_up=lambda: True):
                self.memories().recall("what is known", limit=1)

    def close(self) -> None:
        """Lets go of the database."""
        with self._opening:
            self._opened.clear()
            if self._store is not None:
                self._store.close()
                self._store = None


def _which(names: list[str]) -> Invalid:
    if not names:
        return Invalid("the spaces of this token were deleted: create a new token", field="space")
    return Invalid(
        f"this token has several spaces: add ?space= with one of {', '.join(names)}", field="space"
    )
