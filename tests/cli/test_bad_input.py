"""Bad input gets a clear refusal or a correct result, the right exit code, and never a traceback."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell

PROFILE_WITH_A_TYPO = """\
name = "lab"
says = "A profile with a mistake."

[[category]]
name = "note"

[policy]
on_same = "reinforze"
on_contradiction = "weaken"
removal = "soft"
"""

REFUSED = [
    (["remember", ""], "the text is empty: enter what to remember"),
    (["remember", " \t\n "], "the text is empty: enter what to remember"),
    (["remember", "\u202e\u200b"], "the text is empty: enter what to remember"),
    (["remember", "x" * 16_385], "the text has 16,385 characters: the limit is 16,384"),
    (["remember", "x", "-c", "nonsense"], "unknown category 'nonsense': use one of general, user,"),
    (["remember", "x", "--confidence", "nan"], "confidence must be a number from 0 to 1"),
    (["remember", "x", "--session", ""], "--session is empty: give a session id, or leave it out"),
    (["remember", "x", "--session", "a\nb"], "invalid id 'a\\nb': use 1 to 200 printable characters"),
    (["remember", "x", "--session", "s", "--tier", "9"], "unknown tier 9: use 1, 2 or 3"),
    (["remember", "x", "--key", " "], "the idempotency key must be 1 to 200 printable characters"),
    (["remember", "x", "-t", "t" * 65], "the tag has 65 characters: the limit is 64"),
    (["remember", "x", "-s", "s" * 201], "the subject has 201 characters: the limit is 200"),
    (["show", "nowhere0"], "there is no memory 'nowhere0' in space 'default': `holdfast list` shows them"),
    (["show", "'; DROP TABLE memories; --"], "there is no memory"),
    (["show", ""], "there is no memory"),
    (["why", "nowhere0"], "there is no memory 'nowhere0'"),
    (["revise", "nowhere0", "x"], "there is no memory 'nowhere0'"),
    (["forget", "nowhere0"], "there is no memory 'nowhere0'"),
    (["restore", "nowhere0"], "there is no memory 'nowhere0'"),
    (["erase", "nowhere0", "--yes"], "there is no memory 'nowhere0' in space 'default': nothing was erased"),
    (["link", "nowhere0", "nowhere1"], "there is no memory 'nowhere0'"),
    (["link", "same", "same"], "a memory can't be linked to itself: give two ids"),
    (["link", "nowhere0", "nowhere1", "--remove"], "there is no memory 'nowhere0'"),
    (["inbox", "approve", "nowhere0"], "there is no memory 'nowhere0'"),
    (["inbox", "reject", "nowhere0"], "there is no memory 'nowhere0'"),
    (["undo-session", "nowhere"], "there is no session 'nowhere' in space 'default'"),
    (["recall", "  "], "the query is empty: enter what to search for"),
    (["recall", "x", "--limit", "0"], "limit must be 1 or more, not 0"),
    (["brief", "--budget", "-1"], "budget must be 0 or more tokens, not -1"),
    (["space", "create", "Not A Name"], "invalid space name 'Not A Name': use a-z, 0-9, _ and -"),
    (["space", "create", "../lab"], "invalid space name '../lab'"),
    (["space", "create", "lab", "--profile", "nonsense"], "unknown profile 'nonsense': use one of default,"),
    (
        ["space", "create", "lab", "--profile", "none.toml"],
        "the profile 'none.toml' can't be read: No such file",
    ),
    (["space", "show", "nowhere"], "there is no space 'nowhere': known spaces: none yet"),
    (["space", "delete", "nowhere", "--yes"], "there is no space 'nowhere'"),
    (["show", "\udc80"], "there is no memory '\\udc80'"),
    (["list", "--space", "\udc80"], "a text has characters that can't be stored"),
    (["list", "-s", "\udc80"], "a text has characters that can't be stored"),
    (["import", "none.jsonl"], "'none.jsonl' can't be read: No such file or directory"),
    (["backup", "none.gz", "--restore"], "'none.gz' can't be read: No such file or directory"),
    (["export", "none/there.jsonl"], "'none/there.jsonl' can't be written: No such file or directory"),
    (["token", "create", "--scope", "metrics", "--space", "default"], "metrics cover all spaces"),
    (["recall", "x", "--session", ""], "--session is empty: give a session id, or leave it out"),
    (["context", "--session", ""], "--session is empty"),
    (["brief", "--session", ""], "--session is empty"),
    (["import", "-"], "standard input is empty: nothing was imported"),
]

WRONG_USAGE = [
    (["remember"], "missing argument 'CONTENT'; see `holdfast remember --help`"),
    (["remember", "x", "--confidence", "abc"], "'abc' is not a valid float"),
    (["remember", "x", "--importance", "6"], "6 is not in the range 1<=x<=5"),
    (["remember", "x", "--origin", "nobody"], "'nobody' is not one of 'operator', 'user'"),
    (["remember", "x", "--tier", "1"], "--tier needs --session ID"),
    (["remember", "x", "--space", ""], "invalid value for '--space': empty value: give one, or leave"),
    (["--db", "", "list"], "invalid value for '--db': empty value"),
    (["remember", "Takes", "60s"], "got unexpected extra argument (60s)"),
    (["list", "--as-of", "yesterday"], "'yesterday' is not a valid time: use for example 2026-03-01"),
    (["list", "--as-of", "2026-02-30"], "'2026-02-30' is not a valid time"),
    (["list", "--as-of", "0001-01-01T00:00+23:59"], "is not a valid time"),
    (["recall", "x", "--as-of", ""], "'' is not a valid time"),
    (["events", "--limit", "0"], "0 is not in the range x>=1"),
    (["list", "--limit", "0"], "0 is not in the range x>=1"),
    (["list", "--limit", "ten"], "'ten' is not a valid integer"),
    (["list", "--state", "lost"], "'lost' is not one of 'active', 'inactive', 'waiting'"),
    (["list", "--nonsense"], "no such option"),
    (["lst"], "unknown command 'lst': did you mean list?"),
    (["inbox", "aprove", "x"], "no such command 'aprove'"),
    (["link", "a", "b", "--kind", "loves"], "'loves' is not one of 'related'"),
    (["revise", "a", "-t", "x", "--no-tags"], "--tag and --no-tags can't be combined"),
    (["backup", "b.gz", "--replace"], "--replace needs --restore"),
    (["import", "x", "--from", "xml"], "'xml' is not one of 'holdfast', 'claude-code', 'codex'"),
    (["import", "x.csv", "--from", "csv", "--follow"], "--follow works with transcripts only, not with csv"),
    (["run"], "missing COMMAND: for example holdfast run -- claude -p"),
    (["quiet", "on", "--session", ""], "empty name: give a project or session"),
    (["quiet", "on", "--project", ""], "empty name"),
    (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
]


@pytest.mark.parametrize(("arguments", "reason"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_can_not_be_taken_is_refused_in_one_line(
    shell: Shell, arguments: list[str], reason: str
) -> None:
    result = shell(*arguments)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"holdfast: {reason}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("arguments", "reason"), WRONG_USAGE, ids=lambda value: str(value)[:40])
def test_wrong_usage_is_told_in_one_line(sqlite_shell: Shell, arguments: list[str], reason: str) -> None:
    result = sqlite_shell(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("holdfast: ")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("bell\x07 and \x1b[31mred\x1b[0m", "bell and [31mred[0m"),
        ("left\u202eright\u202c", "leftright"),
        ("half a pair \ud83d here", "half a pair \ufffd here"),
        ("two\r\nlines", "two\nlines"),
        ("emoji \U0001f600 and 漢字", "emoji \U0001f600 and 漢字"),
        ("x" * 16_384, "x" * 16_384),
    ],
    ids=["controls", "bidi", "surrogate", "crlf", "unicode", "longest"],
)
def test_strange_text_is_cleaned_and_kept(shell: Shell, given: str, kept: str) -> None:
    assert shell.json("remember", given)["memory"]["content"] == kept


def test_nul_bytes_and_broken_utf8_on_standard_input_are_cleaned(shell: Shell) -> None:
    answer = shell.json("remember", "-", stdin=b"a\x00b \xff end\n")

    assert answer["memory"]["content"] == "ab \ufffd end"


@pytest.mark.parametrize("size", [1_000_000, 9_000_000])
def test_a_megabyte_of_text_is_refused(sqlite_shell: Shell, size: int) -> None:
    result = sqlite_shell("remember", "-", stdin=b"x" * size)

    assert result.exit_code in (1, 2)
    assert (
        "characters: the limit is 16,384" in result.stderr or "larger than 8,000,000 bytes" in result.stderr
    )


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'",
        "AND OR NOT NEAR",
        "tea*",
        "tea^2",
        "(tea",
        "content:tea",
        "-tea",
        "tea\x00",
        "'; --",
        "%",
        "&|!",
    ],
)
def test_search_syntax_in_a_question_is_only_text(shell: Shell, query: str) -> None:
    shell.remembers("Drinks green tea in the morning")

    result = shell("recall", "--", query)

    assert result.exit_code == (0 if "tea" in query else 1), result.output
    assert ("green tea" in result.stdout) == ("tea" in query)


def test_sql_in_a_text_is_only_text(shell: Shell) -> None:
    shell.remembers("Robert'); DROP TABLE memories; --", "-s", "' OR 1=1 --")

    assert shell.json("list", "-s", "' OR 1=1 --")["total"] == 1
    assert shell.json("list", "-s", "' OR 1=2 --")["total"] == 0


def test_a_bad_profile_is_refused_with_its_file_line_and_reason(
    sqlite_shell: Shell, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    with open("lab.toml", "w", encoding="utf-8") as file:
        file.write(PROFILE_WITH_A_TYPO)

    result = sqlite_shell("space", "create", "lab", "--profile", "lab.toml")

    assert result.exit_code == 1
    assert result.stderr == (
        "holdfast: lab.toml, line 8: on_same = 'reinforze': use one of reinforce, suggest, merge, overwrite\n"
    )


def test_with_json_an_error_is_an_object_on_standard_output_too(sqlite_shell: Shell) -> None:
    result = sqlite_shell("remember", "x", "-c", "nonsense", "--json")

    assert result.exit_code == 1
    assert result.stdout.startswith('{"error": {"kind": "unknown_category", "message": "unknown category')
    assert result.stdout.endswith('"field": "category"}}\n')
    assert result.stderr.startswith("holdfast: unknown category 'nonsense'")


def test_with_json_wrong_usage_is_an_object_too(sqlite_shell: Shell) -> None:
    result = sqlite_shell("list", "--json", "--nonsense")

    assert result.exit_code == 2
    assert result.stdout.startswith('{"error": {"kind": "usage"')


def test_a_chat_in_json_is_refused_in_json(sqlite_shell: Shell) -> None:
    result = sqlite_shell("chat", "--json")

    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["message"].startswith("chat does not support --json")
