"""One stage of the speed benchmark, in a process of its own.

A process of its own, so that its memory can be told and nobody's threads and caches get into another's
figures. It says what it is at on standard output, a JSON object a line, and the figures at last.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.speed.corpus import Corpus
    from bench.speed.measuring import Figures
    from holdfast.client import Client
    from holdfast.engine.ports import Embedder, Store
    from holdfast.engine.space_context import SpaceContext

_SPACE = "bench"
_MEMORIES_ELSEWHERE = 5  # in each of the other spaces
_MOST_SLICED = 10_000  # messages that the background works on


@dataclass(frozen=True, slots=True)
class Stage:
    """What to measure (ours, slices, bulk, http or a peer), at which size, among how many spaces, where."""

    what: str
    size: int
    spaces: int
    folder: str
    rounds: int

    def command(self) -> list[str]:
        """What runs it."""
        program = f"from {__name__} import main; main()"
        return [sys.executable, "-c", program, json.dumps(asdict(self))]


def run(stage: Stage) -> "Figures":
    """The figures of a stage."""
    from bench.speed import measuring

    measuring.ROUNDS = stage.rounds
    if stage.what in ("ours", "floor"):
        # A product by several threads would look cheaper than it is: theirs are counted late, or elsewhere.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if stage.what == "ours":
        return _ours(stage)
    if stage.what == "slices":
        return _slices(stage)
    if stage.what == "bulk":
        return _bulk(stage)
    if stage.what == "http":
        return _over_http(stage)
    from bench.speed import peers

    return peers.measure(
        stage.what, corpus(), stage.size, Path(stage.folder), _filling(stage.what, stage.size)
    )


def _ours(stage: Stage) -> "Figures":
    from bench.speed import measuring
    from bench.speed.corpus import GeneratedEmbedder
    from bench.speed.cost import Cost
    from bench.speed.filling import fill
    from holdfast.app import wiring

    store, facts, embedder = wiring.open_store(f"{stage.folder}/holdfast.db"), corpus(), GeneratedEmbedder()
    try:
        ctx = _desk(store, _SPACE, embedder)
        fill(ctx, facts, stage.size, _filling("holdfast", stage.size))
        filled = measuring.Filled.of(ctx, facts, embedder, stage.size)
        _tell("recalling")
        figures = measuring.reading(filled)
        alone = Cost(figures["recall.without_reader.wall_ms"], figures["recall.without_reader.cpu_ms"])
        _tell("searching by vectors")
        figures |= measuring.vectors(filled)
        _tell("remembering")
        figures |= measuring.writing(filled)
        _tell("briefing")
        figures |= measuring.briefing(filled)
        if stage.spaces:
            _tell(f"making {stage.spaces:,} other spaces")
            _fill_others(stage.spaces, store, embedder)
            figures |= measuring.among_others(filled, alone)
        return figures
    finally:
        store.close()


def _slices(stage: Stage) -> "Figures":
    from bench.speed.filling import fill
    from bench.speed.slices import slices
    from holdfast.app import wiring
    from holdfast.engine.spaces import DEFAULT

    home = Path(stage.folder) / "background"
    home.mkdir(exist_ok=True)
    os.environ["HOLDFAST_HOME"] = str(home)
    size, facts = min(stage.size, _MOST_SLICED), corpus()
    store = wiring.open_store(f"{home}/holdfast.db")
    try:
        fill(_desk(store, DEFAULT, None), facts, size, _filling("a store to work on", size))
        return slices(store, facts, size, home, lambda name: _tell(f"working in the background: {name}"))
    finally:
        store.close()


def _bulk(stage: Stage) -> "Figures":
    from bench.speed import measuring
    from holdfast.app import wiring

    _tell(f"importing {stage.size} texts with their vectors")
    store = wiring.open_store(f"{stage.folder}/bulk.db")
    try:
        return measuring.bulk(_desk(store, _SPACE, wiring.open_embedder()), corpus(), stage.size)
    finally:
        store.close()


def _over_http(stage: Stage) -> "Figures":
    """The service in a process of its own, with the user's embedder."""
    from bench.speed import measuring

    home = Path(stage.folder) / "home"
    filled_home(home, stage.size, _filling("it", stage.size))
    _tell("asking the service")
    with serving(home) as (url, _), loaded(home, url) as client:
        return measuring.over_http(client.remember, client.recall, corpus(), stage.size)


def loaded(home: Path, url: str) -> "Client":
    """A client of a service that has loaded its models."""
    from holdfast.client import Client
    from holdfast.engine.spaces import DEFAULT

    client = Client(url, (home / "token").read_text(encoding="ascii").strip(), space=DEFAULT)
    client.recall(corpus().question(0))
    return client


def filled_home(home: Path, size: int, told: "Callable[[int], None]" = lambda done: None) -> None:
    """A home with so many memories in its default space; the service takes their vectors for its model's."""
    from bench.speed.corpus import GeneratedEmbedder
    from bench.speed.filling import fill
    from holdfast.app import wiring
    from holdfast.engine.spaces import DEFAULT

    home.mkdir(exist_ok=True)
    store = wiring.open_store(f"{home}/holdfast.db")
    try:
        embedder = GeneratedEmbedder(wiring.open_embedder())
        fill(_desk(store, DEFAULT, embedder), corpus(), size, told)
    finally:
        store.close()


@contextmanager
def serving(home: Path) -> "Iterator[tuple[str, int]]":
    """Where a service of that home listens and the id of its process, as long as the block lasts."""
    command = [
        sys.executable,
        "-m",
        "holdfast",
        "--db",
        f"{home}/holdfast.db",
        "serve",
        "--port",
        "0",
        "--json",
    ]
    environment = {**os.environ, "HOLDFAST_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"], process.pid
        finally:
            process.terminate()


def _fill_others(spaces: int, store: "Store", embedder: "Embedder") -> None:
    from bench.speed.filling import fill

    others = corpus(seed=1)
    for number in range(spaces):
        fill(_desk(store, f"other-{number}", embedder), others, _MEMORIES_ELSEWHERE)


def _desk(store: "Store", space: str, embedder: "Embedder | None") -> "SpaceContext":
    from holdfast.app import wiring
    from holdfast.engine.spaces import create_space

    if store.space(space) is None:
        create_space(space, store=store, clock=wiring.utc_now)
    return wiring.context_for(space, store, embedder=embedder)


def corpus(seed: int = 0) -> "Corpus":
    from bench.speed.corpus import Corpus
    from holdfast.profiles import built_in

    return Corpus(built_in("default").category_names, seed)


def _filling(what: str, size: int) -> "Callable[[int], None]":
    return lambda done: _tell(f"filling {what}: {done:,} of {size:,}")


def _tell(text: str) -> None:
    _say({"doing": text})


def _say(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Runs the stage that the first argument describes."""
    _say({"figures": run(Stage(**json.loads(sys.argv[1])))})
