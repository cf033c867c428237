"""connect, disconnect and quiet on the command line: what they say and what they do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.agents.connect.clients import CLIENTS
from holdfast.app import paths
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@requirement("sem.tap.hooks")
def test_one_command_connects_and_one_takes_it_out(sqlite_shell: Shell, project: Path) -> None:
    file = Path.home() / ".claude.json"
    file.write_text('{"numStartups": 3}\n')

    told = sqlite_shell.says("connect", "claude-code")
    again = sqlite_shell.says("connect", "claude-code")
    undone = sqlite_shell.says("disconnect", "claude-code")

    assert told.startswith("Connected Claude Code\n")
    assert f"{Path.home()}/.claude/settings.json" in told
    assert f"Backup: {paths.backups()}/claude-code-" in told
    assert "Undo with `holdfast disconnect claude-code`" in told
    assert again == "Nothing to do: already connected\n"
    assert f"{Path.home()}/.claude/settings.json (removed)" in undone
    assert file.read_text() == '{"numStartups": 3}\n'
    assert sqlite_shell.says("disconnect", "claude-code") == "Nothing to do: not connected\n"


@requirement("sem.tap.hooks")
def test_a_database_named_on_the_command_line_is_the_one_that_the_client_uses(
    sqlite_shell: Shell, project: Path
) -> None:
    sqlite_shell.says("connect", "gemini", "--db", "team.db")

    settings = json.loads((Path.home() / ".gemini" / "settings.json").read_text())
    place = str(project / "team.db")
    assert settings["mcpServers"]["holdfast"]["args"] == ["mcp", "--db", place]
    for [group] in settings["hooks"].values():
        assert group["hooks"][0]["command"].endswith(f" --client gemini --db {place}")


@requirement("sem.tap.hooks")
def test_a_dry_run_shows_the_difference_and_changes_nothing(sqlite_shell: Shell, project: Path) -> None:
    file = project / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "theme": "dark"\n}')

    shown = sqlite_shell.says("connect", "gemini", "--project", "--dry-run")

    assert f"--- {file}\n+++ {file}\n" in shown
    assert '\n-  "theme": "dark"\n+  "theme": "dark",\n+  "hooks": {\n' in shown
    assert shown.endswith(" }\n\\ No newline at end of file\n")
    assert file.read_text() == '{\n  "theme": "dark"\n}'
    assert not Path(paths.connections()).exists()
    sqlite_shell.says("connect", "gemini", "--project")
    gone = sqlite_shell.says("disconnect", "gemini", "--project", "--dry-run")
    assert '\n-  "hooks": {' in gone
    assert "holdfast" in file.read_text()


def test_the_answer_in_json_names_the_files(sqlite_shell: Shell, project: Path) -> None:
    answer = sqlite_shell.json("connect", "codex")

    assert (answer["client"], answer["scope"], answer["dry_run"]) == ("codex", "user", False)
    assert answer["changed"] == [str(Path.home() / ".codex" / name) for name in ("hooks.json", "config.toml")]
    assert "diff" in sqlite_shell.json("disconnect", "codex", "--dry-run")


def test_a_scope_can_be_said_in_two_ways(sqlite_shell: Shell, project: Path) -> None:
    sqlite_shell.says("connect", "claude-code", "--project")

    told = sqlite_shell.says("disconnect", "claude-code", "--scope", "project")

    assert str(project / ".mcp.json") in told
    wrong = sqlite_shell("connect", "claude-code", "--project", "--scope", "local")
    assert (wrong.exit_code, "can't be combined" in wrong.stderr) == (2, True)


def test_a_client_without_hooks_gets_the_server_in_the_first_of_its_scopes(
    sqlite_shell: Shell, project: Path
) -> None:
    shown = sqlite_shell.says("connect", "mcp-json", "--dry-run")
    told = sqlite_shell.says("connect", "mcp-json")

    assert f"+++ {project}/.mcp.json\n" in shown
    assert told.startswith(f"Connected the project's .mcp.json\n  {project}/.mcp.json\n")
    assert told.endswith("Undo with `holdfast disconnect mcp-json`\n")
    assert f"{project}/.mcp.json (removed)" in sqlite_shell.says("disconnect", "mcp-json")
    assert sqlite_shell.says("connect", "claude-desktop").endswith(
        "Quit Claude Desktop and start it again.\nUndo with `holdfast disconnect claude-desktop`\n"
    )


def test_an_unknown_client_is_answered_with_the_known_ones(sqlite_shell: Shell) -> None:
    wrong = sqlite_shell("connect", "emacs")
    help_text = sqlite_shell.says("connect", "--help")

    assert wrong.exit_code == 2
    for name in (*CLIENTS, "file"):
        assert f"'{name}'" in wrong.stderr
        assert name in help_text


def test_broken_settings_are_one_clear_line(sqlite_shell: Shell, project: Path) -> None:
    file = Path.home() / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"hooks": ')

    result = sqlite_shell("connect", "claude-code")

    assert result.exit_code == 1
    assert result.stderr == f"holdfast: {file}: invalid JSON at line 1. Nothing was changed\n"
    assert file.read_text() == '{"hooks": '
    assert not (Path.home() / ".claude.json").exists()


def test_a_client_without_hooks_gets_a_file_that_follows_the_memories(shell: Shell, project: Path) -> None:
    shell.remembers("Deploys run on Fridays")

    shell.says("connect", "opencode")
    settings = json.loads((Path.home() / "config" / "opencode" / "opencode.json").read_text())
    [context] = settings["instructions"]
    assert "Fridays" in Path(context).read_text()
    shell.remembers("The cat is called Tom")
    assert "Tom" in Path(context).read_text()
    shell.says("disconnect", "opencode")

    assert not Path(context).exists()
    assert not (Path.home() / "config" / "opencode").exists()


@requirement("sem.inject.file")
def test_the_brief_is_kept_in_a_file_of_the_project(shell: Shell, project: Path) -> None:
    shell.remembers("The website is built with Hugo", "--project", "website")
    shell.remembers("The app is written in Kotlin", "--project", "app")
    (project / "AGENTS.md").write_text("# Rules\n")

    planned = shell.says("connect", "file", "AGENTS.md", "--dry-run")
    assert (project / "AGENTS.md").read_text() == "# Rules\n"
    told = shell.says("connect", "file", "AGENTS.md")
    text = (project / "AGENTS.md").read_text()
    again = shell.says("connect", "file", "AGENTS.md")

    assert planned.startswith("Would write the brief")
    assert told == again == f"Writing the brief of project website to {project}/AGENTS.md\n"
    assert text == (project / "AGENTS.md").read_text()
    assert text.startswith("# Rules\n\n<!-- holdfast")
    assert "Hugo" in text
    assert "Kotlin" not in text
    assert "Removed the brief" in shell.says("disconnect", "file", "AGENTS.md")
    assert (project / "AGENTS.md").read_text() == "# Rules\n"
    assert "Nothing to do" in shell.says("disconnect", "file", "AGENTS.md")


def test_a_file_is_needed_for_file_and_only_for_file(sqlite_shell: Shell, project: Path) -> None:
    without, with_one = sqlite_shell("connect", "file"), sqlite_shell("connect", "codex", "AGENTS.md")

    assert (without.exit_code, with_one.exit_code) == (2, 2)
    assert "missing PATH" in without.stderr
    assert "codex takes no PATH" in with_one.stderr


# ------------------------------------------------------------------------------------------- disconnect --all


@pytest.fixture
def connected(
    shell: Shell, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[Path, str]:
    """Settings before four connections in two projects; with a file for each brief."""
    settings = {
        Path.home() / ".cursor" / "mcp.json": '{\n  "mcpServers": {}\n}\n',
        Path.home() / ".codex" / "config.toml": 'model = "x"\n',
        tmp_path / "app" / ".vscode" / "mcp.json": '{"servers": {"other": {"url": "https://example.com"}}}',
        project / "AGENTS.md": "# Rules\n",
    }
    for path, text in settings.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shell.says("space", "create", "work")
    for words in (["cursor"], ["codex"], ["opencode", "--space", "work"], ["file", "AGENTS.md"]):
        shell.says("connect", *words)
    (tmp_path / "app" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    shell.says("connect", "vscode", "--project")
    monkeypatch.chdir(project)
    return settings


def test_everything_that_is_connected_goes_with_one_command(shell: Shell, connected: dict[Path, str]) -> None:
    planned = shell.json("disconnect", "--all", "--dry-run")
    shown = shell.says("disconnect", "--all", "--dry-run")
    assert all(path.read_text() != text for path, text in connected.items())

    told = shell.says("disconnect", "--all")

    assert [one["client"] for one in planned["disconnected"]] == ["codex", "opencode", "cursor", "vscode"]
    assert "--- " in shown
    assert "Would remove the brief from " in shown
    for title in ("Cursor", "Codex", "opencode", "VS Code (Copilot)"):
        assert f"Disconnected {title}\n" in told
    assert {path: path.read_text() for path in connected} == connected
    assert not Path(paths.connections()).exists()
    assert shell.says("disconnect", "--all") == "Nothing to do: nothing is connected\n"


def test_settings_that_cannot_be_read_do_not_keep_the_others_connected(
    shell: Shell, connected: dict[Path, str]
) -> None:
    cursor, *others = connected
    cursor.write_text('{"mcpServers": {"holdfast": ')

    result = shell("disconnect", "--all", "--json")

    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert answer["failed"] == [f"cursor: {cursor}: invalid JSON at line 1. Nothing was changed"]
    assert [path.read_text() for path in others] == [connected[path] for path in others]
    assert list(json.loads(Path(paths.connections()).read_text())) == ["cursor"]


def test_a_password_is_not_written_and_does_not_keep_a_desktop_program_connected(
    sqlite_shell: Shell, project: Path
) -> None:
    place = ("--db", "postgresql://me:secret@host/db")
    sqlite_shell.says("connect", "zed")

    refused = sqlite_shell("connect", "zed", *place)
    told = sqlite_shell.says("disconnect", "zed", *place)

    assert (refused.exit_code, "contains a password" in refused.stderr) == (1, True)
    assert told.startswith("Disconnected Zed\n")


def test_all_is_all(sqlite_shell: Shell, project: Path) -> None:
    named, nothing = sqlite_shell("disconnect", "cursor", "--all"), sqlite_shell("disconnect")

    assert (named.exit_code, "--all takes no CLIENT" in named.stderr) == (2, True)
    assert (nothing.exit_code, "missing CLIENT: name one, or use --all" in nothing.stderr) == (2, True)


# ----------------------------------------------------------------------------------------------------- quiet


@requirement("trust.quiet")
def test_quiet_is_switched_for_the_project_here_and_can_be_seen(sqlite_shell: Shell, project: Path) -> None:
    assert sqlite_shell.says("quiet") == "Here: capture is on\n"

    on = sqlite_shell.says("quiet", "on")
    off = sqlite_shell.says("quiet", "off")

    assert on == "Here: capture is off in project website\nProject website: capture is off\n"
    assert off == "Here: capture is on\n"


@requirement("trust.quiet")
def test_quiet_is_switched_for_a_session_another_project_or_everywhere(
    sqlite_shell: Shell, project: Path
) -> None:
    sqlite_shell.says("quiet", "on", "--session", "s-1")
    sqlite_shell.says("quiet", "on", "--project", "app")

    answer = sqlite_shell.json("quiet", "on", "--everywhere")

    assert answer == {
        "here": "capture is off everywhere",
        "everywhere": True,
        "projects": ["app"],
        "sessions": ["s-1"],
    }


def test_outside_of_a_project_quiet_wants_to_know_for_what(
    sqlite_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = sqlite_shell("quiet", "on")

    assert result.exit_code == 2
    assert "give --project, --session or --everywhere" in result.stderr


def test_a_damaged_list_is_told_and_means_quiet(sqlite_shell: Shell, project: Path) -> None:
    paths.write_private(paths.quiet_file(), b'{"projects": "website"}')

    result = sqlite_shell("quiet")

    assert result.exit_code == 1
    assert '"projects" must be a list of names' in result.stderr
    assert "until then nothing is captured" in result.stderr
