"""Connecting clients: what is written, and that disconnecting leaves every byte as it was."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from holdfast.agents.connect.clients import CLIENTS, Scope
from holdfast.agents.connect.connection import ClientConnection
from holdfast.app import client_setup, paths
from holdfast.errors import Conflict, Invalid, Unavailable
from tests.requirements_ledger import requirement

EVERY = [(client.name, scope) for client in CLIENTS.values() for scope in client.scopes]

OTHERS_HOOK = {"matcher": "*", "hooks": [{"type": "command", "command": "/usr/bin/say done"}]}
#: Settings as they may be found; none means that there is no file.
JSON: dict[str, str | None] = {
    "absent": None,
    "empty file": "",
    "empty object": "{}",
    "blank object": "{ }\n",
    "other settings": '{\n    "theme": "dark",\n    "n": [1,2 ,3]\n}',
    "one line": '{"theme":"dark","mcpServers":{"x":{"command":"y"}},"mcp":{}}',
    "hooks of others": json.dumps({"hooks": {"Stop": [OTHERS_HOOK], "SessionStart": []}}, indent="\t")
    + "\n\n",
    "comments": '// mine\n{\n  "theme": "dark", /* yes */\n  "hooks": {}, // none\n}\n',
    "windows": '{\r\n  "theme": "dark"\r\n}\r\n',
}
TOML: dict[str, str | None] = {
    "absent": None,
    "empty file": "",
    "other settings": 'model = "x"\n\n[features]\nhooks = true # yes\n',
    "no last line break": 'model = "x"',
    "windows": 'model = "x"\r\n',
}


@pytest.fixture
def home() -> Path:
    return Path.home()


@pytest.fixture(params=EVERY, ids=lambda each: "-".join(each))
def connection(request: pytest.FixtureRequest, project: Path) -> ClientConnection:
    name, scope = request.param
    return client_setup.connection(name, scope=scope)


def files_of(connection: ClientConnection) -> list[Path]:
    return [change.path for change in connection.connecting()]


def fill(path: Path, content: str | None) -> None:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def all_files(*folders: Path) -> dict[str, bytes | None]:
    """Every file and folder below, but for our own data."""
    ours = Path(paths.home())
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if not path.is_relative_to(ours) and path not in ours.parents
    }


def read(path: Path) -> Any:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


# ----------------------------------------------------------------------------------- there and back again


@requirement("sem.tap.hooks")
@pytest.mark.parametrize("found", sorted({*JSON, *TOML}))
def test_connecting_twice_and_disconnecting_leaves_every_byte_as_it_was(
    connection: ClientConnection, found: str, home: Path, project: Path
) -> None:
    for path in files_of(connection):
        fill(path, (TOML if path.suffix == ".toml" else JSON).get(found))
    before = all_files(home, project)

    first = connection.connect()
    connected = all_files(home, project)
    second = connection.connect()

    assert all(change.needed for change in first)
    assert not any(change.needed for change in second)
    assert all_files(home, project) == connected

    connection.disconnect()

    assert all_files(home, project) == before
    assert connection.backups() == []
    assert not list(Path(paths.home()).rglob("*.json"))


@requirement("sem.tap.hooks")
def test_what_others_changed_meanwhile_stays_and_ours_goes(
    connection: ClientConnection, home: Path, project: Path
) -> None:
    for path in files_of(connection):
        fill(path, TOML["other settings"] if path.suffix == ".toml" else JSON["hooks of others"])
    connection.connect()
    for path in files_of(connection):
        text = path.read_text()
        if path.suffix == ".toml":
            path.write_text(f'{text}\n[later]\nadded = "by a program"\n')
        else:
            path.write_text(text.replace('"Stop": [', '"Stop": [\n\t\t\t{"hooks": []},', 1))

    connection.disconnect()

    for path in files_of(connection):
        if path.suffix == ".toml":
            assert path.read_text() == f'{TOML["other settings"]}\n[later]\nadded = "by a program"\n'
        else:
            expected = (JSON["hooks of others"] or "").replace(
                '"Stop": [', '"Stop": [\n\t\t\t{"hooks": []},', 1
            )
            assert path.read_text() == expected


def test_a_file_of_ours_that_others_use_by_now_stays(connection: ClientConnection) -> None:
    connection.connect()
    for path in files_of(connection):
        text = path.read_text()
        path.write_text(
            f"mine = 1\n{text}" if path.suffix == ".toml" else text.replace("{", '{"mine": 1,', 1)
        )

    connection.disconnect()

    assert [read(path) for path in files_of(connection)] == [{"mine": 1} for _ in files_of(connection)]


def test_without_the_record_exactly_our_entries_go(connection: ClientConnection) -> None:
    for path in files_of(connection):
        fill(path, TOML["other settings"] if path.suffix == ".toml" else JSON["other settings"])
    before = [read(path) for path in files_of(connection)]
    connection.connect()
    Path(paths.connections()).write_text("rubbish")

    connection.disconnect()

    assert [read(path) for path in files_of(connection)] == before


def test_an_installation_that_moved_is_written_anew_and_the_first_copy_counts(
    connection: ClientConnection, monkeypatch: pytest.MonkeyPatch, home: Path, project: Path
) -> None:
    for path in files_of(connection):
        fill(path, TOML["other settings"] if path.suffix == ".toml" else JSON["hooks of others"])
    before = all_files(home, project)
    connection.connect()
    monkeypatch.setattr(client_setup, "command_path", lambda name: f"/opt/new place/bin/{name}")
    moved = client_setup.connection(connection.client.name, scope=connection.setup.scope)

    changed = moved.connect()

    assert all(change.needed for change in changed)
    assert all(b"new place" in path.read_bytes() for path in files_of(moved))
    texts = "".join(path.read_text() for path in files_of(moved))
    assert texts.count("holdfast-hook") == sum(
        "hook" in line for line in texts.splitlines() if "new place" in line
    )
    moved.disconnect()
    assert all_files(home, project) == before


def test_disconnecting_what_is_not_connected_changes_nothing(
    connection: ClientConnection, home: Path, project: Path
) -> None:
    for path in files_of(connection):
        fill(path, TOML["other settings"] if path.suffix == ".toml" else JSON["hooks of others"])
    before = all_files(home, project)

    changes = connection.disconnect()

    assert not any(change.needed for change in changes)
    assert all_files(home, project) == before


def test_a_linked_settings_file_stays_a_link(connection: ClientConnection, tmp_path: Path) -> None:
    links = files_of(connection)
    for number, link in enumerate(links):
        real = tmp_path / "dotfiles" / f"{number}{link.suffix}"
        fill(real, TOML["other settings"] if link.suffix == ".toml" else JSON["other settings"])
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(real)
    before = all_files(tmp_path / "dotfiles")

    connection.connect()
    assert all(link.is_symlink() for link in links)
    assert all_files(tmp_path / "dotfiles") != before
    connection.disconnect()

    assert all(link.is_symlink() for link in links)
    assert all_files(tmp_path / "dotfiles") == before


def test_the_mode_of_a_file_stays(connection: ClientConnection) -> None:
    for path in files_of(connection):
        fill(path, TOML["other settings"] if path.suffix == ".toml" else JSON["other settings"])
        path.chmod(0o640)

    connection.connect()

    assert {path.stat().st_mode & 0o777 for path in files_of(connection)} == {0o640}


def test_a_copy_of_the_settings_is_kept_for_their_owner_only(connection: ClientConnection) -> None:
    for path in files_of(connection):
        fill(path, TOML["other settings"] if path.suffix == ".toml" else JSON["other settings"])
    before = sorted(path.read_bytes() for path in files_of(connection))

    connection.connect()

    copies = [Path(backup) for backup in connection.backups()]
    assert sorted(copy.read_bytes() for copy in copies) == before
    assert {copy.stat().st_mode & 0o777 for copy in copies} == {0o600}


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("broken", ["{", '{"hooks": ', "\x00", "[1, 2]", '{"a": 1}', "\udcff"])
def test_settings_that_cannot_be_read_are_refused_and_nothing_changes(
    connection: ClientConnection, broken: str, home: Path, project: Path
) -> None:
    last = files_of(connection)[-1]
    last.parent.mkdir(parents=True, exist_ok=True)
    last.write_bytes(f'{broken}"holdfast"'.encode("utf-8", "surrogateescape"))
    before = all_files(home, project)

    for attempt in (connection.connecting, connection.connect, connection.disconnect):
        with pytest.raises(Invalid) as refused:
            attempt()
        assert str(last) in str(refused.value)
        assert str(refused.value).lower().endswith("nothing was changed")

    assert all_files(home, project) == before


def test_disconnecting_reads_no_settings_that_do_not_name_us(connection: ClientConnection) -> None:
    files = files_of(connection)
    for path in files:
        fill(path, "{ broken")

    assert not any(change.needed for change in connection.disconnect())
    assert {path.read_text() for path in files} == {"{ broken"}


def test_an_entry_of_that_name_that_is_not_ours_is_left_alone(connection: ClientConnection) -> None:
    last = files_of(connection)[-1]
    connection.connect()
    text = last.read_text().replace(connection.setup.server, "/usr/bin/another")
    last.write_text(text)

    with pytest.raises(Conflict, match="is used by another program"):
        connection.connect()
    connection.disconnect()

    assert "/usr/bin/another" in last.read_text()


def test_what_cannot_be_written_is_told_and_the_others_are_put_back(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = client_setup.connection("claude-code")
    before = all_files(home, project)
    real = paths.rewrite

    def full(path: str, content: bytes, *, mode: int = 0o600) -> None:
        if path.endswith(".claude.json"):
            raise OSError(28, "No space left on device")
        real(path, content, mode=mode)

    monkeypatch.setattr(paths, "rewrite", full)
    with pytest.raises(Unavailable, match=r"\.claude\.json can't be written: No space left"):
        connection.connect()

    assert {path for path in all_files(home, project) if path not in before} <= {str(home / ".claude")}


def test_unknown_clients_and_scopes_are_refused_with_the_known_ones(project: Path) -> None:
    with pytest.raises(Invalid, match="use one of claude-code, codex, gemini, opencode, cursor, vscode"):
        client_setup.connection("emacs")
    with pytest.raises(Invalid, match="Windsurf has no project settings: use --scope user"):
        client_setup.connection("windsurf", scope="project")
    with pytest.raises(Invalid, match="Codex has no project settings: use --scope user"):
        client_setup.connection("codex", scope="project")


# ------------------------------------------------------------------------------------------ what is written


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_claude_code_gets_five_hooks_and_a_server_whose_tools_are_always_loaded(
    scope: Scope, home: Path, project: Path
) -> None:
    client_setup.connection("claude-code", scope=scope).connect()

    settings, servers = {
        "user": (home / ".claude" / "settings.json", home / ".claude.json"),
        "project": (project / ".claude" / "settings.json", project / ".mcp.json"),
        "local": (project / ".claude" / "settings.local.json", home / ".claude.json"),
    }[scope]
    hooks = read(settings)["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"]
    for event, [group] in hooks.items():
        [hook] = group["hooks"]
        assert Path(hook["command"]).is_absolute()
        assert hook["args"] == [event]
    found = read(servers) if scope != "local" else read(servers)["projects"][str(project)]
    server = found["mcpServers"]["holdfast"]
    assert Path(server["command"]).is_absolute()
    assert (server["args"], server["alwaysLoad"]) == (["mcp"], True)


def test_a_space_goes_into_the_hooks_and_the_server(home: Path, project: Path) -> None:
    client_setup.connection("gemini", space="work").connect()

    settings = read(home / ".gemini" / "settings.json")
    assert settings["hooks"]["BeforeAgent"][0]["hooks"][0]["command"].endswith(
        "holdfast-hook BeforeAgent --client gemini --space work"
    )
    assert settings["mcpServers"]["holdfast"]["args"] == ["mcp", "--space", "work"]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("team.db", "{project}/team.db"),
        ("sqlite:///~/team.db", "{home}/team.db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql:///db?host=/run", "postgresql:///db?host=/run"),
    ],
)
@requirement("sem.tap.hooks")
def test_a_database_goes_into_the_hooks_and_the_server_by_a_name_that_holds_everywhere(
    connection: ClientConnection, given: str, written: str, home: Path, project: Path
) -> None:
    place = written.format(home=home, project=project)
    client, scope = connection.client.name, connection.setup.scope

    changes = client_setup.connection(client, scope=scope, space="work", db=given).connecting()

    text = "".join((change.after or b"").decode() for change in changes)
    commands = text.count("holdfast-hook")
    assert text.count(place) == commands + 1  # each hook and the server
    assert text.count("HOLDFAST_DB" if connection.client.desktop else "--db") == commands + 1


@pytest.mark.parametrize("url", ["postgresql://me:secret@host/db", "postgresql://host/db?password=secret"])
def test_a_password_does_not_go_into_a_clients_settings(url: str, project: Path) -> None:
    with pytest.raises(Invalid, match=r"contains a password.*~/\.pgpass"):
        client_setup.connection("claude-code", db=url)


def test_codex_waits_for_the_server_before_its_first_turn(home: Path, project: Path) -> None:
    client_setup.connection("codex").connect()

    server = read(home / ".codex" / "config.toml")["mcp_servers"]["holdfast"]
    assert (server["required"], server["startup_timeout_sec"]) == (True, 20)


@pytest.mark.parametrize(
    ("variable", "name", "expected"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", ["settings.json", ".claude.json"]),
        ("CODEX_HOME", "codex", ["hooks.json", "config.toml"]),
        ("XDG_CONFIG_HOME", "opencode", ["opencode/opencode.json"]),
    ],
)
def test_folders_that_a_client_was_told_are_used(
    variable: str,
    name: str,
    expected: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    project: Path,
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "chosen"))

    changes = client_setup.connection(name).connecting()

    assert [change.path for change in changes] == [tmp_path / "chosen" / each for each in expected]


def test_a_client_that_reads_a_brief_reads_the_one_of_its_last_connection(project: Path) -> None:
    client_setup.connection("opencode", space="work").connect()
    client_setup.connection("opencode").connect()
    [path] = files_of(client_setup.connection("opencode"))
    connected = read(path)["instructions"]
    path.write_text(path.read_text().replace("{", '{"mine": 1,', 1))

    client_setup.connection("opencode", space="other").disconnect()

    assert connected == [paths.context_file("default", None)]
    assert read(path) == {"mine": 1}


def test_our_hook_beside_anothers_in_one_group_goes_alone(home: Path, project: Path) -> None:
    connection = client_setup.connection("claude-code")
    connection.connect()
    file = home / ".claude" / "settings.json"
    settings = read(file)
    settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "/usr/bin/say done"})
    file.write_text(json.dumps(settings))

    connection.disconnect()

    assert read(file) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/usr/bin/say done"}]}]}
    }


def test_a_path_with_blanks_survives_the_shell(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shlex

    monkeypatch.setattr(client_setup, "command_path", lambda name: f"/opt/it's a place/{name}")
    connection = client_setup.connection("codex")

    connection.connect()

    line = read(home / ".codex" / "hooks.json")["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert shlex.split(line) == ["/opt/it's a place/holdfast-hook", "Stop", "--client", "codex"]
    connection.disconnect()
    assert not (home / ".codex").exists()


def test_the_clients_in_use_are_found(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert client_setup.clients_in_use() == []

    (home / ".claude").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "codex").chmod(0o755)

    assert client_setup.clients_in_use() == ["claude-code", "codex"]


def test_the_commands_of_this_installation_are_found_and_can_be_run() -> None:
    import subprocess

    for name in ("holdfast", "holdfast-hook"):
        path = client_setup.command_path(name)
        done = subprocess.run([path, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert Path(path).is_absolute()
        assert (done.returncode, done.stderr) == (0, "")
        assert name in done.stdout
