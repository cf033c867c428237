"""The first session of a user, command by command, the same on both databases."""

from __future__ import annotations

import re

from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

JELLYFIN = ("-c", "timing", "-s", "jellyfin", "--space", "ops")


@requirement("sem.cli", "trust.why")
def test_a_service_is_learned_confirmed_and_contradicted(shell: Shell) -> None:
    said = [shell.says("space", "create", "ops", "--profile", "ops")]
    said.append(shell.says("remember", "Takes 60s to start after restart", *JELLYFIN))
    shell.clock.advance(days=2)
    said.append(shell.says("remember", "Takes about 60 seconds to start after a restart", *JELLYFIN))
    shell.clock.advance(minutes=5)
    said.append(shell.says("store", "Takes 30s to start after restart", *JELLYFIN))
    said.append(shell.says("list", "--space", "ops"))
    shell.space = "ops"
    first = shell.json("list", "--sort", "created")["memories"][1]["id"]
    said.append(shell.says("why", first))
    said.append(shell.says("brief"))

    told = re.sub(r"\(0\.\d\d\)", "(sure)", shell.masked("".join(said)))
    assert told == (
        "Created space ops with profile ops\n"
        "Added <id 1>  [timing] jellyfin: Takes 60s to start after restart (confidence 0.7)\n"
        "Reinforced <id 1> (0.7 -> 0.8)\n"
        "Added <id 2>  [timing] jellyfin: Takes 30s to start after restart (confidence 0.7)\n"
        "  Contradicts <id 1> (now 0.6): Takes 60s to start after restart\n"
        "  All are kept and linked; see `holdfast why <id 2> --space ops`\n"
        "<id 2>  [timing] jellyfin: Takes 30s to start after restart (confidence 0.7)\n"
        "<id 1>  [timing] jellyfin: Takes 60s to start after restart [2026-03-01, superseded by <id 2>]"
        " (confidence 0.6)\n"
        "2 memories\n"
        "<id 1>  [timing] jellyfin: Takes 60s to start after restart [2026-03-01, superseded by <id 2>]\n"
        "  confidence 0.6, active, version 1\n"
        "\n"
        "Source\n"
        "  operator, 2026-03-01 12:00 UTC\n"
        "\n"
        "History\n"
        "  2026-03-01 12:00  added         0.7           operator\n"
        "  2026-03-03 12:00  reinforced    0.7 -> 0.8    operator, wording 1\n"
        "  2026-03-03 12:05  contradicted  0.8 -> 0.6    operator, by <id 2>, "
        "holdfast-reader/1.3.0: contradicts <id 1> (sure)\n"
        "\n"
        "Versions\n"
        "  1  2026-03-01 12:00  operator: Takes 60s to start after restart\n"
        "\n"
        "Duplicates\n"
        "  1  2026-03-03 12:00  operator: Takes about 60 seconds to start after a restart\n"
        "  Split off a wrong one with `holdfast split <id 1> N --space ops`\n"
        "\n"
        "Links\n"
        "  contradicted by <id 2>  (2026-03-03 12:05)\n"
        "  superseded by <id 2>  (2026-03-03 12:05)\n"
        "## Operational Memory (2 memories, ~47 tokens)\n"
        "\n"
        "### jellyfin\n"
        "- [timing] Takes 30s to start after restart (confidence: 0.7)\n"
        "- [timing] Takes 60s to start after restart (confidence: 0.6)\n"
    )


@requirement("sem.store")
def test_a_memory_is_stored_searched_listed_exported_and_deleted(shell: Shell) -> None:
    notes = shell.in_space("notes", "semantic")
    fields = ("--importance", "4", "-c", "decision", "-t", "web", "-t", "infra", "--session", "s1")
    kept = notes.json("store", "The website moves to the new host in May", *fields)["memory"]
    other = notes.remembers("Coffee is best before noon", "-c", "preference", "-t", "food")

    found = notes.json("search", "website host")["hits"]
    shown = notes.json("show", kept["id"])["memory"]
    tagged = notes.json("list", "-t", "web")
    exported = notes.says("export")
    notes.says("forget", other, "--yes")

    assert (kept["importance"], kept["category"], kept["tags"]) == (4, "decision", ["infra", "web"])
    assert (kept["session"], kept["origin"]) == ("s1", "operator")
    assert [hit["memory"]["id"] for hit in found] == [kept["id"]]
    assert (shown["accesses"], shown["accessed_at"]) == (1, "2026-03-01T12:00:00.000000Z")
    assert [memory["id"] for memory in tagged["memories"]] == [kept["id"]]
    assert "Coffee is best before noon" in exported
    assert notes.json("list")["total"] == 1
    assert notes("search", "coffee").exit_code == 1


def test_global_options_work_on_both_sides_of_the_command(shell: Shell) -> None:
    shell.says("space", "create", "ops", "--profile", "ops")

    before = shell.says("--space", "ops", "--json", "remember", "Starts slowly", "-c", "timing")
    after = shell.says("list", "--json", "--space", "ops")

    assert '"outcome": "added"' in before
    assert '"content": "Starts slowly"' in after
    assert shell.json("list")["total"] == 0


def test_the_default_space_exists_from_first_use(shell: Shell) -> None:
    assert shell.says("list") == "No memories yet: add one with `holdfast remember TEXT`\n"
    assert shell.json("space", "list")["spaces"][0]["name"] == "default"


def test_an_unknown_space_is_refused_with_the_command_that_makes_it(shell: Shell) -> None:
    result = shell("list", "--space", "lab")

    assert result.exit_code == 1
    assert result.stderr == (
        "holdfast: there is no space 'lab': create it with `holdfast space create lab`\n"
    )
