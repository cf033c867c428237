"""What was said, on the command line: quoted by recall, put into prompts by context, or not kept at all."""

from __future__ import annotations

import json

import pytest

from holdfast.app.wiring import open_store
from holdfast.engine.memories import Memories
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

MOVED = "I moved the jellyfin server to the cellar last night"


@pytest.fixture
def talk(shell: Shell) -> Shell:
    """A space in which Tom said something, from which one memory was taken."""
    store = open_store(shell.db)
    memories = Memories.of(store, "default", clock=shell.clock)
    memories.open_session("s1", project=None)
    memories.say("s1", "user", MOVED, speaker="Tom")
    tea = memories.say("s1", "user", "My favourite tea is lapsang \x1b[31msouchong")
    long = (
        "Nothing happened here. " * 40 + "The router password is with Anna. " + "Nothing happened here. " * 40
    )
    memories.say("s1", "assistant", long)
    memories.speaking_as("user", session="s1").remember("Favourite tea is lapsang", message=tea.id)
    store.close()
    return shell


@requirement("sem.search")
def test_recall_quotes_what_was_said_by_whom_and_when(talk: Shell) -> None:
    said = talk.says("recall", "jellyfin", "server", "cellar")

    assert said.startswith(f'2026-03-01 12:00  Tom: "{MOVED}" [session s1] (score ')


def test_a_memory_shows_the_message_that_it_was_taken_from(talk: Shell) -> None:
    said = talk.says("recall", "favourite tea lapsang")

    lines = said.splitlines()
    assert "Favourite tea is lapsang (score" in lines[0]
    assert lines[1].startswith('  From 2026-03-01 12:00  user: "My favourite tea is lapsang')
    assert "\x1b" not in said


def test_of_a_long_message_the_part_that_was_asked_for_is_shown(talk: Shell) -> None:
    said = talk.says("recall", "router", "password").splitlines()[0]

    assert "The router password is with Anna." in said
    assert len(said) < 400


@requirement("sem.recall.score")
def test_explain_shows_the_factors_of_both_kinds(talk: Shell) -> None:
    memory = talk.says("recall", "favourite tea lapsang", "--explain")
    message = talk.says("recall", "jellyfin server cellar", "--explain")

    assert "relevance" in memory
    assert "x recency 1 x importance 1 x confidence 0.7; relevance = words" in memory
    assert "x confidence 0.7; relevance = " in message
    assert "+ session " in message


def test_the_json_says_of_which_kind_a_hit_is(talk: Shell) -> None:
    [memory] = talk.json("recall", "favourite tea lapsang")["hits"]
    [message, *_] = talk.json("recall", "jellyfin server cellar")["hits"]

    assert memory["kind"] == "memory"
    assert memory["memory"]["content"] == "Favourite tea is lapsang"
    assert memory["cites"]["content"].startswith("My favourite tea")
    assert message["kind"] == "message"
    assert message["message"]["speaker"] == "Tom"
    assert message["session"]["id"] == "s1"
    assert set(message) == {"kind", "message", "session", "score", "parts", "evidence", "matched"}


def test_memories_alone_can_be_asked_for(talk: Shell) -> None:
    assert talk("recall", "jellyfin server cellar", "--no-messages").exit_code == 1
    assert talk("recall", "jellyfin server cellar", "-c", "fact").exit_code == 1


@requirement("sem.recall.context")
def test_context_prints_a_block_once_and_then_nothing(talk: Shell) -> None:
    first = talk("context", "--session", "s2", stdin="what did Tom say about the jellyfin server\n")
    again = talk("context", "--session", "s2", stdin="what did Tom say about the jellyfin server\n")

    assert first.exit_code == again.exit_code == 0
    assert first.stdout.startswith("## Relevant memories\n\nRecalled from earlier")
    assert f'- [said 2026-03-01 by Tom] "{MOVED}"' in first.stdout
    assert again.stdout == ""


@requirement("sem.recall.context")
@pytest.mark.parametrize("field", ["text", "content"])
def test_context_takes_messages_as_json_lines(talk: Shell, field: str) -> None:
    lines = [
        {"role": "user", field: "The jellyfin server is not here"},
        {"role": "assistant", field: "Shall I look?"},
        {"role": "user", field: "What did Tom say about the jellyfin server?"},
    ]

    answer = talk.json("context", "--session", "s2", stdin="\n".join(map(json.dumps, lines)))

    assert [hit["message"]["content"] for hit in answer["hits"]] == [MOVED]
    assert MOVED in answer["text"]
    assert set(answer) == {"text", "sha256", "tokens", "hits", "left_out", "candidates"}


@requirement("context.block")
def test_context_explains_each_line_and_what_was_left_out(shell: Shell) -> None:
    for number in range(5):
        shell.remembers(f"Jellyfin library {number} is scanned at {number} o'clock")
    question = "when is each jellyfin library scanned"

    told = shell.says("context", "--session", "s2", "--explain", stdin=question)
    answer = shell.json("context", "--session", "s2", "--explain", "--limit", "1", stdin=question)

    inside, outside = told.split("No room:")
    assert inside.startswith("In the block:")
    assert (inside.count("Jellyfin library"), outside.count("Jellyfin library")) == (3, 2)
    assert told.count("relevance =") == 5
    assert f"Asked with: {question}" in told
    assert [each["place"] for each in answer["candidates"]] == ["in the block", *["no room"] * 4]
    assert {each["asked"] for each in answer["candidates"]} == {question}
    assert "Jellyfin library" in shell.says("context", "--session", "s2", stdin=question)
    again = shell.says("context", "--session", "s2", "--explain", stdin=question)
    assert "Shown already:" in again
    assert "Nothing found" in shell.says("context", "--explain", stdin="thanks")


@pytest.mark.parametrize("said", ["", " \n ", "nuclear physics", "{not json", "[1, 2]", '{"a": 1}'])
def test_with_nothing_relevant_context_prints_nothing_and_succeeds(talk: Shell, said: str) -> None:
    result = talk("context", "--session", "s2", stdin=said)

    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    "line", ['{"role": "user"}', '{"role": 1, "text": "x"}', "plain", '{"role": "user", "text": []}']
)
def test_a_line_that_is_no_message_is_named(sqlite_shell: Shell, line: str) -> None:
    result = sqlite_shell("context", stdin='{"role": "user", "text": "hello"}\n' + line)

    assert result.exit_code == 1
    assert "line 2 is not a message" in result.stderr


def test_context_keeps_to_its_budget(talk: Shell) -> None:
    assert talk.says("context", "--budget", "20", stdin="where is the jellyfin server") == ""
    assert "budget must be 0 or more" in talk("context", "--budget", "-1", stdin="x").stderr


def test_a_space_can_be_told_not_to_keep_messages(shell: Shell) -> None:
    shell.says("space", "create", "quiet", "--messages", "off")
    store = open_store(shell.db)

    Memories.of(store, "quiet", clock=shell.clock).say("s1", "user", MOVED)

    assert shell.json("space", "show", "quiet")["space"]["keeps_messages"] is False
    assert "messages not stored" in shell.says("space", "show", "quiet")
    assert shell("recall", "jellyfin", "--space", "quiet").exit_code == 1
    changed = shell.says("space", "change", "quiet", "--messages", "on")
    assert changed == "Space quiet: messages stored; quota: none; access log: off\n"
    Memories.of(store, "quiet", clock=shell.clock).say("s1", "user", MOVED)
    store.close()
    assert MOVED in shell.says("recall", "jellyfin", "--space", "quiet")


def test_a_change_of_nothing_and_of_no_space_is_refused(shell: Shell) -> None:
    shell.says("space", "create", "quiet")

    assert "add --messages, --max-memories" in shell("space", "change", "quiet").stderr
    assert shell("space", "change", "nowhere", "--messages", "off").exit_code == 1
