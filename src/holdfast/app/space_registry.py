"""The open spaces of a process, with access checks."""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

from holdfast.app import paths, wiring
from holdfast.app.checkup import Checkup, checkup
from holdfast.domain.access import EVERYTHING, Grant
from holdfast.engine.administration import Administration
from holdfast.engine.doors import DOOR
from holdfast.engine.memories import Memories
from holdfast.engine.ports import InProcess, Store
from holdfast.engine.stats import Figures
from holdfast.engine.tokens import grant_by_hash, grant_of
from holdfast.errors import HoldfastError, Invalid, Unavailable
from holdfast.profiles import profile_named
from holdfast.settings import Settings


class SpaceRegistry:
    """The spaces of one database, each opened when first used, with one model for all. Thread-safe.

    In a service that makes vectors in the background no question `waits` for them. `door` is what the access
    log names, where all calls come by one.
    """

    def __init__(
        self, db: str | None = None, space: str | None = None, *, waits: bool = True, door: str | None = None
    ) -> None:
        import numpy  # noqa: F401 (now, by one thread: two that import it at once can break it for good)

        if door is not None:
            DOOR.set(door)
        self._waits = waits
        self._db = db
        self._settings = Settings.read()
        self._space = space or self._settings.space
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._opened: dict[str, Memories] = {}
        self._writes: dict[str, float] = {}
        self.embedder = wiring.open_embedder(self._settings.embedder)
        self._language_models = wiring.open_language_models(self._settings)

    @property
    def db(self) -> str:
        """The database, as it can be named to other programs."""
        return paths.public_place(self._db or self._settings.db)

    @property
    def reads(self) -> bool:
        """Whether a language model extracts facts."""
        return self._language_models is not None and self._language_models.extract is not None

    def memories(self, space: str | None = None) -> Memories:
        """The memories of `space`; default: the usual space.

        Raises: NotFound, Unavailable, NewerSchema, Invalid; a later call may succeed.
        """
        name = space or self._space
        with self._opening:
            found = self._opened.get(name)
            if found is None:
                if self._store is None:
                    self._store = wiring.open_store(self._db or self._settings.db, wrote=self._wrote)
                found = self._opened[name] = self._memories(self._store, name)
            return found

    def opened(self, space: str) -> Memories:
        """The same, opened anew: whatever other processes did to the space, its profile is as it is now."""
        return self._memories(self.memories().store, space)

    def _memories(self, store: Store, space: str) -> Memories:
        return Memories.of(
            store,
            space,
            embedder=self.embedder,
            budget=self._settings.budget,
            language_models=self._language_models,
            waits=self._waits,
            person=self._settings.person,
        )

    def entered(self, grant: Grant, space: str | None = None) -> Memories:
        """The memories of `space` for a grant; without a name, the only space of the grant.

        The origin is operator for scope admin, else assistant. Raises: NotFound, also for a space outside the
        grant; Invalid, with the names to choose from; as `memories`.
        """
        if space is None:
            within = self.spaces() if grant.spaces is None else list(grant.spaces)
            if len(within) != 1:
                raise _which(within)
            [space] = within
        found = self._as_it_is(grant.require_space(space))
        return (found if grant.allows("admin") else found.speaking_as("assistant")).granted(grant)

    def _as_it_is(self, space: str) -> Memories:
        """The memories of `space`, opened anew if another service has deleted and made it again since."""
        found = self.memories(space)
        with suppress(Unavailable):  # a verb tells
            row = found.store.space(space)
            if row is None or profile_named(row.profile, row.profile_text) != found.profile:
                self.left(space)
                return self.memories(space)
        return found

    @property
    def usual(self) -> str:
        """The name of the default space."""
        return self._space

    def administration(self, grant: Grant) -> Administration:
        """Spaces and tokens, for a grant."""
        return Administration(self.memories().store, grant=grant)

    def admit(self, secret: str) -> Grant | None:
        """The grant of a token; None if it is unknown. Raises: Unavailable."""
        return grant_of(secret, store=self.memories().store, now=wiring.utc_now())

    def admit_known(self, token_hash: str) -> Grant | None:
        """The same for a token that was shown before, by its hash. Raises: Unavailable."""
        return grant_by_hash(token_hash, store=self.memories().store, now=wiring.utc_now())

    def figures(self) -> Figures:
        """Counts over all spaces. Raises: Unavailable."""
        embedder = self.embedder.name if self.embedder else None
        return self.administration(EVERYTHING).figures(embedder=embedder)

    def checkup(self, grant: Grant) -> Checkup:
        """The findings of doctor.

        Raises: Forbidden, for a grant of only some spaces; Unavailable, Invalid.
        """
        grant.require("admin", everywhere="a checkup covers all spaces: use a token for all spaces")
        self.check()  # the file may have been replaced
        return checkup(self._db or self._settings.db, self.embedder)

    def check(self) -> None:
        """Raises: Unavailable, if the database was removed or replaced since it was opened."""
        if self._store is not None:
            self._store.check()

    def left(self, space: str) -> None:
        """Forgets a deleted space."""
        with self._opening:
            self._opened.pop(space, None)

    def spaces(self) -> list[str]:
        """The names of all spaces; the usual one exists from first use."""
        usual = self.memories()
        return [space.name for space in usual.store.spaces()]

    def writes(self) -> dict[str, float]:
        """The spaces that this process wrote to, and when last, by the monotonic clock."""
        return dict(self._writes)

    def _wrote(self, space: str) -> None:
        self._writes[space] = time.monotonic()

    def warm_up(self) -> Iterator[None]:
        """Loads words and models step by step, so that the first recall and capture are fast."""
        from holdfast.language.extract import extract
        from holdfast.language.wording import Utterance

        said = Utterance("user", "We use PostgreSQL, because SQLite was too slow.", wiring.utc_now().date())
        with suppress(HoldfastError):  # errors are reported where the models are used
            extract([], said, wiring.open_builtin_model())
        yield
        with suppress(HoldfastError):  # the reader's network; the finder's is separate
            wiring.open_builtin_model().helps("what is known", ["nothing"])
        yield
        with suppress(HoldfastError):
            if isinstance(self.embedder, InProcess):
                self.embedder.load()
        yield
        with suppress(HoldfastError):
            # A recall embeds missing vectors; many of them are embedded in slices by the background task.
            if not self.memories().embed(1, time_up=lambda: True):
                self.memories().recall("what is known", limit=1)
        gc.collect()
        gc.freeze()  # modules and models stay: to look through them again takes up to 0.1 s of any slice

    def close(self) -> None:
        """Closes the database."""
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
