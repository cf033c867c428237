"""A warm parent of processes that read sessions and are killed between two steps.

Run as `python -m tests.reading.dying_readers DATABASE SERVER`. Each line on standard input, `STEP SECONDS`,
forks one that captures all there is at SECONDS past the beginning, by rules and with models, and kills itself
with SIGKILL at its step of that number (0: never); the answer is `killed` or `done`. A step is the beginning
or the end of a transaction, or of a question to a model.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import anthropic  # noqa: F401  - imported late by the product, early here

import holdfast.store.database  # noqa: F401
from holdfast import Memories
from holdfast.app.wiring import open_language_models, open_store
from holdfast.domain.spend import Price
from holdfast.engine.ports import LanguageModel, Store, Transaction
from holdfast.language.model_call import ModelAnswer, ModelPrompt
from holdfast.settings import Settings
from holdfast.testing import DEFAULT_START, FixedClock
from tests.marking_reader import MarkingReader

#: Our own reader finds this alone: the rest is left to the models.
READER = MarkingReader({"The nightly job": "fact"})


class Steps:
    """Counts down to the end of the process."""

    def __init__(self, dies_at: int) -> None:
        self._left = dies_at

    def pass_one(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class DyingStore:
    def __init__(self, store: Store, steps: Steps) -> None:
        self._store = store
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def read(self, space: str, **how: Any) -> Iterator[Transaction]:
        with self._store.read(space, **how) as tx:
            yield tx

    @contextmanager
    def write(self, space: str, **how: Any) -> Iterator[Transaction]:
        self._steps.pass_one()
        with self._store.write(space, **how) as tx:
            yield tx
            self._steps.pass_one()  # before the commit
        self._steps.pass_one()


class DyingModel:
    def __init__(self, model: LanguageModel, steps: Steps) -> None:
        self._model = model
        self._steps = steps
        self.name = model.name
        self.price: Price | None = model.price

    def ask(self, question: ModelPrompt) -> ModelAnswer:
        self._steps.pass_one()
        answer = self._model.ask(question)
        self._steps.pass_one()
        return answer


def read_everything(database: str, environment: dict[str, str], dies_at: int, seconds: float) -> None:
    steps = Steps(dies_at)
    models = open_language_models(Settings.read(environment))
    assert models is not None
    assert models.gate is not None
    assert models.extract is not None
    models = replace(models, gate=DyingModel(models.gate, steps), extract=DyingModel(models.extract, steps))
    clock = FixedClock(DEFAULT_START + timedelta(seconds=seconds))
    store = open_store(database)
    dying = DyingStore(store, steps)
    memories = Memories.of(dying, "default", clock=clock, builtin_model=READER, language_models=models)
    memories.capture()
    while memories.read_due() is not None:
        pass
    memories.close()


def main(database: str, server: str) -> None:
    environment = {
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_GATE_MODEL": f"anthropic:claude-haiku-5-5@{server}",
        "HOLDFAST_EXTRACT_MODEL": f"anthropic:claude-sonnet-5-5@{server}",
        "HOLDFAST_MODEL_KEY": "sk-loopback-only",
        "HOLDFAST_DAILY_CAP": "none",
        "HOLDFAST_SESSION_CAP": "none",
    }
    for line in sys.stdin:
        step, seconds = line.split()
        child = os.fork()
        if not child:
            code = 1
            try:
                read_everything(database, environment, int(step), float(seconds))
                code = 0
            except Exception:  # broad: a forked child must end here, whatever happened
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        said = "killed" if killed else "done" if status == 0 else "failed"
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
