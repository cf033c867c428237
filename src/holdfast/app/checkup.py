"""Checks an installation: its database, embedder, models, spaces and directories."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.app import machine_checks, wiring
from holdfast.app.installation import install_command
from holdfast.domain.confidence import LONGEST_PAUSE
from holdfast.domain.health import (
    Damage,
    Health,
    HealthFinding,
    ReplicaState,
    damage_findings,
    findings,
    replica_findings,
    unread,
)
from holdfast.domain.space import Space
from holdfast.engine.embedding import embed_again, search_model
from holdfast.engine.models_in_use import EmbeddingProgress, embedding_progress
from holdfast.engine.ports import Clock, Embedder, Store
from holdfast.engine.reading_queue import ReadingState, reading_state
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import Overview, overview
from holdfast.errors import Unavailable
from holdfast.files.scan import ASKS_COMMAND
from holdfast.settings import Settings

MOST_SPACES = 100  # each is asked some 45 questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """The findings of doctor. An unusable database has no spaces."""

    health: Health
    findings: tuple[HealthFinding, ...]
    embedder: str | None
    spaces: tuple[Overview, ...] = ()  # that were looked into
    existing: int = 0  # all spaces
    vectors: tuple[EmbeddingProgress, ...] = ()
    models: tuple[ReadingState, ...] = ()
    replica: ReplicaState | None = None
    mended: tuple[Damage, ...] = ()  # the damage that was repaired, by space

    @property
    def healthy(self) -> bool:
        return not any(finding.level == "problem" for finding in self.findings)


def checkup(
    db: str | None,
    embedder: Embedder | None,
    *,
    clock: Clock = wiring.utc_now,
    mend: bool = False,
    every_space: bool = False,
) -> Checkup:
    """Checks the database at `db`, the embedder, the spaces and the machine.

    Of many spaces it looks into some, others each time, unless into `every_space`. With `mend`, damage inside
    of all spaces is repaired first. Raises: Unavailable, NewerSchema, Invalid.
    """
    health = wiring.examine(db)
    found = findings(health, upgrade=install_command())
    found += [*_embedding(wiring.try_embedder(embedder)), *_own_models(), *_machine(health, clock)]
    lost = health.cluster is not None and health.cluster.lost
    if not health.exists or health.damage or lost or health.revision != health.head:
        name = embedder.name if embedder else None
        return Checkup(health=health, findings=(*found, *_settings()), embedder=name)
    store = wiring.open_store(db)
    try:
        mended = _mended(store, embedder, clock) if mend else ()
        existing = store.spaces()
        few = every_space or len(existing) <= MOST_SPACES
        chosen = existing if few else sorted(random.sample(existing, MOST_SPACES), key=lambda one: one.name)
        found += _not_chosen(len(chosen), len(existing))
        seen = _looked_into(store, chosen, embedder, clock, health)
    finally:
        store.close()
    return replace(seen, findings=(*found, *seen.findings), existing=len(existing), mended=mended)


def _looked_into(
    store: Store, chosen: Sequence[Space], embedder: Embedder | None, clock: Clock, health: Health
) -> Checkup:
    """What can be seen in an open store, of these spaces."""
    name = embedder.name if embedder else None
    spaces, vectors, models = _spaces(store, chosen, name)
    replica = store.replica.state() if store.replica is not None else None
    found = [
        *(replica_findings(replica) if replica is not None else ()),
        *machine_checks.write_findings(store),
        *machine_checks.copy_findings(store),
        *_damage(store, chosen),
        *_clock(store, chosen, clock),
        *_unfinished(vectors),
        *_settings(),
        *_directories(store),
    ]
    found += [each for one in models for each in unread(one.space, one.failed, one.error, one.put_off)]
    return Checkup(
        health=health,
        findings=tuple(found),
        embedder=name,
        spaces=tuple(spaces),
        vectors=tuple(vectors),
        models=tuple(models),
        replica=replica,
    )


def _machine(health: Health, clock: Clock) -> list[HealthFinding]:
    """Findings outside of the database."""
    return [
        *machine_checks.package_findings(),
        *machine_checks.service_findings(),
        *machine_checks.client_findings(),
        *machine_checks.hook_findings(clock()),
        *machine_checks.disk_findings(health.where),
    ]


def _mended(store: Store, embedder: Embedder | None, clock: Clock) -> tuple[Damage, ...]:
    contexts = (
        wiring.context_for(space.name, store, clock=clock, embedder=embedder) for space in store.spaces()
    )
    return tuple(repair(ctx=ctx) for ctx in contexts)


def _not_chosen(chosen: int, existing: int) -> Iterator[HealthFinding]:
    if chosen < existing:
        says = f"{chosen:,} of {existing:,} spaces were checked, chosen at random"
        command = "`holdfast doctor --all-spaces` checks every one, which takes longer"
        yield HealthFinding("note", says, "each check chooses others", command)


def _damage(store: Store, spaces: Sequence[Space]) -> list[HealthFinding]:
    """Findings about inconsistent rows."""
    found = []
    for space in spaces:
        with store.read(space.name) as tx:
            found += damage_findings(tx.integrity.damage())
    return found


def _clock(store: Store, spaces: Sequence[Space], clock: Clock) -> list[HealthFinding]:
    """Findings about a clock that is far from the newest change."""
    found, now = [], clock()
    for space in spaces:
        with store.read(space.name) as tx:
            newest = tx.journal.newest_before(now + 100 * LONGEST_PAUSE)
        if newest is not None and now - newest > LONGEST_PAUSE:
            says = f"the clock is {(now - newest).days} days after the newest change of space {space.name!r}"
            advice = "decay is paused: set the clock, or run upkeep if the clock is right"
            command = (
                "decay is paused: set the clock, or, if it is right, run "
                f"`holdfast tend --clock-is-right --space {space.name}`"
            )
            found.append(HealthFinding("note", says, advice, command))
        elif newest is not None and (newest - now).days >= 1:
            says = f"the newest change of space {space.name!r} is {(newest - now).days} days in the future"
            found.append(HealthFinding("note", says, "check the clock of this machine"))
    return found


def _embedding(error: str | None) -> list[HealthFinding]:
    if error is None:
        return []
    says = f"the embedder does not work: {error}"
    advice = "until it is fixed, recall uses keyword search only; set HOLDFAST_EMBEDDER=none to turn it off"
    return [HealthFinding("problem", says, advice)]


def _own_models() -> Iterator[HealthFinding]:
    """Findings about the files of the built-in models."""
    models = (
        (
            "comparison",
            wiring.open_builtin_model().check_file,
            "only identical texts count as duplicates, and recall is less precise",
        ),
        ("capture", wiring.open_builtin_model().finder.check_file, "nothing is captured from conversations"),
    )
    for name, check, meanwhile in models:
        try:
            check()
        except Unavailable as error:
            says = f"the {name} model does not work: {error}"
            yield HealthFinding("problem", says, f"until it is fixed, {meanwhile}", error.command)


def _unfinished(vectors: list[EmbeddingProgress]) -> list[HealthFinding]:
    """Findings about spaces whose vectors are incomplete."""
    found = []
    for one in vectors:
        figures = f"{one.done:,} of {one.total:,}"
        if one.changing:
            says = f"re-embedding: {figures} in space {one.space!r}, with {one.wanted}"
            advice = f"until then, {one.searched} is used for search"
            command = f"{advice}; finish now with `holdfast tend --space {one.space}`"
        elif not one.complete:
            says = f"embedding: {figures} in space {one.space!r}"
            advice = "the next search finishes it"
            command = f"{advice}, or run `holdfast tend --space {one.space}`"
        else:
            continue
        found.append(HealthFinding("note", says, advice, command))
    return found


def _spaces(
    store: Store, chosen: Sequence[Space], embedder: str | None
) -> tuple[list[Overview], list[EmbeddingProgress], list[ReadingState]]:
    spaces, vectors, models = [], [], []
    for space in chosen:
        spaces.append(overview(space.name, store=store))
        with store.read(space.name) as tx:
            vectors.append(embedding_progress(embedder, tx))
            models.append(reading_state(tx))
    return spaces, vectors, models


def _directories(store: Store) -> list[HealthFinding]:
    """Findings about folders that spaces are synced with on this machine."""
    found = []
    for binding in wiring.directories(store).bindings():
        if store.space(binding.space) is None:
            continue
        space = overview(binding.space, store=store).space.name
        state = wiring.directories(store).state(wiring.context_for(space, store))
        if state is not None and state.asks:
            says = f"the files of space {space!r} need a decision"
            command = f"{state.asks}: {ASKS_COMMAND.format(space)}"
            found.append(HealthFinding("problem", says, f"{state.asks} on the files page", command))
        for error in state.troubles if state is not None else ():
            says = f"the files of space {space!r}: {error}"
            command = f"retry with `holdfast files sync --space {space}`"
            found.append(HealthFinding("problem", says, "retry on the files page", command))
    return found


def _settings() -> list[HealthFinding]:
    """Findings about configured models that can't be used, or never are."""
    settings = Settings.read()
    found = _keyless(settings)
    if settings.gate_model is None or settings.extract_model is not None:
        return found
    advice = "set HOLDFAST_EXTRACT_MODEL too: the gate model only selects what to read"
    return [
        *found,
        HealthFinding("note", "HOLDFAST_GATE_MODEL is set without HOLDFAST_EXTRACT_MODEL", advice),
    ]


def _keyless(settings: Settings) -> list[HealthFinding]:
    """Findings about models without a key; no server is called."""
    named = (settings.gate_model, settings.extract_model, settings.judge_model)
    advice = "until then, capture uses the built-in model only"
    return [
        HealthFinding("problem", f"{spec.name} needs an API key: set {spec.kind.upper()}_API_KEY", advice)
        for spec in dict.fromkeys(named)
        if spec is not None and spec.needs_key and settings.key_for_model(spec) is None
    ]


def repair(*, ctx: SpaceContext) -> Damage:
    """Repairs a space; returns the damage found.

    Raises: Unavailable, if vectors are missing and the embedder fails; the rest is repaired then.
    """
    with ctx.store.write(ctx.space) as tx:
        found = tx.integrity.damage()
        tx.integrity.mend()
        embedder = search_model(ctx, tx)
    if embedder is not None:
        for kind, name in (("memories", "memory"), ("messages", "message")):
            with ctx.store.read(ctx.space) as tx:
                ids = tx.integrity.without_vector(name, embedder.name)
            embed_again(ctx, embedder, kind, ids)
    return found
