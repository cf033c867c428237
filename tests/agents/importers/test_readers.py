"""The readers of other programs' files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.importers import DRAFTS, recognised
from holdfast.domain.memory import Draft
from holdfast.errors import Invalid
from tests.agents.importers.written import SOURCE, drafts


def test_json_lines_become_drafts_with_their_line_numbers() -> None:
    line = '{"content": "a", "category": "c", "subject": "s", "summary": "m", "project": "p", "tags": ["t"], '
    text = f'\n{line}"importance": 2, "confidence": 1}}\n'

    found = drafts(text)

    draft = Draft(
        content="a",
        category="c",
        subject="s",
        summary="m",
        project="p",
        tags=("t",),
        importance=2,
        confidence=1.0,
        source=SOURCE,
    )
    assert (found.format, tuple(found.drafts), found.broken) == ("jsonl", ((2, draft),), ())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1, 2]", "not an object"),
        ("{", "invalid JSON"),
        ("[" * 100_000, "invalid JSON"),
        ("{}", 'missing "content"'),
        ('{"content": null}', 'missing "content"'),
        ('{"content": "a", "subject": 1}', '"subject" must be a string'),
        ('{"content": "a", "tags": "t"}', '"tags" must be a list of strings'),
        ('{"content": "a", "tags": [1]}', '"tags" must be a list of strings'),
        ('{"content": "a", "importance": 2.5}', '"importance" must be a whole number'),
        ('{"content": "a", "importance": true}', '"importance" must be a whole number'),
        ('{"content": "a", "confidence": "high"}', '"confidence" must be a number'),
    ],
    ids=lambda value: value[:30],
)
def test_a_broken_line_is_named_with_its_reason(line: str, reason: str) -> None:
    found = drafts(line, "jsonl")

    assert tuple(found.drafts) == ()
    assert found.broken[0][0] == 1
    assert found.broken[0][1].startswith(reason)


def test_plain_text_is_a_memory_a_line_without_list_marks() -> None:
    found = drafts("- one\n\n  * two\n• three\n-not a list\n")

    assert [(number, draft.content) for number, draft in found.drafts] == [
        (1, "one"),
        (3, "two"),
        (4, "three"),
        (5, "-not a list"),
    ]


def test_the_format_is_recognised_by_the_first_line_that_says_something() -> None:
    assert recognised('\n\n  {"content": "a"}\n').name == "jsonl"
    assert recognised("\n a note\n").name == "text"


@given(st.text(), st.sampled_from(list(DRAFTS)))
def test_no_text_breaks_a_reader(text: str, format_name: str) -> None:
    try:
        found = drafts(text, format_name)
    except Invalid:
        assert format_name in ("mem0", "csv")  # which are whole or nothing
        return

    numbers = [number for number, _ in (*found.drafts, *found.broken)]
    assert all(1 <= number <= text.count("\n") + 1 for number in numbers)
    assert not {number for number, _ in found.drafts} & {number for number, _ in found.broken}
