"""doctor and migrate: what they see, what they advise, and that looking changes nothing."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.app import checkup, paths
from holdfast.cli import cli
from holdfast.cli.call import Call
from holdfast.domain.health import LONG_LOG, Health, findings
from holdfast.store.migrate import HEAD
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell

WELL = Health(
    where="place", kind="sqlite", version="3.51.3", mode=0o600, log_size=0, revision="0001", head="0001"
)


def test_a_healthy_store_is_told_so(shell: Shell, dialect: str) -> None:
    shell.remembers("Lives in Lisbon")
    shell.says("import", "-", "--review", stdin="Has a dog\n")
    if dialect == "sqlite":
        os.chmod(shell.db.removeprefix("sqlite:///"), 0o600)  # the product makes it so; the fixture copies

    said = shell.says("doctor")
    answer = shell.json("doctor")

    assert said.endswith("No problems found\n")
    assert "  none: keyword search only\n" in said
    assert "note: 1 memory is waiting for approval" in said
    assert answer["healthy"] is True
    assert answer["database"]["kind"] == dialect
    assert answer["database"]["revision"] == answer["database"]["head"]
    assert answer["database"]["size"] > 0
    assert answer["spaces"][0]["active"] == 1
    assert (answer["waiting"], answer["embedder"]) == (1, None)


def test_of_many_spaces_some_are_looked_into_unless_all_are_asked_for(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup, "MOST_SPACES", 2)
    os.chmod(sqlite_shell.db.removeprefix("sqlite:///"), 0o600)
    for name in ("ada", "bob", "eve"):
        sqlite_shell.in_space(name, "default").remembers("Lives in Lisbon")

    said = sqlite_shell.says("doctor")
    some = sqlite_shell.json("doctor")
    every = sqlite_shell.json("doctor", "--all-spaces")

    assert "spaces  2 of 3: all that follows is of these\n" in said
    assert "note: 2 of 3 spaces were checked, chosen at random\n" in said
    assert (len(some["spaces"]), some["existing_spaces"]) == (2, 3)
    assert (len(every["spaces"]), every["existing_spaces"]) == (3, 3)
    assert [one for one in every["findings"] if "chosen at random" in one["says"]] == []


def test_looking_for_the_usual_store_does_not_make_one(clock: FixedClock) -> None:
    done = CliRunner(catch_exceptions=False).invoke(cli, ["doctor"], obj=Call(clock=clock))

    assert "there is no database yet" in done.output
    assert not os.path.exists(paths.database())


def test_a_file_is_not_distributed_and_shards_are_of_a_cluster(tmp_path: Path, clock: FixedClock) -> None:
    shell = Shell(str(tmp_path / "holdfast.db"), clock)

    refused = shell("migrate", "--citus")
    alone = shell("migrate", "--shards", "4")

    assert refused.exit_code == 1
    assert "a SQLite file can't be distributed: name a PostgreSQL database" in refused.output
    assert not (tmp_path / "holdfast.db").exists()
    assert (alone.exit_code, "--shards needs --citus" in alone.output) == (2, True)


def test_a_file_that_others_may_read_is_a_problem(sqlite_shell: Shell) -> None:
    path = sqlite_shell.db.removeprefix("sqlite:///")
    os.chmod(path, 0o644)

    result = sqlite_shell("doctor")

    assert result.exit_code == 1
    assert "problem: other users can read the database file (mode 0644)\n" in result.stdout
    assert f"  run `chmod 600 {path}`\n" in result.stdout


@pytest.mark.parametrize("kind", ["text", "damaged"])
def test_a_damaged_or_foreign_file_is_a_problem(sqlite_shell: Shell, kind: str) -> None:
    path = Path(sqlite_shell.db.removeprefix("sqlite:///"))
    sqlite_shell.remembers("Lives in Lisbon")
    content = path.read_bytes()
    path.write_bytes(
        b"Dear Ada" * 1000 if kind == "text" else content[:8192] + b"\xff" * (len(content) - 8192)
    )
    before = path.read_bytes()

    result = sqlite_shell("doctor", "--json")

    assert result.exit_code == 1
    assert '"healthy": false' in result.stdout
    assert "the database is damaged" in result.stdout
    assert path.read_bytes() == before


def test_a_server_without_our_tables_needs_migrate(empty_database_url: str, clock: FixedClock) -> None:
    shell = Shell(empty_database_url, clock)

    before = shell("doctor")
    first = shell.says("migrate")
    again = shell.json("migrate")

    assert before.exit_code == 1
    newest = HEAD
    assert first == f"Upgraded the schema to {newest} (from no tables)\n"
    assert again == {"before": newest, "after": newest, "distributed": [], "indexes": []}
    assert shell.says("migrate") == f"Nothing to do: the schema is at {newest}\n"
    assert shell.says("doctor").endswith("No problems found\n")


def test_another_programs_tables_are_a_problem(tmp_path: Path, clock: FixedClock) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE letters (text)")
    connection.close()
    os.chmod(path, 0o600)
    shell = Shell(str(path), clock)

    doctor, used = shell("doctor"), shell("list")

    assert doctor.exit_code == 1
    assert used.exit_code == 3
    assert "belongs to another program: name another file with --db" in used.stderr


def test_a_server_that_is_away_is_unavailable(clock: FixedClock) -> None:
    shell = Shell("postgresql://nobody@127.0.0.1:1/none", clock)

    for command in ("doctor", "list", "migrate"):
        result = shell(command)
        assert result.exit_code == 3
        assert result.stderr.startswith("holdfast: postgresql+psycopg://nobody@127.0.0.1:1/none: ")
        assert result.stderr.count("\n") == 1


def test_a_vendors_model_without_a_key_is_a_problem(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_shell.remembers("Takes 60s to start")
    monkeypatch.setenv("HOLDFAST_GATE_MODEL", "ollama:qwen3")  # needs none
    monkeypatch.setenv("HOLDFAST_EXTRACT_MODEL", "anthropic:claude-sonnet-5-5")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    without = sqlite_shell("doctor")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-for-the-test")
    with_one = sqlite_shell("doctor")

    assert without.exit_code == 1
    assert "problem: anthropic:claude-sonnet-5-5 needs an API key: set ANTHROPIC_API_KEY\n" in without.stdout
    assert "ollama:qwen3 needs" not in without.stdout
    assert "needs a key" not in with_one.stdout


@pytest.mark.parametrize("version", ["3.40.1", "3.51.3"])
def test_a_healthy_file_has_no_findings_on_any_library(version: str) -> None:
    assert findings(replace(WELL, version=version), upgrade="") == []


@pytest.mark.parametrize(
    ("health", "level", "says"),
    [
        (replace(WELL, log_size=LONG_LOG + 1), "problem", "the write-ahead log has grown to 64 MiB"),
        (replace(WELL, revision="9999"), "problem", "newer than this release's 0001"),
        (replace(WELL, revision=None), "problem", "the schema is at no tables, this release needs 0001"),
        (replace(WELL, damage=("row 3 missing",)), "problem", "the database is damaged: row 3 missing"),
    ],
    ids=["long log", "newer", "older", "damaged"],
)
def test_each_trouble_has_its_finding(health: Health, level: str, says: str) -> None:
    (finding,) = findings(health, upgrade="uv tool install holdfast-memory")

    assert finding.level == level
    assert says in finding.says
    assert finding.advice
