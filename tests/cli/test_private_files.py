"""Every file that holds what was said is readable by its owner only, whatever the umask is."""

from __future__ import annotations

import os
import stat
from io import BytesIO
from pathlib import Path

import pytest
from starlette.datastructures import UploadFile

from holdfast.agents import capture_off, context_files
from holdfast.agents.hooks import spool
from holdfast.agents.run.agents import PromptFile
from holdfast.app import paths
from holdfast.app.wiring import brief_files, restore_copy
from holdfast.cli import service_process
from holdfast.engine.memories import Memories
from holdfast.testing import FixedClock
from holdfast.web.dashboard import import_page
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement
from tests.store.test_continuous_copy import following

pytestmark = pytest.mark.usefixtures("no_umask")


def mode(path: str | Path | int) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def open_to_others(root: Path) -> dict[str, str]:
    """The files below a folder that others may do anything with."""
    return {
        str(path.relative_to(root)): oct(mode(path))
        for path in root.rglob("*")
        if path.is_file() and mode(path) & 0o077
    }


@requirement("trust.private-files")
def test_the_store_its_copies_exports_and_backups_are_private(tmp_path: Path, clock: FixedClock) -> None:
    root = tmp_path / "all"
    root.mkdir()
    database, copy = root / "home" / "holdfast.db", root / "copy"
    shell = Shell(str(database), clock)
    with following(database, copy) as follower:
        shell.remembers("Lives in Lisbon")
        with Memories.open(str(database)):
            follower.step()
            assert {"holdfast.db-wal", "holdfast.db-shm"} <= {path.name for path in database.parent.iterdir()}
            assert open_to_others(root) == {}

    shell.says("export", str(root / "export.jsonl"))
    shell.says("backup", str(root / "backup.gz"))
    Shell(str(root / "other.db"), clock).says("backup", str(root / "backup.gz"), "--restore")
    restore_copy(str(copy), str(root / "restored.db"))
    shell.says("files", "init", str(root / "notes"))

    assert {"export.jsonl", "backup.gz", "other.db", "restored.db", "notes"} <= set(os.listdir(root))
    assert len(list(copy.rglob("*.gz"))) == 1
    assert (database.parent / "holdfast.db-copy").exists()
    assert open_to_others(root) == {}


@requirement("trust.private-files")
def test_what_is_kept_for_agents_is_private(tmp_path: Path) -> None:
    with Memories.open(paths.database()) as memories:
        memories.remember("Lives in Lisbon", category="fact")
        briefs = brief_files(memories.store)
        briefs.keep("default", "website")
        briefs.refresh()
    spool.put(spool.entry_of("Stop", {"session_id": "s1", "transcript_path": "/tmp/t"}))
    spool.write_log("Stop", "no service")
    capture_off.switch(off=True, everywhere=True)
    file = tmp_path / "AGENTS.md"
    context_files.write(
        context_files.context_file(file, db="x", space="default", project=None), "- Lives in Lisbon\n"
    )

    with PromptFile("x" * 1_000_000) as prompt, service_process._log() as log:
        assert mode(prompt.in_file("- Lives in Lisbon")) == 0o600
        assert mode(log) == 0o600
    assert Path(paths.brief_file("default", "website")).read_text()
    assert Path(paths.hook_log()).exists()
    assert len(spool.waiting()) == 1
    assert open_to_others(Path(paths.home())) == {}
    assert mode(file) == 0o600


@requirement("trust.private-files")
def test_a_file_that_a_browser_sends_is_private() -> None:
    folder = import_page._stored(UploadFile(BytesIO(b"Lives in Lisbon")), import_page.ImportRun("notes.txt"))

    assert (folder / "notes.txt").read_bytes() == b"Lives in Lisbon"
    assert mode(folder / "notes.txt") == 0o600
    (folder / "notes.txt").unlink()
    folder.rmdir()
