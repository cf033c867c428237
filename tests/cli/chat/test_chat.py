"""What a person can do in a chat besides talking, and what happens when something goes wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.cli.chat import StandardTerminal
from holdfast.errors import Unavailable
from tests.cli.chat.conftest import NOTES, Person
from tests.cli.chat.scripts import Step, completions_model
from tests.real_agents.scripted_model import Failure, ScriptedModel, Tool
from tests.requirements_ledger import requirement

NOTE = {
    "filename": "note.md",
    "name": "Note",
    "description": "A note",
    "type": "user",
    "content": "Likes tea",
}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    scripted = ScriptedModel()
    yield scripted
    scripted.close()


def named(model: ScriptedModel) -> str:
    return f"anthropic:claude-sonnet-5-5@{model.url}"


@requirement("files.agent")
def test_the_memory_command_lists_and_deletes_without_asking_the_model(
    sqlite_person: Person, model: ScriptedModel
) -> None:
    model.say(Tool("memory_write", NOTE), "Noted.")

    said, _ = sqlite_person.talks(named(model), "I like tea", "/memory", "/memory delete nosuchid", "/help")
    memories = sqlite_person.memories("notes")
    [memory] = memories.find().memories
    memories.close()
    after, _ = sqlite_person.talks(named(model), f"/memory delete {memory.id}", "/memory")

    assert f"• [{memory.id}] Note: Likes tea" in said
    assert "No memory nosuchid" in said
    assert "/quit - end the chat" in said
    assert f"Deleted: 'Likes tea'\nUndo: /memory restore {memory.id}" in after
    assert "No memories yet." in after
    assert len(model.requests) == 2


def test_without_a_space_it_is_the_current_one_and_its_memories(
    sqlite_person: Person, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_person.shell.remembers("Prefers tea")

    _, usual = sqlite_person.talks(named(model), "/quit", "this is not said", options=())
    monkeypatch.setenv("HOLDFAST_SPACE", "notes")
    _, named_by_settings = sqlite_person.talks(named(model), options=())

    assert "space 'default', 1 memory." in usual
    assert "space 'notes', 0 memories." in named_by_settings
    assert model.requests == []


def test_in_a_store_without_memories_the_current_space_is_made(
    sqlite_person: Person, model: ScriptedModel
) -> None:
    model.say("Hello.")

    said, noted = sqlite_person.talks(named(model), "hello", options=())

    assert said == "Hello.\n"
    assert "space 'default', 0 memories." in noted


def test_another_space_is_talked_to_with_its_own_tools(sqlite_person: Person, model: ScriptedModel) -> None:
    sqlite_person.shell.in_space("helper", "assistant")
    model.say(Tool("add_to_memory", {"content": "Alec is my boss", "category": "person"}), "Noted.")

    sqlite_person.talks(named(model), "Remember that Alec is my boss", options=("--space", "helper"))

    assert "add_to_memory" in model.requests[0].tools
    assert "call add_to_memory only after a yes" in model.requests[0].system
    found = sqlite_person.shell.json("list", "--space", "helper")["memories"]
    assert [memory["content"] for memory in found] == ["Alec is my boss"]


def test_what_the_model_did_not_save_is_captured_when_the_chat_ends(
    sqlite_person: Person, model: ScriptedModel
) -> None:
    sqlite_person.shell.in_space("helper", "assistant")
    model.say(
        Tool("add_to_memory", {"content": "Boss: Alec", "category": "person", "subject": "Alec"}),
        "Noted.",
        "Fine.",
    )

    sqlite_person.talks(
        named(model),
        "Remember that Alec is my boss",
        "I prefer short answers in German.",
        options=("--space", "helper"),
    )

    found = sqlite_person.shell.json("list", "--space", "helper")["memories"]
    assert [memory["content"] for memory in found] == [
        "Boss: Alec",
        "The user prefers short answers in German.",
    ]


def test_a_space_that_is_not_there_is_named(sqlite_person: Person, model: ScriptedModel) -> None:
    result = sqlite_person.shell("chat", "--model", named(model), "--space", "nowhere")

    assert result.exit_code == 1
    assert "there is no space 'nowhere'" in result.stderr


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("anthropic:claude-sonnet-5-5", "set ANTHROPIC_API_KEY; or choose another model with --model"),
        ("openai:gpt-5", "set OPENAI_API_KEY"),
        ("claude", "unknown model 'claude': use anthropic:MODEL[@URL]"),
        ("none", "chat needs a model: use anthropic:MODEL"),
        ("ollama:", "'ollama:' has no model name: use anthropic:MODEL"),
    ],
)
def test_without_a_key_or_a_model_one_line_says_what_to_do(
    sqlite_person: Person, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)

    result = sqlite_person.shell("chat", "--model", name, stdin="hello\n")

    assert result.exit_code in (1, 3)
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert "default" not in sqlite_person.shell.says("space", "list")  # nothing was made


@pytest.mark.parametrize("what", ["nobody listens", "it has too much to do", "it fails after a tool"])
def test_a_line_of_a_pipe_that_gets_no_answer_ends_the_chat_with_one_clear_line(
    sqlite_person: Person, model: ScriptedModel, what: str
) -> None:
    match what:
        case "nobody listens":
            model.close()
        case "it has too much to do":
            model.say(Failure(529, "overloaded_error"))
        case _:
            model.say(Tool("memory_write", NOTE), Failure(500, "api_error"))

    result = sqlite_person.shell(
        "chat", *NOTES, "--model", named(model), stdin="I like tea\nwhat do I like?\n"
    )
    memories = sqlite_person.memories("notes")
    [session] = memories.sessions()
    said = [one.content for one in memories.session(session.id).messages]
    memories.close()

    told = [line for line in result.stderr.splitlines() if not line.startswith("[")]
    assert result.exit_code == 3
    assert len(told) == 1
    assert told[0].startswith(f"holdfast: {named(model)} ")
    assert told[0].endswith("; the chat was ended")
    assert "what do I like?" not in [*said, *(request.text for request in model.requests)]
    assert session.ended_at is not None


def test_at_a_terminal_a_model_that_is_away_is_told_of_and_the_prompt_stays(
    sqlite_person: Person, model: ScriptedModel, at_a_terminal: None
) -> None:
    model.close()

    said, noted = sqlite_person.talks(named(model), "hello", "/memory")

    assert "is unreachable" in noted
    assert "No memories yet." in said


def test_what_the_model_refuses_can_be_said_again(
    sqlite_person: Person, model: ScriptedModel, at_a_terminal: None
) -> None:
    model.say(Failure(529, "overloaded_error"), "Hello.")

    said, noted = sqlite_person.talks(named(model), "hello", "hello again")

    assert "Hello.\n" in said
    assert "is overloaded (529)" in noted
    assert [text for _, text in model.requests[1].messages] == ["hello again"]


def test_a_failure_after_tools_is_kept_in_the_conversation(
    sqlite_person: Person, model: ScriptedModel, at_a_terminal: None
) -> None:
    model.say(["One moment. ", Tool("memory_write", NOTE)], Failure(500, "api_error"), "Where were we?")

    sqlite_person.talks(named(model), "I like tea", "go on")

    roles = [role for role, _ in model.requests[2].messages]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert "(interrupted)" in model.requests[2].messages[3][1]


def test_arguments_that_are_no_object_are_sent_back_to_the_model(sqlite_person: Person) -> None:
    model = completions_model(
        Step(Tool("memory_view", {}), ("hello",)),
        Step("Sorry.", ("Error: The arguments are not a JSON object: send them again.",)),
        raw_arguments='{"what": ',
    )

    said, noted = sqlite_person.talks(f"openai:gpt-5@{model.url}/v1", "hello")
    model.close()

    model.script.followed()
    assert said == "Sorry.\n"
    assert "memory_view: the model sent invalid arguments" in noted


def test_a_model_that_never_stops_calling_tools_is_stopped(
    sqlite_person: Person, model: ScriptedModel
) -> None:
    model.say(*[Tool("memory_view", {})] * 25, "Hello again.")

    said, noted = sqlite_person.talks(named(model), "hello", "are you there?")

    assert "stopped after 25 rounds of tool calls" in noted
    assert said == "Hello again.\n"
    assert len(model.requests) == 26


def test_a_memory_that_fails_does_not_end_the_talk(
    sqlite_person: Person, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise Unavailable("the database is away")

    monkeypatch.setattr(Memories, "say_all", away)
    monkeypatch.setattr(Memories, "write_file", away)
    model.say(Tool("memory_write", NOTE), "I could not note that.", "Still here.")

    said, noted = sqlite_person.talks(named(model), "I like tea", "hello?")

    assert said == "I could not note that.\nStill here.\n"
    assert "the database is away" in model.requests[1].text
    assert "the messages were not stored: the database is away" in noted


@pytest.mark.parametrize("why", ["HOLDFAST_QUIET is set", "capture is off in project website"])
def test_where_it_is_quiet_nothing_that_is_said_is_kept(
    sqlite_person: Person, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: str
) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "website")
    if "project" in why:
        sqlite_person.shell.says("quiet", "on")
    else:
        monkeypatch.setenv("HOLDFAST_QUIET", "1")

    _, noted = sqlite_person.talks(named(model), "a secret of mine")
    memories = sqlite_person.memories("notes")
    [session] = memories.sessions()
    said = memories.session(session.id).messages
    memories.close()

    assert f"messages are not stored: {why}" in noted
    assert said == ()


def test_an_answer_cannot_steer_the_terminal(sqlite_person: Person, model: ScriptedModel) -> None:
    model.say("\x1b]0;owned\x07hi")

    said, _ = sqlite_person.talks(named(model), "hello")

    assert said == "\\x1b]0;owned\\x07hi\n"


@requirement("files.agent")
def test_ctrl_c_stops_an_answer_and_not_the_talk(
    sqlite_url: str, tmp_path: Path, model: ScriptedModel
) -> None:
    model.gate.clear()
    model.say("This is never read", "I am here.")
    command = [sys.executable, "-m", "holdfast", "chat", "--db", sqlite_url, "--model", named(model)]
    person = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = _interrupted(person, model)
    finally:
        person.kill()
        person.communicate()

    assert person.returncode == 0
    assert said.endswith("I am here.\n")
    assert [text for _, text in model.requests[-1].messages] == [
        "tell me a long story",
        "(interrupted)",
        "are you there?",
    ]


def test_ctrl_c_at_the_prompt_ends_the_talk_and_closes_the_session(
    sqlite_person: Person, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: StandardTerminal) -> str | None:
        raise KeyboardInterrupt

    monkeypatch.setattr(StandardTerminal, "ask", interrupted)

    result = sqlite_person.shell("chat", *NOTES, "--model", named(model))
    memories = sqlite_person.memories("notes")
    [session] = memories.sessions()
    memories.close()

    assert result.exit_code == 130
    assert session.ended_at is not None


def _interrupted(person: subprocess.Popen[str], model: ScriptedModel) -> str:
    """Asks, breaks the answer off while the model thinks, and asks again; answers what came out."""
    assert person.stdin is not None
    person.stdin.write("tell me a long story\n")
    person.stdin.flush()
    assert model.asked.wait(120)
    person.send_signal(signal.SIGINT)
    assert _line_with("stopped", person)
    model.gate.set()
    said, _ = person.communicate("are you there?\n", timeout=120)
    return said


def _line_with(text: str, process: subprocess.Popen[str]) -> bool:
    assert process.stderr is not None
    return any(text in line for line in iter(process.stderr.readline, ""))
