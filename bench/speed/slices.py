"""How long the work in the background keeps anybody waiting: the slices of each job of the service."""

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from bench.speed.corpus import Corpus
from bench.speed.measuring import Figures
from holdfast import Memories
from holdfast.agents.hooks import spool
from holdfast.agents.hooks.captures import take_in
from holdfast.app import wiring
from holdfast.app.space_registry import SpaceRegistry
from holdfast.engine.ports import Store
from holdfast.engine.spaces import DEFAULT, create_space
from holdfast.files.watcher import follow
from holdfast.language.sentences import MOST_CHARACTERS
from holdfast.web.service.background_tasks import SLICE, Chore, capture, upkeep, vectors

_MOST_FILES = 3_000
_LONG = 20  # messages of the greatest length that is read
_PATIENCE = 60.0  # seconds of the processor for one job: after that its slices are known well enough
_NOTES = "notes"
_AT = 1_790_000_000_000  # milliseconds
_OPENCODE = """
    CREATE TABLE project (id text PRIMARY KEY, worktree text);
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer,
                          data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, data text);
    CREATE INDEX part_message ON part (message_id);
    CREATE INDEX message_session ON message (session_id);
"""


def slices(store: Store, corpus: Corpus, size: int, folder: Path, told: Callable[[str], None]) -> Figures:
    """The longest slice of each job, with the median and the 99th percentile, in milliseconds.

    There are `size` messages or files to work on; the home has to be a throw-away one.
    """
    create_space(_NOTES, store=store, clock=wiring.utc_now, profile="files")
    registry = SpaceRegistry(str(folder / "holdfast.db"))
    list(registry.warm_up())  # loads the models, as a service does when it starts
    memories = Memories.of(store, DEFAULT, embedder=registry.embedder)
    spaces = (lambda: [DEFAULT], lambda name: memories)
    texts = [corpus.fact(number).content for number in range(size)]
    figures: Figures = {}

    def measure(name: str, chore: Chore) -> None:
        told(name)
        took = sorted(durations(chore))
        figures[f"slice.{name}_ms"] = took[-1]
        figures[f"slice.{name}.p99_ms"] = took[int(0.99 * (len(took) - 1))]
        figures[f"slice.{name}.median_ms"] = took[len(took) // 2]

    def reads(time_up: Callable[[], bool]) -> bool:
        return take_in(lambda space: memories, time_up=time_up) > 0

    spooled("codex", rollout(folder, texts))
    measure("transcript", reads)
    spooled("opencode", _opencode(folder, texts))
    measure("opencode", reads)
    measure("capture", capture(*spaces, lambda project, session: None))
    said = "\n".join(texts)
    for number in range(_LONG):
        memories.say("long", "user", said[number * MOST_CHARACTERS // 2 :][:MOST_CHARACTERS])
    memories.close_session("long")
    measure("long_messages", capture(*spaces, lambda project, session: None))
    measure("vectors", vectors(*spaces))
    notes = folder / "notes"
    Memories.of(store, _NOTES).bind_directory(str(notes))
    files = [notes / f"note_{number}.md" for number in range(min(size, _MOST_FILES))]
    for file, text in zip(files, texts, strict=False):
        file.write_text(f"{text}\n")
    measure("new_files", follow(lambda: store))
    for file in files[1:]:
        file.unlink()
    measure("gone_files", follow(lambda: store))
    wiring.brief_files(store).keep(DEFAULT, None)
    measure("briefs", wiring.brief_files(store).refresh)
    measure("upkeep", upkeep(*spaces))
    return figures


def durations(chore: Chore) -> list[float]:
    """Milliseconds that each slice of a chore takes, until there is nothing more to do.

    Processor time of all threads, as on a quiet machine: what else runs there is no fault of the chore.
    """
    took, more = [], True
    ends = time.process_time() + _PATIENCE
    while more and time.process_time() < ends:
        began = time.process_time()
        more = chore(lambda: time.process_time() - began >= SLICE)  # noqa: B023
        took.append(1_000 * (time.process_time() - began))
    return took


def spooled(client: str, transcript: Path) -> None:
    noted = {"session_id": client, "transcript_path": str(transcript), "client": client, "offset": 0}
    spool.put(spool.entry_of("Stop", noted))


def rollout(folder: Path, texts: list[str]) -> Path:
    lines: list[object] = [{"type": "session_meta", "payload": {"id": "codex", "cwd": str(folder)}}]
    for text in texts:
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        lines.append({"type": "response_item", "payload": said})
    path = folder / "rollout.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def _opencode(folder: Path, texts: list[str]) -> Path:
    path = folder / "opencode.db"
    with sqlite3.connect(path) as made:
        made.executescript(_OPENCODE)
        made.execute("INSERT INTO session VALUES ('opencode', NULL, ?, 'Talk')", (str(folder),))
        for number, text in enumerate(texts):
            at = _AT + number * 1_000
            made.execute(
                "INSERT INTO message VALUES (?, 'opencode', ?, ?, ?)",
                (f"m{number:09}", at, _AT, json.dumps({"role": "user"})),
            )
            part = json.dumps({"type": "text", "text": text})
            made.execute("INSERT INTO part VALUES (?, ?, ?)", (f"p{number:09}", f"m{number:09}", part))
    made.close()
    return path
