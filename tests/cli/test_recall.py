"""recall, list, show, why and brief, as the command line says them."""

from __future__ import annotations

import hashlib
import json

import click
import pytest

from holdfast.engine.memories import Memories
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


def contents(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [memory["content"] for memory in answer["memories"]]


def test_list_filters_sorts_and_pages(shell: Shell) -> None:
    shell.remembers("Lives in Lisbon", "-c", "context", "--project", "home", "--confidence", "0.4")
    shell.clock.advance(hours=1)
    shell.remembers("Starts slowly", "-c", "timing", "-s", "jellyfin", "-t", "slow", "--session", "s1")
    shell.clock.advance(hours=1)
    shell.remembers("Needs the database", "-c", "dependency", "-s", "jellyfin", "-t", "slow", "-t", "db")

    assert contents(shell.json("list")) == ["Lives in Lisbon", "Needs the database", "Starts slowly"]
    assert contents(shell.json("list", "-c", "timing")) == ["Starts slowly"]
    assert shell.says("list", "-c", "person") == "No matching memories\n"
    assert contents(shell.json("list", "-s", "jellyfin", "--sort", "recent"))[0] == "Needs the database"
    assert contents(shell.json("list", "--sort", "created"))[0] == "Lives in Lisbon"
    assert contents(shell.json("list", "--sort", "confidence"))[-1] == "Lives in Lisbon"
    assert contents(shell.json("list", "--general")) == ["Lives in Lisbon"]
    assert contents(shell.json("list", "-t", "slow", "-t", "db")) == ["Needs the database"]
    assert contents(shell.json("list", "--project", "home")) == ["Lives in Lisbon"]
    assert contents(shell.json("list", "--session", "s1")) == ["Starts slowly"]
    page = shell.json("list", "--limit", "1", "--offset", "1")
    assert (contents(page), page["total"]) == (["Needs the database"], 3)
    assert shell.says("list", "--limit", "2").endswith("\n1-2 of 3 memories; next: --offset 2\n")
    assert shell.says("list", "--limit", "2", "--offset", "2").endswith("\n3 of 3 memories\n")


def test_list_shows_the_states_that_are_asked_for(shell: Shell) -> None:
    gone = shell.remembers("Likes jazz")
    shell.remembers("Hardly true", "--confidence", "0.1")
    shell.says("forget", gone)

    assert shell.json("list")["total"] == 0
    assert contents(shell.json("list", "--state", "inactive")) == ["Hardly true"]
    assert contents(shell.json("list", "--state", "forgotten")) == ["Likes jazz"]
    assert contents(shell.json("list", "--state", "deleted")) == ["Likes jazz"]
    assert "deleted" in shell.says("why", gone)
    assert "forgotten" not in shell.says("why", gone) + shell.says("show", gone)
    assert shell.json("list", "--state", "all")["total"] == 2
    assert "(confidence 0.1, inactive)" in shell.says("list", "--state", "all")


@pytest.mark.parametrize(("columns", "headings"), [(100, 5), (60, 4), (50, 3), (40, 0)])
def test_a_terminal_gets_as_much_of_a_table_as_fits(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: int, headings: int
) -> None:
    kept = sqlite_shell.remembers("[bold]Not markup[/bold] " + "and a long text " * 5, "-s", "s" * 50)
    monkeypatch.setattr("holdfast.cli.tables.on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))

    said = click.unstyle(sqlite_shell.says("list"))

    known = {3: "updated id memory", 4: "updated id category memory"}
    assert said.startswith(kept) or said.splitlines()[0].split() == (
        known.get(headings, "updated id category memory confidence").split()
    )
    assert "[bold]Not" in said
    assert kept in said
    assert headings == 0 or all(len(line) <= columns for line in said.splitlines())


def test_a_wide_table_has_a_line_for_each_memory_also_in_a_pipe(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "and a long text " * 20
    kept = sqlite_shell.remembers(text, "-s", "jellyfin")
    for command in (["list"], ["recall", "long", "text"]):
        piped = sqlite_shell.says(*command, "--wide").splitlines()
        with monkeypatch.context() as terminal:
            terminal.setattr("holdfast.cli.tables.on_terminal", lambda: True)
            shown = click.unstyle(sqlite_shell.says(*command, "--wide")).splitlines()

        assert kept in piped[1]
        for lines in (piped, shown):
            assert lines[1].split()[0] == "2026-03-01"
            assert f"jellyfin: {text.strip()}" in lines[1]


@requirement("trust.as-of")
def test_list_and_recall_answer_what_was_believed_then(shell: Shell) -> None:
    kept = shell.remembers("Lives in Lisbon")
    shell.clock.advance(days=10)
    shell.says("revise", kept, "Lives in Porto")

    assert contents(shell.json("list", "--as-of", "2026-03-05")) == ["Lives in Lisbon"]
    assert contents(shell.json("list", "--as-of", "2026-03-01T13:00+02:00")) == []
    assert contents(shell.json("list")) == ["Lives in Porto"]
    then = shell.json("recall", "where lives", "--as-of", "2026-03-05T00:00:00Z")
    assert then["hits"][0]["memory"]["content"] == "Lives in Lisbon"


@requirement("sem.cli")
def test_recall_explains_its_scores_and_says_that_it_goes_by_words(shell: Shell) -> None:
    kept = shell.remembers("The backup disk is mounted at night", "-c", "fact")

    said = shell.says("recall", "which", "backup", "disk", "--explain")
    answer = shell.json("search", "backup disk")

    assert said.startswith(
        f"{kept}  [fact] The backup disk is mounted at night (score 0.7)\n  relevance 1 x "
    )
    assert said.endswith("found by keywords only: no embedder, or not embedded yet\n")
    assert (answer["matched"], answer["below"]) == ("text", 0)
    assert answer["hits"][0]["score"] == 0.7
    assert set(answer["hits"][0]["parts"]) == {"relevance", "recency", "importance", "confidence"}


def test_recall_keeps_to_filters_projects_and_threshold(shell: Shell) -> None:
    shell.remembers("The disk is full", "-c", "fact", "-s", "nas", "-t", "disk")
    shell.remembers("The disk of the website is fast", "-c", "insight", "--project", "web")

    def found(*options: str) -> int:
        result = shell("recall", "disk", *options, "--json")
        hits = json.loads(result.stdout)["hits"]
        assert result.exit_code == (0 if hits else 1)
        return len(hits)

    assert found() == 1
    assert found("--project", "web") == 2
    assert found("--all-projects") == 2
    assert found("--all-projects", "--limit", "1") == 1
    assert found("--all-projects", "-c", "insight") == 1
    assert found("-s", "nas", "-t", "disk") == 1
    assert found("-t", "other") == 0
    low = shell("recall", "disk space on mars", "--threshold", "0.99").stdout
    assert low.startswith(
        "Nothing found\n1 weaker match hidden (--threshold 0 shows them); found by keywords only"
    )


def test_show_tells_everything_about_one_memory(shell: Shell) -> None:
    kept = shell.remembers(
        "First line\nsecond line", "-c", "fact", "-s", "nas", "-t", "disk", "--project", "home"
    )

    said = shell.says("show", kept)

    assert said == (
        f"{kept}\n\n  First line\n  second line\n\n"
        "  category  fact\n"
        "   subject  nas\n"
        "   project  home\n"
        "      tags  disk\n"
        "     state  active\n"
        "confidence  0.7\n"
        "importance  3\n"
        "    origin  operator\n"
        "   version  1\n"
        "   created  2026-03-01 12:00 UTC\n"
        "   updated  2026-03-01 12:00 UTC\n"
        "  recalled  never\n"
    )


@requirement("trust.why")
def test_why_names_messages_wordings_and_prompts(shell: Shell) -> None:
    with Memories.open(shell.db, clock=shell.clock) as memories:
        memories.open_session("s1", name="evening", client="chat", project="home", tier=1)
        message = memories.say("s1", "user", "my dog is called\nRex", speaker="Ada")
        memories.speaking_as("assistant", session="s1").remember("The dog is called Rex", message=message.id)
    kept = shell.json("list")["memories"][0]["id"]
    shell.clock.advance(days=1)
    shell.says("recall", "called dog", "--session", "s2")
    shell.clock.advance(minutes=1)
    shell.says("brief", "--session", "s2")
    shell.says("revise", kept, "The dog is called Max")

    said = shell.says("why", kept)
    told = shell.json("why", kept)

    assert said == (
        f"{kept}  [general] The dog is called Max\n"
        "  confidence 0.7, active, version 2\n\n"
        "Source\n"
        "  assistant in session s1, tier 1, 2026-03-01 12:00 UTC\n"
        "  session s1, started 2026-03-01 12:00 UTC (evening, chat, project home)\n"
        '  message 1, 2026-03-01 12:00 UTC, Ada: "my dog is called Rex"\n\n'
        "History\n"
        "  2026-03-01 12:00  added         0.7           assistant, session s1\n"
        "  2026-03-02 12:01  revised       0.7           operator\n\n"
        "Versions\n"
        "  1  2026-03-01 12:00  assistant: The dog is called Rex\n"
        "  2  2026-03-02 12:01  operator: The dog is called Max\n\n"
        "Used in prompts\n"
        '  2026-03-02 12:00  recall, "called dog", session s2, version 1, '
        "score 0.7 = confidence 0.7 x importance 1 x recency 1 x relevance 1\n"
        "  2026-03-02 12:01  brief, session s2, version 1\n"
    )
    assert told["messages"][0]["content"] == "my dog is called\nRex"
    assert [entry["action"] for entry in told["entries"]] == ["added", "revised"]
    assert {use["kind"] for use in told["uses"]} == {"brief", "recall"}
    assert told["session"]["tier"] == 1


def test_a_brief_is_the_block_and_nothing_else(shell: Shell) -> None:
    kept = shell.remembers("Lives in Lisbon", "-c", "context")

    said = shell.says("brief", "--session", "s1")
    shell.remembers("Speaks Portuguese", "-c", "context")
    answer = shell.json("brief", "--session", "s1")

    assert said.startswith("## Holdfast: what earlier sessions learned\n")
    assert said.endswith(f"- [id:{kept}] Lives in Lisbon\n")
    assert answer["text"] == said
    assert answer["sha256"] == hashlib.sha256(said.encode()).hexdigest()
    assert (answer["included"], answer["left_out"], answer["frozen"]) == ([kept], 0, True)


def test_an_empty_brief_prints_nothing(shell: Shell) -> None:
    shell.remembers("Lives in Lisbon")

    assert shell.says("brief", "--budget", "0") == ""
    assert shell.json("brief", "--budget", "0")["left_out"] == 1


@requirement("trust.superseded")
def test_recall_list_and_brief_let_the_newer_lead(sqlite_shell: Shell) -> None:
    shell = sqlite_shell
    older = shell.remembers("Takes 60s to start after a restart", "-c", "timing", "-s", "jellyfin")
    shell.clock.advance(days=1)
    newer = shell.remembers("Takes 30s to start after a restart", "-c", "timing", "-s", "jellyfin")

    recalled = shell.says("recall", "how long does jellyfin take to start").splitlines()
    listed = shell.says("list").splitlines()

    assert recalled[0].startswith(newer)
    assert recalled[1].startswith(older)
    assert f"[2026-03-01, superseded by {newer}]" in recalled[1]
    assert listed[0].startswith(newer)
    assert f"superseded by {newer}" in listed[1]
    assert [one["superseded_by"] for one in shell.json("list")["memories"]] == [None, newer]
    assert older not in shell.says("brief")


@requirement("scope.promote")
def test_matches_of_other_projects_are_counted_and_shown_when_asked_for(sqlite_shell: Shell) -> None:
    shell = sqlite_shell
    for text in ("The staging database runs on port 5433", "The staging database is reset on Mondays"):
        shell.remembers(text, "--project", "alpha")

    outside = shell("recall", "staging database")
    everywhere = shell.says("recall", "staging database", "--all-projects")
    promoted = shell.says("promote", shell.json("list")["memories"][0]["id"])

    assert outside.exit_code == 1
    assert "2 matches in other projects (`" in outside.stdout
    assert "holdfast recall 'staging database' --all-projects`)" in outside.stdout
    assert "5433" in everywhere
    assert "other projects" not in everywhere
    assert promoted.startswith("Now global: ")
    assert "1 match in other projects (--all-projects)" in shell.says("recall", "staging database")


def test_messages_of_other_projects_are_counted_where_nothing_is_found_here(sqlite_shell: Shell) -> None:
    with Memories.open(sqlite_shell.db, "default", clock=sqlite_shell.clock) as memories:
        memories.open_session("one", project="alpha")
        memories.say("one", "user", "The staging database runs on port 5433")

    said = sqlite_shell("recall", "staging database")

    assert said.exit_code == 1
    assert "1 match in other projects (`" in said.stdout
