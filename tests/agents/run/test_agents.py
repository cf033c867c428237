"""How each agent's command line is made: what is added, what is left alone."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from holdfast.agents.run.agents import AGENTS, MOST, Arguments, PreparedCommand, PromptFile, name_of
from holdfast.errors import Invalid
from tests.requirements_ledger import requirement

PROMPT = 'Line one\nLine "two" \\ ünïcode'


def prepared(*words: str, prompt: str = PROMPT, agent: str | None = None) -> PreparedCommand:
    command = Arguments(words)
    return AGENTS[name_of(command, agent)].prepared(command, PromptFile(prompt), "session-1")


def options(found: PreparedCommand) -> Arguments:
    return Arguments(found.words)


# ---------------------------------------------------------------------------------------------- Claude Code


@requirement("ops.run")
def test_claude_is_given_the_prompt_and_made_to_stream() -> None:
    found = prepared("claude", "-p", "Check all")

    assert found.words == (
        *("claude", "-p", "Check all", "--output-format", "stream-json", "--verbose"),
        *("--append-system-prompt", PROMPT, "--session-id", "session-1"),
    )
    assert found.shows == "answer"


@pytest.mark.parametrize(
    ("asked", "shows"),
    [
        (("--output-format", "text"), "answer"),
        (("--output-format=text", "--verbose"), "answer"),
        (("--output-format", "json"), "last line"),
        (("--output-format=json",), "last line"),
        (("--verbose", "--output-format", "json"), "list of lines"),
        (("--output-format", "stream-json", "--verbose"), "everything"),
        (("--output-format=stream-json", "--verbose"), "everything"),
    ],
)
def test_the_format_that_the_caller_asked_for_decides_what_is_shown(
    asked: tuple[str, ...], shows: str
) -> None:
    found = prepared("claude", "-p", "x", *asked)

    assert found.shows == shows
    assert options(found).value("--output-format") == "stream-json"
    assert [word for word in found.words if word.startswith("--output-format")] != []
    assert found.words.count("--verbose") == 1


def test_a_stream_that_the_caller_asked_for_is_left_as_it_is() -> None:
    words = ("claude", "-p", "x", "--output-format", "stream-json", "--verbose", "--session-id", "mine")

    assert prepared(*words, prompt="").words == words


@requirement("ops.run")
@pytest.mark.parametrize(
    "resumed", [("--resume", "id"), ("-r", "id"), ("--continue",), ("-c",), ("-pc",), ("--resume=id",)]
)
def test_a_conversation_that_goes_on_gets_todays_prompt(resumed: tuple[str, ...]) -> None:
    found = options(prepared("claude", "-p", "x", *resumed))

    assert found.value("--system-prompt-snapshot") == "off"
    assert not found.has("--session-id")


def test_the_callers_word_on_the_snapshot_counts() -> None:
    found = prepared("claude", "-p", "x", "-c", "--system-prompt-snapshot", "on")

    assert options(found).value("--system-prompt-snapshot") == "on"


@pytest.mark.parametrize("own", [("--append-system-prompt", "Mine"), ("--append-system-prompt=Mine",)])
def test_the_callers_own_prompt_comes_before_ours(own: tuple[str, ...]) -> None:
    found = prepared("claude", *own, "-p", "x")

    assert options(found).value("--append-system-prompt") == f"Mine\n\n{PROMPT}"
    assert sum(word.startswith("--append-system-prompt") for word in found.words) == 1


def test_the_callers_own_prompt_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("Mine", encoding="utf-8")

    found = options(prepared("claude", "--append-system-prompt-file", str(file), "-p", "x"))
    missing = options(prepared("claude", "--append-system-prompt-file", "nowhere.md", "-p", "x"))

    assert found.value("--append-system-prompt") == f"Mine\n\n{PROMPT}"
    assert not found.has("--append-system-prompt-file")
    assert missing.value("--append-system-prompt-file") == "nowhere.md"
    assert not missing.has("--append-system-prompt")


def test_what_stands_behind_two_dashes_is_the_callers() -> None:
    found = prepared("claude", "-p", "--", "--output-format", "-c")

    assert found.words[-3:] == ("--", "--output-format", "-c")
    assert found.shows == "answer"
    assert not options(found).has("--system-prompt-snapshot")


def test_a_prompt_that_is_too_long_for_a_command_line_comes_in_a_private_file() -> None:
    long = "x" * (MOST + 1)
    command = Arguments(("claude", "-p", "x"))

    with PromptFile(long) as told:
        found = options(AGENTS["claude"].prepared(command, told, "s"))
        path = found.value("--append-system-prompt-file")
        assert path is not None
        assert Path(path).read_text(encoding="utf-8") == long
        assert os.stat(path).st_mode & 0o777 == 0o600

    assert not Path(path).exists()


def test_without_a_prompt_nothing_is_appended() -> None:
    assert not options(prepared("claude", "-p", "x", prompt="")).has("--append-system-prompt")


# ------------------------------------------------------------------------------------------------- the others


def test_codex_is_given_its_instructions_as_toml() -> None:
    found = prepared("codex", "exec", "-m", "gpt", "Check all")

    assert found.words[:4] == ("codex", "exec", "--json", "-c")
    assert tomllib.loads(found.words[4]) == {"developer_instructions": PROMPT}
    assert found.words[5:] == ("-m", "gpt", "Check all")
    assert found.shows == "answer"
    assert prepared("codex", "exec", "--json", "x").shows == "everything"


def test_gemini_is_told_before_it_is_asked() -> None:
    found = prepared("gemini", "-p", "Check all", "-m", "flash")

    assert options(found).value("--prompt") == f"<holdfast>\n{PROMPT}\n</holdfast>\n\nCheck all"
    assert options(found).value("-o") == "stream-json"
    assert found.shows == "answer"
    assert prepared("gemini", "-p", "x", "-o", "stream-json").shows == "everything"


def test_of_geminis_whole_json_nothing_can_be_read() -> None:
    found = prepared("gemini", "-p", "x", "-o", "json")

    assert (found.shows, found.readable) == ("everything", False)


def test_a_plain_program_finds_its_prompt_in_the_environment() -> None:
    found = prepared("./mine", "--json", agent="plain")

    assert found.words == ("./mine", "--json")
    assert found.environment == {"HOLDFAST_PROMPT": PROMPT}


@pytest.mark.parametrize(
    ("program", "agent"),
    [("claude", "claude"), ("/usr/bin/claude", "claude"), ("claude.exe", "claude"), ("./codex", "codex")],
)
def test_an_agent_is_known_by_its_programs_name(program: str, agent: str) -> None:
    assert name_of(Arguments((program,)), None) == agent


@pytest.mark.parametrize("words", [("vim",), ("plain",), ("claudette", "-p", "x")])
def test_an_unknown_program_must_be_said_to_be_an_agent(words: tuple[str, ...]) -> None:
    with pytest.raises(
        Invalid, match="set its output format with --agent, one of claude, codex, gemini, plain"
    ):
        name_of(Arguments(words), None)


@pytest.mark.parametrize(
    "words", [("claude", "x"), ("claude", "mcp", "list"), ("codex", "x"), ("gemini", "x")]
)
def test_an_agent_that_waits_for_a_person_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(Invalid, match="interactive sessions are not supported"):
        prepared(*words)


# ------------------------------------------------------------------------------------------------- arguments


def test_options_are_found_in_each_of_their_spellings() -> None:
    words = Arguments(("x", "-pc", "--a", "1", "--b=2", "--c", "--", "--d", "4"))

    assert words.has("-p")
    assert words.has("-c")
    assert not words.has("-x")
    assert (words.value("--a"), words.value("--b"), words.value("--d")) == ("1", "2", None)
    assert words.value("--c") is None
    assert words.without("--a", "--b").words == ("x", "-pc", "--c", "--", "--d", "4")
    assert words.adding("--e").words == ("x", "-pc", "--a", "1", "--b=2", "--c", "--e", "--", "--d", "4")
