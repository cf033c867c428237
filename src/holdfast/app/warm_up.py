"""Loads what the first question and the first capture would wait for: words, rules and models."""

from collections.abc import Callable
from contextlib import suppress

from holdfast.app import wiring
from holdfast.app.space_registry import SpaceRegistry
from holdfast.engine.ports import InProcess
from holdfast.errors import HoldfastError

_SAID = "We decided to use PostgreSQL for the ledger, because SQLite was too slow."


def warm_up(registry: SpaceRegistry) -> None:
    """Does it once, whatever of it can be had; it takes about a second."""
    steps: list[Callable[[], object]] = [lambda: registry.memories().recall("what is known", limit=1)]
    if isinstance(registry.embedder, InProcess):
        steps.append(registry.embedder.load)
    for step in (*steps, wiring.own_reader().load, _read):
        with suppress(HoldfastError):  # what is wrong is told where it is used
            step()


def _read() -> None:
    from holdfast.language.extract import extract
    from holdfast.language.gate import PERSON, Utterance, gate

    said = [Utterance(PERSON, _SAID)]
    extract(said, gate(said))
