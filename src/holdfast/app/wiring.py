"""Builds the context of a space from its parts: store, models, clock and ids."""

# budget: one function for each thing that is put together

import os
import string
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from holdfast.app import paths
from holdfast.domain.budget import estimate_tokens
from holdfast.engine.ports import BuiltinModel, Clock, Embedder, FileBacked, Judge, NewId, Store
from holdfast.engine.space_context import LanguageModels, SpaceContext
from holdfast.engine.spaces import DEFAULT, create_space, profile_of
from holdfast.errors import Conflict, Invalid, Unavailable, no_space
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.agents.brief_files import BriefFiles
    from holdfast.domain.health import Health
    from holdfast.domain.space import Space
    from holdfast.files.bindings import Directories
    from holdfast.language.judge import PairJudge, PairModel
    from holdfast.models.builtin_model import ReaderModel
    from holdfast.store import copy_follower, copy_restore
    from holdfast.store.near_index import Built

JUDGED_WITHIN = 10.0  # seconds: a user waits while a model judges
#: One `Directories` per store; it keeps the last scan.
_DIRECTORIES: "WeakKeyDictionary[Store, Directories]" = WeakKeyDictionary()
#: The clock of each store, for its file sync.
_CLOCKS: "WeakKeyDictionary[Store, Clock]" = WeakKeyDictionary()
_ALPHABET = string.ascii_letters + string.digits


def new_id() -> str:
    """8 characters of A-Z a-z 0-9 from a cryptographic source."""
    import secrets

    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def utc_now() -> datetime:
    return datetime.now(UTC)


def open_store(
    db: str | None = None, *, clock: Clock = utc_now, wrote: Callable[[str], None] | None = None
) -> Store:
    """Opens the store at `db`; default: the settings. Its file sync uses `clock`.

    `wrote` is told the space of each write of this process. Raises: Unavailable, NewerSchema, Invalid.
    """
    from holdfast.store.database import Database

    settings = Settings.read()
    database = Database.open(db or settings.db, replica=settings.db_read)
    _CLOCKS[database] = clock

    @cache
    def briefs() -> "BriefFiles":
        return brief_files(database)

    def briefs_follow(space: str) -> None:
        if os.path.exists(paths.briefs()) or os.path.exists(paths.context_files()):  # else nothing is loaded
            briefs().changed(space)

    database.watchers.append(briefs_follow)
    database.watchers.append(lambda space: _files_follow(database, space))
    if wrote is not None:
        database.watchers.append(wrote)
    return database


def brief_files(store: Store) -> "BriefFiles":
    """The brief files of `store` on this machine."""
    from holdfast.agents.brief_files import BriefFiles

    clock = _CLOCKS.get(store, utc_now)
    return BriefFiles(
        store, lambda space: context_for(space, store, clock=clock, budget=Settings.read().budget)
    )


def directories(store: Store) -> "Directories":
    """The synced folders of `store` on this machine."""
    from holdfast.files.bindings import Directories

    if store not in _DIRECTORIES:
        clock = _CLOCKS.get(store, utc_now)
        _DIRECTORIES[store] = Directories(store, lambda space: context_for(space, store, clock=clock))
    return _DIRECTORIES[store]


def _files_follow(store: Store, space: str) -> None:
    if os.path.exists(paths.directories()):  # else nothing has to be loaded
        directories(store).changed(space)


def _files_first(ctx: SpaceContext) -> None:
    if os.path.exists(paths.directories()):
        directories(ctx.store).arrive(ctx)


def open_embedder(name: str | None = None) -> Embedder | None:
    """The embedder of that name; default: the settings. It loads when first used.

    Raises: Invalid, listing the allowed forms.
    """
    from holdfast.models import factory
    from holdfast.models.specs import parse

    settings = Settings.read()
    spec = parse(name or settings.embedder)
    return factory.open_embedder(spec, key=settings.key_for(spec))


def open_language_models(settings: Settings | None = None) -> LanguageModels | None:
    """The configured language models; None without any. Nothing is loaded or called yet.

    Raises: Invalid, with the variable's name.
    """
    settings = settings or Settings.read()
    named = (settings.gate_model, settings.extract_model, settings.judge_model)
    if not any(named):
        return None
    from holdfast.engine.space_context import Instructions
    from holdfast.models.factory import WITHIN, open_model
    from holdfast.models.specs import cautious
    from holdfast.prompts import shipped

    gate, extract, judge = (
        open_model(spec, key=settings.key_for_model(spec), within=within) if spec else None
        for spec, within in zip(named, (WITHIN, WITHIN, JUDGED_WITHIN), strict=True)
    )
    return LanguageModels(
        gate=gate,
        extract=extract,
        judge=judge,
        instructions=Instructions(
            gate=shipped("capture-gate.md"), extract=shipped("capture-extract.md"), judge=shipped("judge.md")
        ),
        caps=settings.caps,
        cautious=cautious(),
    )


@lru_cache(maxsize=8)
def reopened(name: str) -> Embedder | None:
    """The embedder of stored vectors by its name, shared by all spaces; None if it can't be loaded."""
    try:
        return open_embedder(name)
    except Invalid:  # an embedder passed in by a program, or of another release
        return None


@lru_cache(maxsize=1)
def open_builtin_model() -> "ReaderModel":
    """The built-in models, shared by all spaces; loaded when first used."""
    from holdfast.models.builtin_model import ReaderModel

    return ReaderModel()


@lru_cache(maxsize=1)
def own_judge() -> "PairJudge":
    """The judge shared by all spaces, with its cache of verdicts."""
    from holdfast.language.judge import PairJudge

    return PairJudge(open_builtin_model())


class _Later:
    """A model whose code is loaded when it is first asked: most verbs ask none."""

    def __init__(self, opened: Callable[[], object]) -> None:
        self._opened = opened

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened(), name)


def try_embedder(embedder: Embedder | None) -> str | None:
    """The error of an embedder, in one line; None if it works."""
    if embedder is None:
        return None
    from holdfast.engine.embedder_calls import given
    from holdfast.store.vectors import checked

    def trial(texts: Sequence[str]) -> None:
        if isinstance(embedder, FileBacked):  # a loaded model works until the next start
            embedder.check_file()
        [parts] = embedder.documents(texts)  # first: a server may have to load its model
        checked([*embedder.queries(texts), *parts])

    try:
        given(embedder, trial, ["a trial"])
    except Unavailable as error:
        return f"{error}".strip().split("\n")[0]
    return None


def migrate(db: str | None = None) -> tuple[str | None, str]:
    """Migrates the database to this release's schema; returns the revisions before and after.

    Raises: Unavailable, NewerSchema, Invalid.
    """
    from holdfast.store.database import Database
    from holdfast.store.migrate import HEAD

    database, found = Database.migrated(db or Settings.read().db)
    database.close()
    return found, HEAD


def index_large_spaces(db: str | None = None) -> "list[Built]":
    """Gives large spaces on PostgreSQL an index for search by meaning; the new ones.

    Raises: Unavailable, Invalid.
    """
    from holdfast.store.database import Database

    database = Database.open(db or Settings.read().db)
    try:
        return database.index_large_spaces()
    finally:
        database.close()


def distribute(db: str | None = None, shards: int | None = None) -> list[str]:
    """Migrates, and spreads the tables over the nodes of a Citus cluster; those that were not there yet."""
    from holdfast.store.database import Database

    place = db or Settings.read().db
    if "://" not in place.removeprefix("sqlite:///"):
        raise Invalid("a SQLite file can't be distributed: name a PostgreSQL database")
    database, _ = Database.migrated(place)
    try:
        return database.distribute(shards)
    finally:
        database.close()


def open_follower(db: str | None, folder: str, keep: timedelta) -> "copy_follower.Follower":
    """Keeps a continuous copy of a SQLite file. Raises: Unavailable, Invalid."""
    from holdfast.store.copy_follower import open_follower as opened

    return opened(db or Settings.read().db, folder, keep)


def restore_copy(folder: str, target: str | None, at: datetime | None = None) -> "copy_restore.RestoredCopy":
    """Makes a new SQLite file from a continuous copy. Raises: NotFound, Conflict, Invalid."""
    from holdfast.store.copy_restore import restore_copy as restored

    return restored(folder, target or Settings.read().db, at)


def examine(db: str | None = None) -> "Health":
    """Inspects the database without opening it for writing. Raises: Unavailable, Invalid."""
    from holdfast.store.health import examine as look_at

    return look_at(db or Settings.read().db)


def context_for(
    space: str,
    store: Store,
    *,
    clock: Clock = utc_now,
    ids: NewId = new_id,
    judge: "PairModel | None" = None,
    builtin_model: BuiltinModel | None = None,
    embedder: Embedder | None = None,
    open_embedder: Callable[[str], Embedder | None] = reopened,
    budget: int | None = None,
    language_models: LanguageModels | None = None,
    waits: bool = True,
) -> SpaceContext:
    """The context of a space. The default space is created at first use.

    Raises: NotFound, with the command that would create the space.
    """
    return SpaceContext(
        space=space,
        profile=profile_of(_existing(space, store, clock)),
        store=store,
        judge=_judging(judge) if judge is not None else cast("Judge", _Later(own_judge)),
        clock=clock,
        new_id=ids,
        estimate=estimate_tokens,
        embedder=embedder,
        builtin_model=builtin_model
        if builtin_model is not None
        else cast("BuiltinModel", _Later(open_builtin_model)),
        open_embedder=open_embedder,
        budget=budget,
        language_models=language_models,
        arrive=_files_first,
        waits=waits,
    )


def _judging(model: "PairModel") -> "PairJudge":
    from holdfast.language.judge import PairJudge

    return PairJudge(model)


def _existing(space: str, store: Store, clock: Clock) -> "Space":
    found = store.space(space)
    if found is None and space == DEFAULT:
        try:
            found = create_space(DEFAULT, store=store, clock=clock)
        except Conflict:  # another process was faster
            found = store.space(space)
    if found is None:
        raise no_space(space, [each.name for each in store.spaces()])
    return found
