"""The MCP memory server's graph and Claude Code's own notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.agents.importers import FileDrafts, note_format, notes_of, recognised
from holdfast.domain.memory import Draft
from tests.agents.importers.written import SAMPLES, SOURCE, claude_line, drafts, write
from tests.requirements_ledger import requirement

NOTE = """\
---
name: friday-deadlines
description: "Due dates are Fridays, with one exception"
metadata:
  type: feedback
---

Set due dates to Fridays.

**Why:** the team plans on Mondays. See [[team-rhythm]] and [[nowhere]].
"""


def graph(text: str) -> FileDrafts:
    return drafts(text, "mcp-memory")


@requirement("sem.import.mcp")
def test_a_real_graph_becomes_memories_about_its_entities() -> None:
    text = (SAMPLES / "mcp_memory.jsonl").read_text(encoding="utf-8")

    found = drafts(text)

    assert found.format == "mcp-memory"
    assert [(number, draft.subject, draft.content, draft.category) for number, draft in found.drafts] == [
        (1, "Alec", "Is the boss", "person"),
        (1, "Alec", "Prefers Friday due dates", "person"),
        (2, "TechCorp", "TechCorp is known as org", "org"),
        (3, "Alec", "Alec works at TechCorp", None),
    ]
    assert found.ties == ((3, 0), (3, 2))
    assert {draft.source for _, draft in found.drafts} == {SOURCE}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type": "entity", "name": "Al', "not a JSON object"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"type": "node"}', "unknown type 'node'"),
        ('{"type": "entity", "name": 1, "entityType": "x"}', '"name" must be a string'),
        ('{"type": "entity", "name": " ", "entityType": "x"}', "empty name"),
        (
            '{"type": "entity", "name": "a", "entityType": "x", "observations": "y"}',
            '"observations" must be a list',
        ),
        ('{"type": "relation", "from": "a", "to": "b"}', '"relationType" must be a string'),
    ],
    ids=lambda value: value[:40],
)
@requirement("sem.import.mcp")
def test_a_broken_line_of_a_graph_is_named_and_the_rest_goes_on(line: str, reason: str) -> None:
    whole = '{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Lives in Lisbon"]}'

    found = graph(f"{line}\n\n{whole}\n")

    assert [draft.content for _, draft in found.drafts] == ["Lives in Lisbon"]
    assert found.broken[0][0] == 1
    assert found.broken[0][1].startswith(reason)


def test_a_relation_to_an_entity_that_is_nowhere_is_still_a_memory() -> None:
    found = graph('{"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"}')

    assert [draft.content for _, draft in found.drafts] == ["Ada knows Nobody"]
    assert found.ties == ()


def test_a_note_becomes_one_memory_under_its_name() -> None:
    found = drafts(NOTE)

    [(_, draft)] = found.drafts
    assert found.format == "auto-memory"
    assert (draft.subject, draft.category) == ("friday-deadlines", "feedback")
    assert draft.summary == "Due dates are Fridays, with one exception"
    assert draft.content.startswith("Set due dates to Fridays.\n\n**Why:**")


def test_of_the_index_only_lines_of_its_own_count() -> None:
    index = "# Memory\n\n- [Fridays](friday-deadlines.md) — due dates\n- Deploys need a ticket\n* [x](y.md)\n"

    found = drafts(index, name="MEMORY.md")

    assert [(number, draft.content) for number, draft in found.drafts] == [(4, "Deploys need a ticket")]


@pytest.mark.parametrize("text", ["just text", "---\nname: x\n", "---\ntitle: x\n---\nbody", "---\n---\n"])
def test_what_has_no_heading_is_no_note(text: str) -> None:
    assert recognised(text).name == "text"


def test_the_notes_of_a_folder_are_tied_and_belong_to_the_project_of_its_transcripts(tmp_path: Path) -> None:
    folder = tmp_path / "-srv-user-shop" / "memory"
    other = NOTE.replace("friday-deadlines", "team-rhythm").replace("[[team-rhythm]]", "")
    first, second = folder / "friday.md", folder / "rhythm.md"
    write(folder.parent / "s.jsonl", {"type": "mode", "sessionId": "s"}, claude_line("user", "here"))
    write(first, NOTE)
    write(second, other)

    form = note_format(first)
    assert form is not None

    found = notes_of([first, second], SOURCE, form, {})

    assert [draft.subject for _, draft in found.drafts] == ["friday-deadlines", "team-rhythm"]
    assert {draft.project for _, draft in found.drafts} == {"shop"}
    assert found.ties == ((0, 1),)
    assert found.files == ("friday.md", "rhythm.md")


def test_in_a_folder_only_what_is_surely_a_note_is_one(tmp_path: Path) -> None:
    note = write(tmp_path / "memory" / "a.md", NOTE)
    elsewhere = write(tmp_path / "docs" / "a.md", NOTE)
    graph_file = write(tmp_path / "memory.jsonl", (SAMPLES / "mcp_memory.jsonl").read_text(encoding="utf-8"))
    lines = write(tmp_path / "drafts.jsonl", {"content": "a"})

    forms = [note_format(path) for path in (note, elsewhere, graph_file, lines)]

    assert [form and form.name for form in forms] == ["auto-memory", None, "mcp-memory", None]


def test_an_observation_keeps_its_words_and_the_entitys_kind_as_a_tag() -> None:
    line = (
        '{"type": "entity", "name": "Shop API", "entityType": "Web Service", "observations": ["a", "a", " "]}'
    )

    found = graph(line)

    assert found.drafts == (
        (
            1,
            Draft(
                content="a", category="web service", subject="Shop API", tags=("web-service",), source=SOURCE
            ),
        ),
    )
