"""Changing JSON as text: what was put in comes out again, and nothing else moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.connect.json_text import JsonText
from holdfast.errors import Invalid

COMMENTED = """\
// my settings
{
\t"theme": "dark", // as ever
\t/* the next ones
\t   are old */
\t"hooks": {
\t\t"Stop": [ {"x": 1}, ], // one
\t},
}
"""

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=6)


@st.composite
def written(draw: st.DrawFn) -> str:
    """An object as people and programs write it."""
    text = json.dumps(
        draw(objects),
        indent=draw(st.sampled_from([None, 0, 1, 2, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    before, after = (
        draw(st.sampled_from(["", "\n", "// hello\n"])),
        draw(st.sampled_from(["", "\n", " /* end */ "])),
    )
    return (before + text + after).replace("\n", newline)


@st.composite
def commented(draw: st.DrawFn) -> str:
    """An object as the users of editors write it."""
    count = draw(st.integers(1, 4))
    trailing = draw(st.booleans())
    lines = ["{"]
    for number in range(count):
        lines += draw(
            st.lists(st.sampled_from(["", "  // above", "\t/* a, b */", '  // {"x": 1}']), max_size=2)
        )
        value = draw(st.sampled_from(["1", "{}", "[1, ]", '{\n  "x": "//",\n}']))
        before = draw(st.sampled_from(["", " ", " /* before */"]))
        comma = "," if trailing or number < count - 1 else ""
        after = draw(st.sampled_from(["", " // after", " /* one */ /* two */", "  "]))
        lines.append(f'  "k{number}": {value}{before}{comma}{after}')
    lines += draw(st.lists(st.sampled_from(["", "  // above"]), max_size=2))
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, "}"])


@given(commented())
def test_among_comments_nothing_else_moves(text: str) -> None:
    document = JsonText(text)

    document.put(["ours"], {"command": "x"})
    document.remove(["ours"])

    assert document.text == text


@given(commented())
def test_comments_on_lines_of_their_own_outlive_every_member(text: str) -> None:
    for key in JsonText(text).value:
        document = JsonText(text)
        expected = {name: value for name, value in document.value.items() if name != key}

        document.remove([key])

        assert document.value == expected
        assert document.text.count("// above") == text.count("// above")


@pytest.mark.slow
@given(written())
def test_what_is_read_is_what_was_written(text: str) -> None:
    bare = "\n".join(line for line in text.split("\n") if not line.startswith("//")).replace("/* end */", "")

    assert JsonText(text).value == json.loads(bare)


@given(written(), st.lists(st.text(), min_size=1, max_size=4), values)
def test_a_value_that_is_put_in_can_be_taken_out_again(text: str, path: list[str], value: Any) -> None:
    document = JsonText(text)
    before = document.value
    if any(document.has(path[:size]) for size in range(1, len(path) + 1)):
        return  # taken already

    document.put(path, value)
    assert document.at(path) == value
    document.remove(path)
    for size in range(len(path) - 1, 0, -1):
        assert document.at(path[:size]) == {}
        document.remove(path[:size])

    assert document.value == before


@given(written(), values)
def test_lines_that_are_not_touched_stay_byte_for_byte(text: str, value: Any) -> None:
    document = JsonText(text)
    before = document.text
    if not document.value or document.has(["ours"]):
        return

    document.put(["ours"], value)
    document.remove(["ours"])

    assert document.text == before


@given(written(), st.text(), values, values)
def test_an_item_goes_to_the_end_of_a_list_and_out_of_it(text: str, key: str, value: Any, other: Any) -> None:
    document = JsonText(text)
    if document.has([key]):
        return

    document.append([key], value)
    before = document.text
    document.append([key], other)
    assert document.at([key]) == [value, other]
    document.remove([key, 1])

    assert document.text == before


def test_comments_trailing_commas_and_indentation_are_kept() -> None:
    document = JsonText(COMMENTED)

    document.append(["hooks", "Stop"], {"y": 2})
    document.put(["mcpServers", "holdfast"], {"command": "holdfast"})

    assert document.text == COMMENTED.replace('[ {"x": 1}, ]', '[ {"x": 1}, {"y": 2}, ]').replace(
        "\t},\n}\n",
        '\t},\n\t"mcpServers": {\n\t\t"holdfast": {\n\t\t\t"command": "holdfast"\n\t\t}\n\t},\n}\n',
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "ours": 2\n}'),
        ('{\n  "a": 1, // one\n  /* end */\n}', '{\n  "a": 1, // one\n  "ours": 2,\n  /* end */\n}'),
        ('{\r\n\t"a": 1 /* x */ // one\r\n}', '{\r\n\t"a": 1, /* x */ // one\r\n\t"ours": 2\r\n}'),
        ('{"a": 1 // one\n}', '{"a": 1, // one\n  "ours": 2\n}'),
        ('{"a": 1, }', '{"a": 1, "ours": 2, }'),
    ],
)
def test_a_comment_stays_with_the_member_that_it_is_about(before: str, after: str) -> None:
    document = JsonText(before)

    document.put(["ours"], 2)
    added = document.text
    document.remove(["ours"])

    assert added == after
    assert document.text == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1,\n  // above\n  "ours": 2\n}', '{\n  "a": 1\n  // above\n}'),
        ('{"a": 1, // one\n "ours": 2}', '{"a": 1 // one\n}'),
        ('{"a": 1, // one\n "ours": 2, "b": 3}', '{"a": 1, // one\n "b": 3}'),
        ('{\n  // first\n  "ours": 2 // last\n}', "{\n  // first\n // last\n}"),
    ],
)
def test_comments_outlive_what_is_removed(before: str, after: str) -> None:
    document = JsonText(before)

    document.remove(["ours"])

    assert document.text == after


@pytest.mark.parametrize("text", ["", "\n", "  \r\n", "\ufeff"])
def test_an_empty_file_is_an_empty_object(text: str) -> None:
    document = JsonText(text)

    document.put(["a"], 1)

    assert json.loads(document.text.lstrip("\ufeff")) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{"a": }', 1),
        ('{"a": 1}}', 1),
        ('{\n"a" 1\n}', 2),
        ("{'a': 1}", 1),
        ('{"a": 01}', 1),
        ('{"a": "\x01"}', 1),
        ('{"a": tru}', 1),
        ("[" * 1000, 1),
        ('{"a": 1, , "b": 2}', 1),
        ("/* never ends", 1),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Invalid, match=rf"invalid JSON at line {line}"):
        JsonText(text)


@pytest.mark.parametrize("text", ["[]", '"text"', "3", "null"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="not a JSON object"):
        JsonText(text)


def test_a_name_that_stands_twice_is_refused() -> None:
    with pytest.raises(Invalid, match="duplicate key 'hooks'"):
        JsonText('{"hooks": {}, "hooks": {}}')


def test_something_else_in_the_way_is_refused() -> None:
    document = JsonText('{"hooks": [], "list": {}}')

    with pytest.raises(Invalid, match="hooks is not an object"):
        document.put(["hooks", "Stop"], [])
    with pytest.raises(Invalid, match="list is not a list"):
        document.append(["list"], 1)
