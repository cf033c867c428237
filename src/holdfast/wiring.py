"""The one place where the parts are put together: store, judge, clock and ids for a space."""

import secrets
import string
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from holdfast.domain.budget import estimate_tokens
from holdfast.domain.compare import TextJudge
from holdfast.domain.health import Health
from holdfast.domain.memory import Source
from holdfast.engine.desk import Desk
from holdfast.engine.ports import Clock, Embedder, Judge, NewId, Store
from holdfast.engine.spaces import DEFAULT, create_space, profile_of
from holdfast.errors import Conflict, NotFound
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.doors.importers import Reading

_ALPHABET = string.ascii_letters + string.digits


def new_id() -> str:
    """8 characters of A-Z a-z 0-9 from a cryptographic source."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def utc_now() -> datetime:
    return datetime.now(UTC)


def open_store(db: str | None = None) -> Store:
    """The store at `db`, at the settings' place when none is given.

    Raises: Unavailable, NewerSchema, Invalid.
    """
    from holdfast.store.database import Database

    return Database.open(db or Settings.read().db)


def open_embedder(name: str | None = None) -> Embedder | None:
    """The embedder of that name, the settings' when none is given. Nothing is loaded before it is used."""
    from holdfast.models.minilm import MiniLM

    return MiniLM() if (name or Settings.read().embedder) == "default" else None


def try_embedder(embedder: Embedder | None) -> str | None:
    """What is wrong with an embedder, in one line; none when it embeds as it should."""
    if embedder is None:
        return None
    from holdfast.store.vectors import checked

    try:
        [parts] = embedder.documents(["a trial"])
        checked([embedder.query("a trial"), *parts])
    except Exception as trouble:  # broad: whatever a model raises is what `doctor` has to say
        return f"{trouble}".strip().split("\n")[0] or type(trouble).__name__
    return None


def migrate(db: str | None = None) -> tuple[str | None, str]:
    """Brings the database to this release's schema; answers the revisions before and after.

    Raises: Unavailable, NewerSchema, Invalid.
    """
    from holdfast.store.database import Database
    from holdfast.store.migrate import HEAD

    database, found = Database.migrated(db or Settings.read().db)
    database.close()
    return found, HEAD


def examine(db: str | None = None) -> Health:
    """What can be seen of the database from outside; nothing is made or changed.

    Raises: Unavailable, Invalid.
    """
    from holdfast.store.health import examine as look_at

    return look_at(db or Settings.read().db)


def drafts_in(text: str, source: Source, format_name: str | None = None) -> "Reading":
    """The drafts in a file of another program, whose format is recognised unless it is named.

    Raises: Invalid, for an unknown format.
    """
    from holdfast.doors.importers import reading

    return reading(text, source, format_name)


def desk_for(
    space: str,
    store: Store,
    *,
    clock: Clock = utc_now,
    ids: NewId = new_id,
    judge: Judge | None = None,
    embedder: Embedder | None = None,
    budget: int | None = None,
) -> Desk:
    """A space ready to work in. The default space exists from first use.

    Raises: NotFound, with the command that would create the space.
    """
    found = store.space(space)
    if found is None and space == DEFAULT:
        try:
            found = create_space(DEFAULT, store=store, clock=clock)
        except Conflict:  # another process was faster
            found = store.space(space)
    if found is None:
        raise NotFound(f"there is no space {space!r}: create it with `holdfast space create {space}`")
    return Desk(
        space=space,
        profile=profile_of(found),
        store=store,
        judge=judge or TextJudge(),
        clock=clock,
        new_id=ids,
        estimate=estimate_tokens,
        embedder=embedder,
        budget=budget,
    )
