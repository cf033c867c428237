"""doctor also checks the package, service, clients, hooks, disk and clock, and repairs what it can."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.agents.hooks.service import Lost, NotRunning, Slow, Unusable
from holdfast.app import paths
from holdfast.app.wiring import try_embedder
from holdfast.models import own_models
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.models.specs import OWN
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


def _announce(pid: int, url: str = "http://127.0.0.1:9") -> None:
    paths.write_private(paths.service_file(), json.dumps({"url": url, "pid": pid}).encode())


def _ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def _install(site: Path, name: str) -> None:
    """The metadata of a distribution that has a file in `site`/holdfast."""
    folder = site / f"{name.replace('-', '_')}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "RECORD").write_text(f"holdfast/__init__.py,,\n{folder.name}/METADATA,,\n")


def test_doctor_says_that_another_distribution_is_in_the_package_folder(
    sqlite_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast").symlink_to(Path(holdfast.__file__).parent)
    monkeypatch.syspath_prepend(tmp_path)
    _install(tmp_path, "holdfast-memory")

    alone = sqlite_shell("doctor")
    _install(tmp_path, "holdfast")
    together = sqlite_shell("doctor")

    assert "package folder" not in alone.stdout
    assert together.exit_code == 1
    assert (
        "problem: the package folder also holds files of holdfast\n"
        "  uninstall both and install holdfast-memory" in together.stdout
    )


def test_another_distribution_with_a_folder_of_its_own_is_no_problem(
    sqlite_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    _install(tmp_path, "holdfast")

    assert "package folder" not in sqlite_shell("doctor").stdout


def test_doctor_says_that_no_service_runs(sqlite_shell: Shell) -> None:
    assert "note: the service is not running\n  start it with `holdfast up`" in sqlite_shell("doctor").stdout


def test_doctor_says_that_the_service_died(sqlite_shell: Shell) -> None:
    _announce(_ended_process())

    result = sqlite_shell("doctor")

    assert result.exit_code == 1
    assert "problem: the service crashed" in result.stdout


def test_doctor_says_that_the_service_does_not_answer(sqlite_shell: Shell) -> None:
    _announce(os.getppid())

    result = sqlite_shell("doctor")

    assert result.exit_code == 1
    assert "problem: the service at http://127.0.0.1:9" in result.stdout
    assert "does not answer" in result.stdout


@pytest.mark.parametrize("failure", [NotRunning, Slow, Unusable, Lost, OSError])
def test_doctor_says_what_hooks_failed_with_lately(sqlite_shell: Shell, failure: type[Exception]) -> None:
    at = sqlite_shell.clock.now()
    lines = (
        f"2020-01-01T00:00:00+0000 SessionStart {failure.__name__}: an old one",
        f"{at:%Y-%m-%dT%H:%M:%S}+0000 Stop {failure.__name__}: no answer in time",
        f"{at:%Y-%m-%dT%H:%M:%S}+0000 Stop redacted 1 secret",
    )
    paths.make_folder(paths.home())
    Path(paths.hook_log()).write_text("\n".join(lines) + "\n")

    said = sqlite_shell("doctor").stdout

    assert (
        f"hooks failed once in the last 24 hours; last error: {failure.__name__}: no answer in time" in said
    )


@pytest.mark.parametrize(
    ("words", "title", "file"),
    [("codex", "Codex", "~/.codex/hooks.json"), ("cursor --scope project", "Cursor", ".cursor/mcp.json")],
)
@pytest.mark.parametrize("change", ["removed", "emptied", "moved command", "nothing"])
def test_doctor_says_that_a_connected_client_lost_its_connection(
    sqlite_shell: Shell,
    change: str,
    words: str,
    title: str,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    sqlite_shell("connect", *words.split())
    settings = Path(file).expanduser()
    text = settings.read_text()
    if change == "removed":
        settings.unlink()
    elif change == "emptied":
        settings.write_text("{}")
    elif change == "moved command":
        settings.write_text(text.replace("/bin/holdfast", "/moved/holdfast"))

    said = sqlite_shell("doctor").stdout

    assert (f"problem: {title}: " in said) == (change != "nothing")
    assert (f"run `holdfast connect {words}` again" in said) == (change != "nothing")
    sqlite_shell("disconnect", *words.split())


def test_doctor_says_that_a_plugin_is_no_longer_where_a_client_loads_it(sqlite_shell: Shell) -> None:
    sqlite_shell("connect", "opencode")
    settings = Path(os.environ["XDG_CONFIG_HOME"]) / "opencode" / "opencode.json"
    well = sqlite_shell("doctor").stdout
    settings.write_text(
        settings.read_text().replace("/agents/connect/opencode.js", "/doors/connect/opencode.js")
    )

    said = sqlite_shell("doctor").stdout

    assert "problem: opencode: " not in well
    assert "/holdfast/doors/connect/opencode.js, which does not exist" in said
    assert "run `holdfast connect opencode` again" in said
    sqlite_shell("disconnect", "opencode")


def test_doctor_says_that_the_clock_is_far_ahead(sqlite_shell: Shell) -> None:
    sqlite_shell.remembers("Lives in Lisbon")
    sqlite_shell.clock.advance(days=400)

    said = sqlite_shell("doctor").stdout

    assert "note: the clock is 400 days after the newest change of space 'default'" in said
    assert "`holdfast tend --clock-is-right --space default`" in said


@requirement("trust.repair")
def test_doctor_names_damage_and_repairs_it(sqlite_shell: Shell) -> None:
    import sqlite3

    path = sqlite_shell.db.removeprefix("sqlite:///")
    os.chmod(path, 0o600)
    known = sqlite_shell.remembers("Lives in Lisbon")
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("DELETE FROM memory_words")
        connection.execute("UPDATE memories SET content = 'Lives in Berlin'")
    connection.close()

    broken = sqlite_shell("doctor")
    refused = sqlite_shell("backup", f"{path}.gz")
    repaired = sqlite_shell("doctor", "--repair")

    assert broken.exit_code == 1
    assert f"problem: 1 damaged text in space 'default': {known} version 1" in broken.stdout
    assert "problem: 1 wrong entry in the word index of space 'default'" in broken.stdout
    assert refused.exit_code != 0
    assert "has damaged texts" in refused.output
    assert not Path(f"{path}.gz").exists()
    assert repaired.exit_code == 0
    assert "repaired: space default: 1 text, 1 word index entry\n" in repaired.stdout
    assert "Lives in Lisbon" in sqlite_shell.says("recall", "Lisbon")
    assert sqlite_shell("backup", f"{path}.gz").exit_code == 0


def test_a_missing_model_file_is_a_problem(
    sqlite_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_EMBEDDER", OWN)
    monkeypatch.setattr(own_models, "_packaged", lambda _: tmp_path / "model.onnx")

    seen = sqlite_shell("doctor")

    assert seen.exit_code == 1
    assert "model.onnx does not exist" in seen.stdout


def test_a_model_file_that_was_taken_from_a_running_service_is_a_problem(tmp_path: Path) -> None:
    (copied := tmp_path / own_models.FILE).write_bytes(own_models.find(own_models.EMBEDDER).read_bytes())
    embedder = BuiltinEmbedder(str(tmp_path))
    before = try_embedder(embedder)
    copied.unlink()

    assert before is None
    assert f"{copied} does not exist" in (try_embedder(embedder) or "")
