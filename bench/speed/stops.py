"""How long a service takes to stop in the midst of background work: `python -m bench.speed.stops`."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from bench.commands.stage import serving
from bench.speed.corpus import Corpus
from bench.speed.filling import fill
from bench.speed.slices import rollout, spooled
from holdfast import Memories
from holdfast.app import wiring
from holdfast.engine.ports import Store
from holdfast.engine.spaces import DEFAULT, create_space
from holdfast.language.sentences import MOST_CHARACTERS
from holdfast.profiles import built_in

MOMENTS = (0.0, 0.3, 1.0, 2.0, 4.0, 8.0)  # seconds after the service said that it listens
_SIZE = 1_500
_OLD = timedelta(days=170)


def stops(size: int = _SIZE, moments: Sequence[float] = MOMENTS) -> Iterator[tuple[str, list[float]]]:
    """The seconds from the signal to the end of the process, for each kind of work at each moment."""
    for name, prepare in WORK.items():
        with tempfile.TemporaryDirectory() as folder:
            home, template = Path(folder) / "home", Path(folder) / "template"
            home.mkdir(mode=0o700)
            _prepare(prepare, home, size)
            home.rename(template)
            took = []
            for moment in moments:
                shutil.copytree(template, home)
                took.append(_stopped_after(home, moment))
                shutil.rmtree(home)
            yield name, took


def _prepare(prepare: Callable[[Store, Path, list[str]], None], home: Path, size: int) -> None:
    os.environ["HOLDFAST_HOME"] = str(home)
    corpus = Corpus(built_in("default").category_names, 0)
    store = wiring.open_store(f"{home}/holdfast.db")
    try:
        create_space(DEFAULT, store=store, clock=wiring.utc_now)
        prepare(store, home, [corpus.fact(number).content for number in range(size)])
    finally:
        store.close()


def _transcript(store: Store, home: Path, texts: list[str]) -> None:
    spooled("codex", rollout(home, texts))


def _capture(store: Store, home: Path, texts: list[str]) -> None:
    memories = Memories.of(store, DEFAULT, embedder=None)
    said = "\n".join(texts)
    for start in range(0, len(said), MOST_CHARACTERS):
        memories.say("long", "user", said[start : start + MOST_CHARACTERS])
    memories.close_session("long")


def _vectors(store: Store, home: Path, texts: list[str]) -> None:
    corpus = Corpus(built_in("default").category_names, 0)
    fill(wiring.context_for(DEFAULT, store), corpus, len(texts))


def _files(store: Store, home: Path, texts: list[str]) -> None:
    create_space("notes", store=store, clock=wiring.utc_now, profile="files")
    Memories.of(store, "notes").bind_directory(str(home / "notes"))
    for number, text in enumerate(texts):
        (home / "notes" / f"note_{number}.md").write_text(f"{text}\n")


def _upkeep(store: Store, home: Path, texts: list[str]) -> None:
    def past() -> datetime:
        return wiring.utc_now() - _OLD

    create_space("ops", store=store, clock=past, profile="ops")
    corpus = Corpus(built_in("ops").category_names, 0)
    fill(wiring.context_for("ops", store, clock=past), corpus, len(texts))


WORK: Mapping[str, Callable[[Store, Path, list[str]], None]] = {
    "transcript": _transcript,
    "capture": _capture,
    "vectors": _vectors,
    "files": _files,
    "upkeep": _upkeep,
}


def _stopped_after(home: Path, moment: float) -> float:
    with serving(home):
        time.sleep(moment)
        began = time.monotonic()
    return time.monotonic() - began


def main() -> None:
    """Prints the stops of each kind of work, and the load of the machine."""
    for name, took in stops():
        figures = {name: [round(one, 2) for one in took], "load": round(os.getloadavg()[0], 1)}
        sys.stdout.write(f"{json.dumps(figures)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
