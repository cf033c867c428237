"""A home that 0.1.0 left behind is taken over whole: store, clients, context file, unit and spool.

`home_0_1_0/` was written by that release: its commands connected four clients and a context file, printed
the unit, and a hook ran without a service. @HOME@ and @BIN@ stand for the paths of that machine.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents.hooks.captures import take_in
from holdfast.app import paths
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement
from tests.store.make_fixture import load

LEFT = Path(__file__).parent / "home_0_1_0"
PLUGIN = Path(__file__).parents[2] / "plugin"
REVISION = "0003"  # of the schema of 0.1.0
OWN = {  # what stood in these files before 0.1.0 was connected
    ".claude.json": '{"numStartups": 3}\n',
    ".codex/config.toml": '# mine\nmodel = "gpt-5"\n',
    ".gemini/settings.json": '{\n  "theme": "dark"\n}',
    "proj/AGENTS.md": "Use tabs.\n",
}
CONNECTED = [*OWN, ".claude/settings.json", ".codex/hooks.json", ".config/opencode/opencode.json"]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "CONFIG", "CACHE", "STATE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    home = Path.home()
    shutil.copytree(LEFT, home, dirs_exist_ok=True)
    for file in (home / left.relative_to(LEFT) for left in LEFT.rglob("*") if left.is_file()):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("@HOME@", str(home)).replace("@BIN@", "/opt/holdfast/bin"), "utf-8")
    _as_written(Path(paths.connections()))
    load(REVISION, Path(paths.home(), "holdfast.db"))
    monkeypatch.chdir(home / "proj")
    return home


def _as_written(connections: Path) -> None:
    """The hashes of the settings, which now name other paths."""
    noted = json.loads(connections.read_text(encoding="utf-8"))
    for change in (change for changes in noted.values() for change in changes):
        change["after"] = hashlib.sha256(Path(change["path"]).read_bytes()).hexdigest()
    connections.write_text(json.dumps(noted), encoding="utf-8")


@pytest.fixture
def shell(home: Path, clock: FixedClock) -> Shell:
    return Shell(str(Path(paths.home(), "holdfast.db")), clock)


@requirement("sem.upgrade")
def test_its_memories_are_there_and_its_clients_are_known(shell: Shell) -> None:
    status = shell.json("status")
    found = [memory["content"] for memory in shell.json("list")["memories"]]

    assert status["clients"] == ["Claude Code", "Codex", "Gemini CLI", "opencode"]
    assert "Ada likes green tea without milk 茶 🫖" in found


@requirement("sem.upgrade")
def test_disconnecting_leaves_its_users_files_as_they_were(home: Path, shell: Shell) -> None:
    shell.says("disconnect", "--all")

    for name in CONNECTED:
        file = home / name
        assert (file.read_text(encoding="utf-8") if file.exists() else None) == OWN.get(name), name


@requirement("sem.upgrade")
@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "opencode"])
def test_connecting_again_replaces_its_commands(home: Path, shell: Shell, client: str) -> None:
    shell.says("connect", client)

    changed = [Path(one["path"]) for one in json.loads(Path(paths.connections()).read_text())[client]]
    assert not [file for file in changed if "/opt/holdfast/bin" in file.read_text(encoding="utf-8")]

    shell.says("disconnect", client)

    left = {str(file.relative_to(home)): file.read_text() for file in changed if file.exists()}
    assert left == {name: text for name, text in OWN.items() if home / name in changed}


@requirement("sem.upgrade")
def test_what_its_hook_left_in_the_spool_is_taken_in(home: Path, shell: Shell) -> None:
    with Memories.open(shell.db) as memories:
        assert take_in(lambda _: memories) == 1

        with memories.store.read(memories.space) as tx:
            said = tx.sessions.messages("0aa0aa00-0000-4000-8000-000000000001")

    assert "Remember that the release branch is called trunk." in [message.content for message in said]
    assert list(Path(paths.spool()).iterdir()) == []


@requirement("sem.upgrade")
@pytest.mark.parametrize(
    ("file", "part"), [("hooks/hooks.json", "hooks"), (".claude-plugin/plugin.json", "mcpServers")]
)
def test_its_plugin_calls_what_is_still_there(home: Path, file: str, part: str) -> None:
    installed, ours = home / ".claude" / "plugins" / "holdfast" / file, PLUGIN / file

    assert json.loads(installed.read_text("utf-8"))[part] == json.loads(ours.read_text("utf-8"))[part]
