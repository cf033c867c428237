"""Kills a process at the n-th statement of a migration.

Run as `python -m tests.store.killed_migration FOLDER STEP [REVISION MIGRATIONS]`. Forks one process for each
n that opens a new file, or one of a revision, and dies at its n-th statement; then opens that file as anybody
would. Prints for each n whether it died, and what opening said.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from sqlalchemy import Engine, event

import holdfast.store.database  # noqa: F401  - imported late by the product, early here
from holdfast import Memories
from holdfast.store import migrate
from tests.store.make_fixture import load

MOST = 500  # statements; a migration has fewer


def die_at(statement: int) -> None:
    seen = 0

    @event.listens_for(Engine, "before_cursor_execute")
    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)


def killed(file: Path, statement: int) -> bool:
    pid = os.fork()
    if pid == 0:
        die_at(statement)
        Memories.open(str(file)).close()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def opened(file: Path) -> str:
    try:
        with Memories.open(str(file)) as memories:
            memories.remember("A note after the kill", subject="later")
            return f"{memories.find().total} memories"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main(folder: Path, step: int, revision: str | None) -> None:
    from alembic import command  # noqa: F401  - so that the forked ones need not

    told = []
    for statement in range(1, MOST, step):
        file = folder / f"killed-{statement}.db"
        if revision:
            load(revision, file)
        died = killed(file, statement)
        told.append((died, opened(file)))
        if not died:
            break
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 3:  # a release after this one, in a folder of its own
        migrate._HERE, migrate.HEAD = Path(sys.argv[4]), "9001"
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
