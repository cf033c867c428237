"""Seven things that a person says over two sessions: remember, recall, update, delete, list."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.cli.chat.conftest import Person
from tests.cli.chat.scripts import Step, completions_model, messages_model
from tests.real_agents.scripted_model import Request, Tool
from tests.requirements_ledger import requirement

PROTOCOL = (
    "1. Check this index at the start of each session.",
    "- reference: Where to find something outside.",
)
TYPESCRIPT = {
    "filename": "user_prefs.md",
    "name": "User Preferences",
    "description": "Languages and settings",
    "type": "user",
    "content": "- Prefers TypeScript over JavaScript\n- Always uses strict mode",
}
POSTGRES = {
    "filename": "project_auth.md",
    "name": "Auth Service",
    "description": "Database decision",
    "type": "project",
    "content": "PostgreSQL was chosen for the auth service.",
}
FIRST = (
    Step(Tool("memory_view", {}), ("What do you currently remember?",), (*PROTOCOL, "(empty)")),
    Step("Nothing yet.", ("# Memory\n\n(empty)",)),
    Step(["I note that. ", Tool("memory_write", TYPESCRIPT)], ("I prefer TypeScript",)),
    Step("Remembered.", ("Memory saved: user_prefs.md",), ("(empty)",)),
    Step(Tool("memory_write", POSTGRES), ("We decided to use PostgreSQL",)),
    Step("Saved the decision.", ("Memory saved: project_auth.md",)),
)
INDEX = (
    "## User\n- [User Preferences](user_prefs.md) - Languages and settings",
    "## Project\n- [Auth Service](project_auth.md) - Database decision",
)
THEMED = {
    "filename": "user_prefs.md",
    "old_text": "- Always uses strict mode",
    "new_text": "- Strict mode, dark theme",
}
SECOND = (
    Step(
        Tool("memory_read", {"filename": "user_prefs.md"}),
        (),
        (*PROTOCOL, *INDEX),
        ("strict mode", "(empty)"),
    ),
    Step("You prefer TypeScript, in strict mode.", ("type: user", "- Always uses strict mode")),
    Step(Tool("memory_update", {**THEMED, "old_text": "strict typing"}), ("dark theme in all editors",)),
    Step(
        Tool("memory_update", THEMED),
        ("'strict typing' not found in user_prefs.md", "- Always uses strict mode"),
    ),
    Step("Updated.", ("Memory updated: user_prefs.md",)),
    Step(Tool("memory_delete", {"filename": "project_auth.md"}), ("Delete that memory",)),
    Step("Deleted.", ("Memory deleted: project_auth.md",)),
    Step(
        [Tool("memory_view", {"what": "files"}), Tool("memory_view", {"what": "index"})],
        ("List all memory files",),
    ),
    Step(
        "One file: user_prefs.md.",
        ("- user_prefs.md [user] User Preferences", "# Memory\n\n## User\n- [User"),
    ),
)
SAID_FIRST = (
    "What do you currently remember? Check your memory.",
    "I prefer TypeScript over JavaScript and always use strict mode. Remember that.",
    "We decided to use PostgreSQL for the auth service. Save this project decision.",
)
SAID_SECOND = (
    "What do you know about my preferences? Read the details.",
    "Update my preferences: I also prefer dark theme in all editors.",
    "The auth service decision is outdated. Delete that memory.",
    "List all memory files and show me the current index.",
)


@requirement("files.agent", "files.prompt", "files.tools")
def test_the_seven_prompts_run_over_two_sessions_through_the_messages_api(person: Person) -> None:
    model = messages_model(*FIRST, *SECOND)
    name, bound = (
        f"anthropic:claude-sonnet-5-5@{model.url}",
        ("--dir", str(person.folder / "shop" / ".memory")),
    )

    first, noted = person.talks(name, *SAID_FIRST, options=bound)
    person.shell.clock.advance(days=1)
    files_between = {path.name for path in (person.folder / "shop" / ".memory").iterdir()}
    second, _ = person.talks(name, *SAID_SECOND, options=bound)
    model.close()

    model.script.followed()
    assert first == "Nothing yet.\nI note that. \nRemembered.\nSaved the decision.\n"
    assert second.splitlines()[0] == "You prefer TypeScript, in strict mode."
    assert "[memory_write user_prefs.md]" in noted
    assert files_between == {"MEMORY.md", "user_prefs.md", "project_auth.md"}
    kept = {path.name: path.read_text() for path in (person.folder / "shop" / ".memory").iterdir()}
    assert set(kept) == {"MEMORY.md", "user_prefs.md"}
    assert kept["MEMORY.md"] == "# Memory\n\n" + INDEX[0] + "\n"
    assert kept["user_prefs.md"].endswith("- Prefers TypeScript over JavaScript\n- Strict mode, dark theme\n")
    _recorded(person, "shop")
    _cached(model.requests[: len(FIRST)])
    _cached(model.requests[len(FIRST) :])


def _recorded(person: Person, space: str) -> None:
    """Both sessions are kept, with what was said in them, and closed with what they cost."""
    memories = person.memories(space)
    later, earlier = memories.sessions()
    said = [(message.role, message.content) for message in memories.session(earlier.id).messages]
    found = memories.recall("which database for the auth service", where=None).hits
    memories.close()

    assert said[:2] == [("user", SAID_FIRST[0]), ("assistant", "Nothing yet.")]
    assert [text for role, text in said if role == "user"] == [*SAID_FIRST]
    assert said[3] == ("assistant", "I note that.\n\nRemembered.")
    assert later.ended_at is not None
    assert later.usage is not None
    assert later.usage["output_tokens"] == 42 * len(SECOND)
    assert found  # what was said is found, though the file is gone


def _cached(requests: list[Request]) -> None:
    """Nothing that was sent once is ever sent otherwise, so that a cache holds all of it."""
    plain = [_without_marks(request.body) for request in requests]
    for before, after in pairwise(plain):
        assert after["system"] == before["system"]
        assert after["tools"] == before["tools"]
        assert after["messages"][: len(before["messages"])] == before["messages"]
    assert all(request.body["system"][-1]["cache_control"] == {"type": "ephemeral"} for request in requests)
    assert all("cache_control" in request.body["messages"][-1]["content"][-1] for request in requests)


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(each) for key, each in value.items() if key != "cache_control"}
    return [_without_marks(each) for each in value] if isinstance(value, list) else value


@requirement("files.agent")
def test_a_shorter_talk_runs_through_chat_completions_in_two_sessions(person: Person) -> None:
    model = completions_model(
        Step(
            ["Noted. ", Tool("memory_write", TYPESCRIPT), Tool("memory_view", {})],
            ("TypeScript",),
            ("(empty)",),
        ),
        Step("Remembered.", ("Memory saved: user_prefs.md", INDEX[0])),
        Step(
            Tool("memory_read", {"filename": "user_prefs.md"}),
            ("my preferences",),
            (INDEX[0],),
            ("strict mode",),
        ),
        Step("TypeScript.", ("- Always uses strict mode",)),
        numbers_every_call_zero=True,
    )
    name = f"openai:gpt-5@{model.url}/v1"

    first, _ = person.talks(name, SAID_FIRST[1])
    second, _ = person.talks(name, SAID_SECOND[0])
    model.close()

    model.script.followed()
    assert first == "Noted. \nRemembered.\n"
    assert second == "TypeScript.\n"
    results = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == ["call_1_1", "call_1_2"]
    assert (
        model.requests[1]["messages"][: len(model.requests[0]["messages"])] == model.requests[0]["messages"]
    )


@requirement("files.agent")
def test_ollama_is_talked_to_where_it_speaks_the_same_api(sqlite_person: Person) -> None:
    model = completions_model(
        Step(Tool("memory_write", POSTGRES), ("PostgreSQL",)),
        Step("Saved.", ("Memory saved: project_auth.md",)),
    )

    said, _ = sqlite_person.talks(f"ollama:qwen3:8b@{model.url}", SAID_FIRST[2])
    model.close()

    model.script.followed()
    assert said == "Saved.\n"
    assert model.paths == ["/v1/chat/completions"] * 2
    assert model.requests[0]["model"] == "qwen3:8b"
