"""What the service answers hooks, over real spaces on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memories
from holdfast.agents.hooks.events import MAX_OUTPUT, MEANING, output
from holdfast.agents.hooks.responses import MAX_BRIEF, NEW, answer
from holdfast.app import paths, wiring
from holdfast.domain.memory import Session
from holdfast.engine.ports import Store
from holdfast.errors import Invalid
from holdfast.testing import FixedClock
from tests.agents.hooks.conftest import spooled
from tests.requirements_ledger import requirement
from tests.web.service.test_slices import fill


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    opened = wiring.open_store(database_url)
    yield opened
    opened.close()


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


def told(memories: Memories, event: str, **body: Any) -> str:
    given = {"session_id": "s-1", "cwd": "/home", "client": "claude-code", "project": "website", **body}
    return answer(event, given, memories)["context"]


def start(memories: Memories, source: str = "startup", **body: Any) -> str:
    return told(memories, "SessionStart", source=source, **body)


def session(memories: Memories, session_id: str = "s-1") -> Session | None:
    with memories.store.read(memories.space) as tx:
        return tx.sessions.get(session_id)


# ------------------------------------------------------------------------------------------------- the brief


@requirement("sem.tap.hooks", "scope.project")
def test_a_session_starts_with_the_brief_of_its_project(memories: Memories) -> None:
    memories.remember("Deploys run on Fridays")
    memories.remember("The website is built with Hugo", project="website")
    memories.remember("The app is written in Kotlin", project="app")

    context = start(memories)

    assert "Fridays" in context
    assert "Hugo" in context
    assert "Kotlin" not in context


@requirement("sem.session")
def test_the_session_is_on_record_with_its_host_directory_and_project(memories: Memories) -> None:
    start(memories, cwd="/srv/website")

    found = session(memories)
    assert found is not None
    assert (found.client, found.directory, found.project) == ("claude-code", "/srv/website", "website")
    assert found.ended_at is None


@pytest.mark.parametrize("source", ["startup", "clear", "compact"])
def test_the_brief_of_a_session_stays_byte_for_byte(memories: Memories, source: str) -> None:
    memories.remember("Deploys run on Fridays")
    first = start(memories)
    memories.remember("The cat is called Tom")

    assert start(memories, source) == first
    assert "Tom" in start(memories, source, session_id="s-2")


def test_a_resumed_session_gets_what_others_added_once_and_nothing_else(
    memories: Memories, clock: FixedClock
) -> None:
    memories.remember("Deploys run on Fridays")
    start(memories)
    clock.advance(minutes=5)
    memories.remember("The cat is called Tom")
    memories.remember("The app is written in Kotlin", project="app")
    memories.speaking_as("assistant", session="s-1").remember("The website is built with Hugo")

    resumed = start(memories, "resume")

    assert resumed.startswith(f"{NEW}\n\n")
    assert "Tom" in resumed
    assert "Fridays" not in resumed  # in its brief
    assert "Kotlin" not in resumed  # of another project
    assert "Hugo" not in resumed  # its own
    assert start(memories, "resume") == ""


def test_a_session_that_was_never_briefed_gets_its_brief_when_it_is_resumed(memories: Memories) -> None:
    memories.remember("Deploys run on Fridays")

    assert "Fridays" in start(memories, "resume")


def test_a_large_memory_gives_a_brief_that_hosts_take_whole(memories: Memories) -> None:
    for number in range(100):
        text = f'Rule "{number}": the "quoted" thing\n\tis <b>bold</b> & "so" on'
        memories.remember(text, subject=f"thing {number}")

    context = start(memories)

    assert len(context) > 5_000
    assert json.loads(output("SessionStart", context))["hookSpecificOutput"]["additionalContext"] == (
        context.strip("\n")
    )
    assert len(output("SessionStart", context)) <= MAX_OUTPUT


def test_a_greater_budget_of_the_user_is_cut_to_what_hosts_take(store: Store, clock: FixedClock) -> None:
    memories = Memories.of(store, "default", clock=clock, budget=50_000)
    fill(
        store, "default", clock, [f"Thing {number} is never to be done before lunch" for number in range(400)]
    )

    made = memories.speaking_as("assistant", session="s-1")
    context = start(memories)

    assert made.brief().text == context
    assert MAX_BRIEF / 2 < made.brief().tokens <= MAX_BRIEF


def test_an_empty_memory_says_nothing(memories: Memories) -> None:
    assert start(memories) == ""
    assert start(memories, "resume") == ""


def test_the_brief_is_kept_ready_for_when_there_is_no_service(memories: Memories) -> None:
    memories.remember("Deploys run on Fridays")

    context = start(memories)
    wiring.brief_files(memories.store).refresh()

    for project in ("website", None):
        assert Path(paths.brief_file("default", project)).read_text() == context


# ------------------------------------------------------------------------------------------------ the prompt


@requirement("sem.tap.hooks", "scope.project")
def test_a_prompt_gets_what_is_relevant_to_it_in_its_project(memories: Memories) -> None:
    start(memories)
    memories.remember("Deploys run on Fridays", project="website")
    memories.remember("Deploys of the app run on Mondays", project="app")
    memories.remember("The cat is called Tom")

    context = told(memories, "UserPromptSubmit", prompt="When do deploys run?")

    assert "Deploys run on Fridays" in context
    assert "Mondays" not in context
    assert "Tom" not in context


def test_what_the_brief_showed_is_not_shown_again(memories: Memories) -> None:
    memories.remember("Deploys run on Fridays")

    assert "Fridays" in start(memories)
    assert told(memories, "UserPromptSubmit", prompt="When do deploys run?") == ""
    elsewhere = told(memories, "UserPromptSubmit", prompt="When do deploys run?", session_id="s-2")
    assert "Fridays" in elsewhere


@requirement("sem.tap.hooks")
def test_what_was_said_in_another_session_is_quoted_to_who_asks_for_it(memories: Memories) -> None:
    memories.say("s-0", "user", "Our staging server is called Blue Heron")

    plain = told(memories, "UserPromptSubmit", prompt="What is our staging server called?")
    context = told(memories, "UserPromptSubmit", prompt="What did I say our staging server is called?")

    assert plain == ""
    assert "Our staging server is called Blue Heron" in context


@pytest.mark.parametrize(
    "prompt", ["", "  \n", "/compact deploys", "<hook_context>deploys run</hook_context>\n\n"]
)
def test_a_prompt_that_asks_nothing_gets_nothing(memories: Memories, prompt: str) -> None:
    memories.remember("Deploys run on Fridays")

    assert told(memories, "UserPromptSubmit", prompt=prompt) == ""


@requirement("trust.quiet")
def test_a_quiet_prompt_is_answered_and_not_kept(memories: Memories) -> None:
    kept = memories.remember("Deploys run on Fridays")

    context = told(memories, "UserPromptSubmit", prompt="When do deploys run? I owe Bob money", quiet=True)

    assert "Fridays" in context
    assert session(memories) is None
    assert memories.why(kept.memory.id).uses == ()  # type: ignore[union-attr]


def test_what_a_tool_said_is_labelled(memories: Memories) -> None:
    memories.speaking_as("tool").remember("Deploys run on Fridays")

    assert "(from tool)" in told(memories, "UserPromptSubmit", prompt="When do deploys run?")


# ------------------------------------------------------------------------------------------------- the rest


@requirement("trust.quiet")
def test_a_quiet_session_is_briefed_and_leaves_no_trace(memories: Memories) -> None:
    memories.remember("Deploys run on Fridays")

    assert "Fridays" in start(memories, quiet=True)
    assert session(memories) is None
    assert memories.why(memories.find().memories[0].id).uses == ()


@pytest.mark.parametrize("event", ["Stop", "PreCompact", "SessionEnd", "AfterAgent"])
def test_a_transcript_is_noted_down_and_not_read_while_the_agent_waits(
    memories: Memories, event: str
) -> None:
    body = {
        "session_id": "s-1",
        "transcript_path": "/t.jsonl",
        "offset": 7,
        "client": "gemini",
        "project": "p",
    }

    assert answer(event, body, memories) == {}

    [entry] = spooled()
    assert entry["event"] == MEANING[event]
    assert (entry["transcript_path"], entry["offset"], entry["client"]) == ("/t.jsonl", 7, "gemini")


@pytest.mark.parametrize(
    ("event", "body"),
    [("Nonsense", {}), ("Stop", {}), ("Stop", {"session_id": 5}), ("SessionStart", {"session_id": "a\nb"})],
)
def test_what_cannot_be_answered_is_refused(memories: Memories, event: str, body: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        answer(event, body, memories)


def test_a_start_without_a_session_is_answered_all_the_same(memories: Memories) -> None:
    memories.remember("Deploys run on Fridays")

    assert "Fridays" in answer("SessionStart", {}, memories)["context"]
