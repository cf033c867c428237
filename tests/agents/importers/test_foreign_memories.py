"""Memories of other programs: basic-memory's notes, mem0's lists, tables; broken ones are named."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.importers import note_format, notes, notes_of, recognised
from holdfast.errors import Invalid
from tests.agents.importers.written import SOURCE, drafts
from tests.requirements_ledger import requirement

NOTE = """---
title: Coffee Brewing
type: note
tags: [coffee, brewing]
permalink: coffee-brewing
---

# Coffee Brewing

What we learned about brewing at the office.

## Observations
- [method] Pour over gives more clarity than the press #taste
- [preference] Miriam likes lighter roasts (she said so twice)
- [ ] buy filters
- [x] order beans

## Relations
- requires [[Grinding]]
- relates_to [[Nowhere]] (not written yet)
"""


def test_a_note_becomes_observations_relations_and_what_else_it_says() -> None:
    found = drafts(NOTE, name="coffee.md")

    assert found.format == "basic-memory"
    told = {draft.content: draft for _, draft in found.drafts}
    method = told["Pour over gives more clarity than the press"]
    assert (method.category, method.subject) == ("method", "Coffee Brewing")
    assert method.tags == ("coffee", "brewing", "taste", "method")
    assert "Miriam likes lighter roasts (she said so twice)" in told
    assert told["Coffee Brewing requires Grinding"].tags == ("coffee", "brewing", "relation")
    assert "Coffee Brewing relates to Nowhere (not written yet)" in told
    (prose,) = [text for text in told if text.startswith("What we learned")]
    assert "- [ ] buy filters" in prose
    assert "## Observations" not in prose
    assert 19 in [line for line, draft in found.drafts if draft.content == "Coffee Brewing requires Grinding"]


def test_a_folder_of_notes_is_tied_by_title_permalink_and_file(tmp_path: Path) -> None:
    (tmp_path / "coffee.md").write_text(NOTE, encoding="utf-8")
    (tmp_path / "grinding.md").write_text(
        "---\ntitle: Grinding\npermalink: g\n---\n- [fact] Burrs are even\n- part_of [[coffee-brewing]]\n",
        encoding="utf-8",
    )
    (tmp_path / "torn.md").write_text("---\ntitle: [\n---\nx\n", encoding="utf-8")
    files = sorted(tmp_path.glob("*.md"))

    form = note_format(files[0])
    assert form is not None

    found = notes_of(files, SOURCE, form, {})

    texts = [draft.content for _, draft in found.drafts]
    tied = {(texts[one], texts[other]) for one, other in found.ties}
    assert ("Coffee Brewing requires Grinding", "Burrs are even") in tied
    assert ("Grinding part of coffee-brewing", "Pour over gives more clarity than the press") in tied
    assert found.files == ("coffee.md", "grinding.md", "torn.md")
    assert found.broken == ((3, "line 1: no YAML front matter between two lines of ---"),)


@given(st.text(max_size=300))
def test_no_note_breaks_the_reader(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n- [a] b\n", f"---\ntitle: x\n---\n{text}"):
        notes.read_basic_memory(whole, "any.md")
        notes.is_basic_memory(whole)


MEM0 = [
    {"id": "1", "memory": "Otto works at TechCorp", "user_id": "otto", "categories": ["work"],
     "metadata": {"type": "fact"}, "created_at": "2025-01-01T00:00:00Z"},
    {"id": "2", "memory": "Arjun prefers short mails", "user_id": "arjun", "metadata": None},
    {"id": "3", "memory": None},
]  # fmt: skip


@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: {"results": one}, lambda one: {"count": 3, "memories": one}]
)
def test_mem0s_lists_become_drafts_with_lines(wrap: object) -> None:
    text = json.dumps(wrap(MEM0), indent=2)  # type: ignore[operator]

    found = drafts(text, name="export.json")

    assert found.format == "mem0"
    (first, otto), (second, arjun) = found.drafts
    assert (otto.content, otto.category, otto.tags) == (
        "Otto works at TechCorp",
        "fact",
        ("work", "user-otto"),
    )
    assert arjun.tags == ("user-arjun",)
    assert '"memory": "Otto' in text.split("\n")[first - 1]
    assert '"memory": "Arjun' in text.split("\n")[second - 1]
    assert found.broken[0][1] == 'missing "memory" text'


def test_mem0_that_is_not_whole_is_refused_with_the_line() -> None:
    text = json.dumps(MEM0, indent=2)[:-30]

    with pytest.raises(Invalid, match=r"invalid JSON at line \d+"):
        drafts(text, name="export.json")


def test_json_of_nobody_is_refused_instead_of_read_as_text() -> None:
    with pytest.raises(Invalid, match="JSON in an unknown format"):
        recognised('[\n {"name": "x"}\n]', "users.json")
    with pytest.raises(Invalid, match="line 2: invalid JSON"):
        recognised('[\n {"name": ', "users.json")
    assert recognised('{"content": "a"}\n{"content": "b"}\n', "lines.json").name == "jsonl"


def test_a_table_becomes_drafts_by_its_columns() -> None:
    head = '\ufeffText;Kind;tags;importance\n"Otto said: ""call; me""";person;work|phone;4\n'
    text = f"{head}\nBeans are out;fact;;\n;fact;;\nx;y;;many\n"

    found = drafts(text, name="notes.csv")

    assert found.format == "csv"
    (one, otto), (two, beans) = found.drafts
    assert (otto.content, otto.category, otto.tags, otto.importance) == (
        'Otto said: "call; me"',
        "person",
        ("work", "phone"),
        4,
    )
    assert (one, two, beans.content) == (2, 4, "Beans are out")
    assert found.broken == (
        (5, "empty content"),
        (6, "importance 'many' must be a whole number from 1 to 5"),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,age\nOtto,4\n", "line 1 has no column 'content'"),
        ('content,tags\nfine,a\n"never ends,b\n', r"line 3 is not valid CSV"),
        ('content\n"a"b\n', "line 2 is not valid CSV"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        drafts(text, "csv")


def test_a_table_is_known_by_its_first_line_too() -> None:
    assert recognised("content,category\na,b\n", "pasted").name == "csv"
    assert recognised("Bread, butter\nMilk, tea\n", "list.txt").name == "text"


@requirement("sem.import.heading")
def test_a_heading_of_a_list_is_the_subject_of_its_lines_and_no_memory() -> None:
    lines = "- Fuel is low\n# Boat notes\n- Lies in Kiel\n#tag is text\n"
    lines += f"## {'x' * 101}\nNeeds paint\n# \nSails are dry\n"

    found = drafts(lines, "text")

    assert [(number, draft.subject, draft.content) for number, draft in found.drafts] == [
        (1, None, "Fuel is low"),
        (3, "Boat notes", "Lies in Kiel"),
        (4, "Boat notes", "#tag is text"),
        (6, "x" * 100, "Needs paint"),
        (8, None, "Sails are dry"),
    ]


@given(st.text(max_size=200))
def test_no_text_breaks_a_table_or_a_list(text: str) -> None:
    for form in ("csv", "mem0"):
        with suppress(Invalid):
            drafts(text, form)
