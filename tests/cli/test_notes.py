"""import of other programs' notes: the MCP memory server's graph and Claude Code's own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agents.importers.written import SAMPLES, claude_line, write
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

NOTE = "---\nname: {name}\ndescription: {about}\nmetadata:\n  type: {kind}\n---\n\n{body}\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    file = tmp_path / "memory.jsonl"
    file.write_bytes((SAMPLES / "mcp_memory.jsonl").read_bytes())
    return file


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A project's folder as Claude Code keeps it."""
    folder = tmp_path / "projects" / "-srv-user-shop"
    write(folder / "s.jsonl", claude_line("user", "hello there"))
    memory = folder / "memory"
    write(memory / "MEMORY.md", "- [Fridays](fridays.md) — due dates")
    fridays = NOTE.format(name="fridays", about="Due dates", kind="feedback", body="Fridays. See [[team]].")
    write(memory / "fridays.md", fridays)
    write(memory / "team.md", NOTE.format(name="team", about="Who", kind="reference", body="Ada and Grace."))
    write(memory / "empty.md", "---\nname: empty\ndescription:\n---\n")
    return folder


def memories(shell: Shell) -> dict[str, Any]:
    return {memory["content"]: memory for memory in shell.json("list", "--limit", "100")["memories"]}


def links(shell: Shell, memory_id: str) -> set[tuple[str, str]]:
    found = shell.json("show", memory_id)["links"]
    return {(tie["from"], tie["to"]) for tie in found}


@requirement("sem.import.mcp")
def test_a_graph_becomes_memories_with_subjects_and_links_and_twice_changes_nothing(
    shell: Shell, graph: Path
) -> None:
    first = shell.json("import", str(graph))
    exported = shell.says("export")

    again = shell.json("import", str(graph))

    found = memories(shell)
    assert (first["format"], first["counts"], first["broken"]) == ("mcp-memory", {"added": 4}, [])
    assert again["counts"] == {"known": 4}
    assert shell.says("export") == exported
    assert {(memory["subject"], memory["category"]) for memory in found.values()} == {
        ("Alec", "person"),
        ("Alec", "general"),
        ("TechCorp", "general"),
    }
    assert {memory["origin"] for memory in found.values()} == {"import"}
    relation = found["Alec works at TechCorp"]["id"]
    assert (relation, found["TechCorp is known as org"]["id"]) in links(shell, relation)
    assert (relation, found["Is the boss"]["id"]) in links(shell, relation)


@requirement("sem.import.mcp")
def test_a_graph_that_grew_adds_what_is_new_and_makes_nothing_more_certain(shell: Shell, graph: Path) -> None:
    shell.says("import", str(graph))
    grown = graph.read_text(encoding="utf-8").replace('"Is the boss"', '"Is the boss", "Lives in Lisbon"')
    graph.write_text(grown, encoding="utf-8")

    again = shell.json("import", str(graph))

    assert again["counts"] == {"known": 4, "added": 1}
    assert {memory["confidence"] for memory in memories(shell).values()} == {0.7}


@requirement("sem.import.mcp")
def test_broken_lines_of_a_graph_are_reported_and_not_fatal(sqlite_shell: Shell, graph: Path) -> None:
    # Two servers that wrote at once leave lines like these.
    broken = (
        '{"type":"entity","name":"Al{"type":"entity"\n' + graph.read_text(encoding="utf-8") + '{"type":"rel'
    )
    graph.write_text(broken, encoding="utf-8")

    told = sqlite_shell.json("import", str(graph))

    assert told["counts"] == {"added": 4}
    assert [one["line"] for one in told["broken"]] == [1, 5]


def test_the_kinds_of_another_program_are_no_categories_here(sqlite_shell: Shell, graph: Path) -> None:
    ops = sqlite_shell.in_space("ops", "ops")

    refused = ops("import", str(graph), "--json")

    assert refused.exit_code == 1
    assert "category is required: use one of timing" in refused.stdout


def test_claude_codes_own_notes_come_in_with_their_project_and_links(shell: Shell, notes: Path) -> None:
    told = shell.json("import", str(notes), "--from", "auto-memory")
    exported = shell.says("export")
    again = shell.json("import", str(notes), "--from", "auto-memory")

    found = memories(shell)
    assert [one["counts"] for one in told["notes"]] == [{"added": 2}]
    assert told["notes"][0]["broken"] == [{"file": "empty.md", "reason": "empty note"}]
    assert [one["counts"] for one in again["notes"]] == [{"known": 2}]
    assert shell.says("export") == exported
    fridays = found["Fridays. See [[team]]."]
    assert (fridays["subject"], fridays["category"], fridays["project"]) == ("fridays", "feedback", "shop")
    assert (fridays["origin"], fridays["summary"]) == ("file", "Due dates")
    assert (fridays["id"], found["Ada and Grace."]["id"]) in links(shell, fridays["id"])


def test_a_folder_gives_its_transcripts_and_its_notes(sqlite_shell: Shell, notes: Path) -> None:
    told = sqlite_shell.says("import", str(notes))

    assert told.startswith("Read 1 session, 1 message: 1 new")
    assert f"Imported from auto-memory: 2 added ({notes / 'memory'})" in told


def test_notes_can_wait_for_review(sqlite_shell: Shell, notes: Path) -> None:
    sqlite_shell.says("import", str(notes), "--review")

    assert len(sqlite_shell.json("inbox")["waiting"]) == 2


def test_one_note_is_recognised_by_its_heading(sqlite_shell: Shell, notes: Path) -> None:
    told = sqlite_shell.json("import", str(notes / "memory" / "team.md"))

    assert (told["format"], told["counts"]) == ("auto-memory", {"added": 1})


def test_a_note_that_was_changed_becomes_the_next_wording_of_its_memory(shell: Shell, notes: Path) -> None:
    shell.says("import", str(notes), "--from", "auto-memory")
    file = notes / "memory" / "team.md"
    file.write_text(
        file.read_text(encoding="utf-8").replace("Ada and Grace.", "Ada, Grace and Alan."), "utf-8"
    )

    again = shell.json("import", str(notes), "--from", "auto-memory")
    exported = shell.says("export")
    last = shell.json("import", str(notes), "--from", "auto-memory")

    found = memories(shell)
    assert [one["counts"] for one in again["notes"]] == [{"known": 1, "merged": 1}]
    assert [one["counts"] for one in last["notes"]] == [{"known": 2}]
    assert shell.says("export") == exported
    assert set(found) == {"Fridays. See [[team]].", "Ada, Grace and Alan."}
    assert found["Ada, Grace and Alan."]["version"] == 2
