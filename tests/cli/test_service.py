"""service: units that can be printed, installed by the machine's service manager, and taken back."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli import service_unit
from holdfast.settings import carried
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

UNIT_OF_0_1_0 = Path(__file__).parents[1] / "app/home_0_1_0/.config/systemd/user/holdfast.service"
AWKWARD = 'a "quoted" $HOME %h <&> back\\slash @command@ é'
#: Notes down what it is asked, and does as the file `answers` says.
MANAGER = """\
#!/bin/sh
printf '%s\\n' "$*" >> {log}
[ -e {failing} ] || exit 0
if printf '%s' "$*" | grep -q "$(cat {failing})"; then echo "no such thing" >&2; exit 1; fi
"""


class Manager:
    """A service manager that only takes notes."""

    def __init__(self, folder: Path, name: str) -> None:
        self.log = folder / "asked.txt"
        self.failing = folder / "failing.txt"
        folder.mkdir()
        program = folder / name
        program.write_text(MANAGER.format(log=self.log, failing=self.failing), encoding="utf-8")
        program.chmod(0o755)

    def asked(self) -> list[str]:
        said = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return said


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    made = Manager(tmp_path / "bin", "systemctl")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return made


def unit_file() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "systemd", "user", "holdfast.service")


# ------------------------------------------------------------------------------------------------------ print


@requirement("sem.service")
def test_a_systemd_unit_is_printed_that_systemd_itself_takes(sqlite_shell: Shell, tmp_path: Path) -> None:
    printed = sqlite_shell.says("service", "print", "--for", "systemd")

    file = tmp_path / "holdfast.service"
    file.write_text(printed, encoding="utf-8")
    assert "[Service]" in printed
    database = sqlite_shell.db.removeprefix("sqlite:///")
    assert f'Environment="HOLDFAST_DB={database}"' in printed
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze here")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "verify", "--user", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@requirement("sem.service")
def test_a_launchd_agent_is_printed_that_reads_as_it_was_meant(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", f"/tmp/{AWKWARD}")

    printed = sqlite_shell.says("service", "print", "--for", "launchd")

    agent = plistlib.loads(printed.encode())
    assert agent["ProgramArguments"] == service_unit.serve_command()
    assert agent["EnvironmentVariables"]["HOLDFAST_HOME"] == f"/tmp/{AWKWARD}"
    assert agent["StandardErrorPath"] == f"/tmp/{AWKWARD}/service.log"
    assert (agent["Label"], agent["RunAtLoad"], agent["Umask"]) == ("holdfast", True, 0o077)


def test_awkward_paths_are_escaped_for_systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", f"/tmp/{AWKWARD}")

    text = service_unit.unit("systemd", carried()).text

    expected = 'a \\"quoted\\" $HOME %%h <&> back\\\\slash @command@ é'
    assert f'Environment="HOLDFAST_HOME=/tmp/{expected}"\n' in text


def test_the_program_is_called_by_its_full_path_and_starts(tmp_path: Path) -> None:
    command = service_unit.serve_command()

    done = subprocess.run([*command, "--help"], cwd=tmp_path, capture_output=True, text=True)

    assert os.path.isabs(command[0])
    assert "Run the service" in done.stdout


def test_without_its_script_the_program_is_no_folder_that_happens_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impostor = tmp_path / "holdfast"
    impostor.mkdir()
    (impostor / "__main__.py").write_text("raise SystemExit('an impostor')", encoding="utf-8")
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    command = service_unit.serve_command()

    done = subprocess.run([*command, "--help"], cwd=tmp_path, capture_output=True, text=True)

    assert command[0] == sys.executable
    assert (done.returncode, "Run the service" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize(
    "url", ["postgresql://me:secret@host/db", "postgresql://host/db?user=me&password=secret"]
)
@requirement("trust.secrets")
def test_a_password_does_not_go_into_a_unit(sqlite_shell: Shell, url: str) -> None:
    result = sqlite_shell("service", "print", "--db", url)

    assert result.exit_code == 1
    assert "put it in ~/.pgpass" in result.stderr
    assert "secret" not in result.output


def test_a_database_named_by_a_short_path_is_found_by_the_service_too(
    sqlite_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    printed = sqlite_shell.says("service", "print", "--for", "systemd", "--db", "mine.db", "--space", "work")

    assert f'"HOLDFAST_DB={tmp_path / "mine.db"}"' in printed
    assert '"HOLDFAST_SPACE=work"' in printed


# ---------------------------------------------------------------------------------------------------- install


@requirement("sem.service")
def test_a_unit_is_installed_started_and_taken_back(sqlite_shell: Shell, manager: Manager) -> None:
    installed = sqlite_shell.json("service", "install", "--for", "systemd")
    asked = manager.asked()
    text = unit_file().read_text(encoding="utf-8")
    again = sqlite_shell.json("service", "install", "--for", "systemd")
    manager.asked()
    removed = sqlite_shell.json("service", "uninstall", "--for", "systemd")

    assert (installed["outcome"], installed["path"]) == ("installed", str(unit_file()))
    assert text == sqlite_shell.says("service", "print", "--for", "systemd")
    assert asked[-2:] == ["--user daemon-reload", "--user enable --now holdfast.service"]
    assert again["outcome"] == "unchanged"
    assert removed["removed"] is True
    assert manager.asked() == ["--user disable --now holdfast.service", "--user daemon-reload"]
    assert not unit_file().exists()
    assert sqlite_shell.says("service", "uninstall", "--for", "systemd") == "Not installed\n"


def test_a_changed_unit_is_replaced(sqlite_shell: Shell, manager: Manager) -> None:
    sqlite_shell.says("service", "install", "--for", "systemd")

    again = sqlite_shell.json("service", "install", "--for", "systemd", "--space", "work")

    assert again["outcome"] == "updated"
    assert "HOLDFAST_SPACE=work" in unit_file().read_text(encoding="utf-8")
    assert unit_file().stat().st_mode & 0o777 == 0o600
    assert "--user disable --now holdfast.service" in manager.asked()


@requirement("sem.upgrade")
@pytest.mark.parametrize(("verb", "outcome"), [("install", "updated"), ("uninstall", None)])
def test_the_unit_of_0_1_0_is_replaced_and_removed_as_our_own(
    sqlite_shell: Shell, manager: Manager, verb: str, outcome: str | None
) -> None:
    unit_file().parent.mkdir(parents=True)
    shutil.copyfile(UNIT_OF_0_1_0, unit_file())

    said = sqlite_shell.json("service", verb, "--for", "systemd")

    assert said.get("outcome") == outcome
    assert unit_file().exists() == (verb == "install")
    assert verb == "uninstall" or "@BIN@" not in unit_file().read_text(encoding="utf-8")


def test_a_dry_run_says_everything_and_does_nothing(sqlite_shell: Shell, manager: Manager) -> None:
    said = sqlite_shell.says("service", "install", "--for", "systemd", "--dry-run")

    assert f"Would write {unit_file()}:" in said
    assert "systemctl --user enable --now holdfast.service" in said
    assert not unit_file().exists()
    assert manager.asked() == []


@pytest.mark.parametrize("failing", ["show-environment", "enable"])
def test_where_the_service_manager_fails_nothing_is_left(
    sqlite_shell: Shell, manager: Manager, failing: str
) -> None:
    manager.failing.write_text(failing, encoding="utf-8")

    result = sqlite_shell("service", "install", "--for", "systemd")

    assert result.exit_code == 3
    assert "no such thing" in result.stderr
    assert not unit_file().exists()


def test_an_update_that_fails_leaves_the_unit_as_it_was(sqlite_shell: Shell, manager: Manager) -> None:
    sqlite_shell.says("service", "install", "--for", "systemd")
    before = unit_file().read_text(encoding="utf-8")
    manager.failing.write_text("enable", encoding="utf-8")

    result = sqlite_shell("service", "install", "--for", "systemd", "--space", "work")

    assert result.exit_code == 3
    assert unit_file().read_text(encoding="utf-8") == before


def test_somebody_elses_file_is_left_alone(sqlite_shell: Shell, manager: Manager) -> None:
    unit_file().parent.mkdir(parents=True)
    unit_file().write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")

    installed = sqlite_shell("service", "install", "--for", "systemd")
    removed = sqlite_shell("service", "uninstall", "--for", "systemd")

    assert (installed.exit_code, removed.exit_code) == (1, 1)
    assert "was not written by Holdfast" in installed.stderr
    assert unit_file().read_text(encoding="utf-8") == "[Service]\nExecStart=/bin/true\n"
    assert manager.asked() == []


def test_without_a_service_manager_the_way_out_is_named(
    sqlite_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    result = sqlite_shell("service", "install", "--for", "launchd")

    assert result.exit_code == 3
    assert re.search(
        r"launchctl not found; `\S*holdfast up` starts the service in the background", result.stderr
    )


def test_the_status_tells_that_nothing_runs(sqlite_shell: Shell) -> None:
    result = sqlite_shell("service", "status", "--json")

    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (told["running"], told["url"], told["installed"]) == (False, None, False)


@pytest.mark.parametrize("word", ["start", "restart"])
def test_who_wants_to_start_the_service_is_told_what_does(sqlite_shell: Shell, word: str) -> None:
    refused = sqlite_shell("service", word)

    assert refused.exit_code == 2
    assert f"unknown command '{word}': `holdfast up` starts the service" in refused.stderr
