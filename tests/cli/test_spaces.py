"""Spaces on the command line, and where the store is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli import cli
from tests.cli.conftest import Shell


def test_spaces_are_created_listed_shown_and_deleted(shell: Shell) -> None:
    ops = shell.in_space("ops", "ops")
    ops.remembers("Starts slowly", "-c", "timing", "--session", "s1")

    listed = shell.says("space", "list")
    shown = shell.says("space", "show", "ops")
    answer = shell.json("space", "show", "ops")
    refused = shell("space", "delete", "ops")
    deleted = shell.says("space", "delete", "ops", "--yes")

    assert listed == (
        "space  profile  active  inactive  waiting  deleted  sessions\n"
        "ops    ops           1         0        0        0         1\n"
    )
    assert shown.startswith("ops, profile ops: Operational knowledge about services")
    assert "    timing       How long a service takes to start, stop or settle.\n" in shown
    assert answer["profile"]["categories"][0] == "timing"
    assert answer["space"]["active"] == 1
    assert refused.exit_code == 2
    assert "this deletes space ops with 1 memory and 1 session for good: add --yes" in refused.stderr
    assert deleted == "Deleted space ops with 1 memory\n"
    assert shell("list", "--space", "ops").exit_code == 1


def test_a_store_without_spaces_says_how_to_begin(shell: Shell) -> None:
    assert shell.says("space", "list").startswith("No spaces yet: `default` is created with the first memory")


def test_a_taken_name_is_refused(shell: Shell) -> None:
    shell.in_space("ops", "ops")

    result = shell("space", "create", "ops")

    assert (result.exit_code, result.stderr) == (
        1,
        "holdfast: space 'ops' already exists: choose another name\n",
    )


def test_a_profile_of_ones_own_works(shell: Shell, tmp_path: Path) -> None:
    profile = tmp_path / "lab.toml"
    profile.write_text(
        'name = "lab"\nsays = "Notes."\ndefault_category = "note"\n[[category]]\nname = "note"\n'
        '[policy]\non_same = "reinforce"\non_contradiction = "keep"\nremoval = "soft"\n'
        '[block]\nlayout = "by-category"\ntitle = "Lab"\n',
        encoding="utf-8",
    )

    lab = shell.in_space("lab", str(profile))

    assert lab.json("remember", "Mice like cheese")["memory"]["category"] == "note"


def test_space_and_database_may_come_from_the_environment(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DB", sqlite_url)
    monkeypatch.setenv("HOLDFAST_SPACE", "ops")
    runner = CliRunner()

    created = runner.invoke(cli, ["space", "create", "ops", "--profile", "ops"])
    kept = runner.invoke(cli, ["remember", "Starts slowly", "-c", "timing"])
    elsewhere = runner.invoke(cli, ["list", "--space", "default"])

    assert (created.exit_code, kept.exit_code) == (0, 0)
    assert elsewhere.stdout.startswith("No memories")


def test_where_names_the_place_without_the_password(tmp_path: Path) -> None:
    runner = CliRunner()

    default = runner.invoke(cli, ["where"])
    server = runner.invoke(cli, ["where", "--db", "postgresql://ada:secret@host/memories"])
    answer = runner.invoke(cli, ["where", "--json", "--db", f"sqlite:///{tmp_path}/x.db", "--space", "ops"])

    assert default.stdout == f"{tmp_path / 'home' / 'data' / 'holdfast' / 'holdfast.db'}\n"
    assert server.stdout == "postgresql://ada:***@host/memories\n"
    assert answer.stdout == f'{{"db": "{tmp_path}/x.db", "space": "ops"}}\n'
    assert not (tmp_path / "home" / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["space", "delete", "nospace", "--yes"], "known spaces: lab, default"),
        (["space", "show", "nospace"], "known spaces: lab, default"),
        (["space", "change", "nospace", "--messages", "off"], "known spaces: lab, default"),
        (["list", "--space", "nospace"], "use lab, default, or create it with `"),
    ],
)
def test_an_unknown_space_is_said_with_those_that_exist(
    sqlite_shell: Shell, arguments: list[str], advice: str
) -> None:
    sqlite_shell.remembers("Lives in Lisbon")
    sqlite_shell.in_space("lab", "ops")

    result = sqlite_shell(*arguments)

    assert result.exit_code == 1
    assert result.stderr.startswith(f"holdfast: there is no space 'nospace': {advice}")
