"""A warm parent of processes that work on a bound space until they are killed.

Run as `python -m tests.files.doomed DATABASE SPACE LEDGER`. Each line on standard input, a number, forks one
process and is answered by its process id once it has opened the database.

It notes what it is about to do before each verb, and that it was done after the verb returned. A text is
`item TOKEN vVERSION`: whatever else becomes of it, it must be found once, in the version that was last noted.
"""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
from itertools import count
from pathlib import Path
from typing import NoReturn

import holdfast.files.bindings
import holdfast.store.database  # noqa: F401  - imported late by the product, early here
from holdfast import Memories
from holdfast.files.verbs import FileEntry


def text_of(token: str, version: int) -> str:
    return f"item {token} v{version}"


class Ledger:
    """What was begun, and what was done."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, **line: object) -> None:
        os.write(self._descriptor, f"{json.dumps(line)}\n".encode())


def work(memories: Memories, ledger: Ledger, number: int) -> None:
    """Remembers, changes, moves and deletes, one after the other, without end."""
    chance = random.Random(number)
    for step in count():
        token = f"w{number}x{step}"
        held = memories.files() if step else []
        kind = chance.choice(["remember", "put", "write", "move", "delete"]) if len(held) > 20 else "remember"
        if kind in ("remember", "put"):
            ledger.note(token=token, version=1)
            if kind == "remember":
                memories.remember(text_of(token, 1), category="user", subject=f"Name {token}")
            else:
                memories.put_file(f"{token}.md", f"{text_of(token, 1)}\n", new=True)
        else:
            _change(memories, ledger, chance.choice(held), kind, f"{number}_{step}", step)
        ledger.note(done=True)


def _change(memories: Memories, ledger: Ledger, entry: FileEntry, kind: str, name: str, step: int) -> None:
    _, token, version = memories.file(entry.path).content.split()
    if kind == "write":
        new = int(version[1:]) + 1
        ledger.note(token=token, version=new)
        memories.write_file(entry.path, text_of(token, new))
    elif kind == "move":
        ledger.note(token=token, version=int(version[1:]))
        memories.rename_file(entry.path, f"{('', 'deep/', 'deep/er/')[step % 3]}moved_{token}_{name}.md")
    else:
        ledger.note(token=token, version=None)
        memories.delete_file(entry.path)


def live(database: str, space: str, ledger: Path, number: int, ready: int) -> NoReturn:
    """The whole life of a forked process."""
    try:
        with Memories.open(database, space) as memories:
            os.write(ready, b"r")
            os.close(ready)
            work(memories, Ledger(ledger), number)
    except BaseException:
        ledger.with_suffix(".errors").write_text(traceback.format_exc())
    os._exit(1)


def main(database: str, space: str, ledger: Path) -> None:
    for request in sys.stdin:
        answer, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(answer)
            live(database, space, ledger, int(request), ready)
        os.close(ready)
        os.read(answer, 1)  # ready, or dead
        os.close(answer)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        os.waitpid(pid, 0)
        sys.stdout.write("gone\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
