"""Adding a table to TOML as text: checked by the standard parser, and taken out again."""

from __future__ import annotations

import tomllib

import pytest

from holdfast.agents.connect.settings_files import table_in, with_table, without_table
from holdfast.errors import Invalid

NAMES = ("mcp_servers", "holdfast")
OURS = {
    "command": "/opt/my tools/holdfast",
    "args": ["mcp", "--space", 'a "quoted" \\ naïve 🎈'],
    "startup_timeout_sec": 20,
}
FILES = [
    "",
    "model = 'x'\n",
    "model = 'x'\n\n",
    "# a comment\n[features]\nhooks = true\n",
    '[mcp_servers.other]\ncommand = "x"\n\n# about z\n[z]\nq = 1\n',
    "a = 1\r\n[b]\r\nc = 2\r\n",
    '[mcp_servers]\n[mcp_servers."with.dot"]\ncommand = "x"\n',
    'text = """\n[mcp_servers.holdfast]\ncommand = "a trap"\n"""\n',
]


@pytest.mark.parametrize("text", FILES)
def test_the_table_goes_in_and_out_without_a_trace(text: str) -> None:
    made = with_table(text, NAMES, OURS)

    assert made.startswith(text)
    assert table_in(made, NAMES) == OURS
    assert with_table(made, NAMES, OURS) == made
    assert without_table(made, NAMES) == text


def test_a_file_without_a_last_line_break_gets_one_and_says_the_same() -> None:
    made = with_table("a = 1", NAMES, OURS)

    assert tomllib.loads(without_table(made, NAMES)) == {"a": 1}


def test_what_others_added_behind_it_stays_comments_too() -> None:
    later = "\n# mine\n[later]\nz = [\n  1,\n]\n"

    made = without_table(with_table("a = 1\n", NAMES, OURS) + later, NAMES)

    assert made == "a = 1\n" + later


def test_an_entry_that_says_something_else_is_replaced_with_all_below_it() -> None:
    old = '[mcp_servers.holdfast]\ncommand = "old"\n\n[mcp_servers.holdfast.env]\nX = "1"\n'
    text = f"a = 1\n\n{old}\n[b]\nc = 2\n"

    made = with_table(text, NAMES, OURS)

    assert tomllib.loads(made) == {"a": 1, "b": {"c": 2}, "mcp_servers": {"holdfast": OURS}}


@pytest.mark.parametrize("text", ['mcp_servers = {x = {command = "y"}}\n', "mcp_servers = 3\n"])
def test_a_form_that_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"write it as \[mcp_servers\.NAME\]"):
        with_table(text, NAMES, OURS)


def test_an_inline_entry_that_cannot_be_cut_out_is_refused() -> None:
    with pytest.raises(Invalid, match="remove it by hand"):
        without_table('mcp_servers = {holdfast = {command = "holdfast"}}\n', NAMES)


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(Invalid, match="invalid TOML"):
        with_table("a = \n", NAMES, OURS)
