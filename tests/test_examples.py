"""The examples, run as a person would run them, and held to what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from examples.langgraph_store import HoldfastStore, graph
from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from tests.chat_model import Answer, ChatModel, Json
from tests.real_agents.scripted_model import ScriptedModel, Tool

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture
def local(sqlite_url: str) -> Iterator[Store]:
    """For programs that are run whole: they do not see which database it is."""
    store = open_store(sqlite_url)
    yield store
    store.close()


def _space(store: Store, name: str, profile: str) -> Memories:
    Administration(store).create_space(name, profile=profile)
    return Memories.of(store, name)


def _run(name: str, *arguments: str, stdin: str | None = None, **environment: str) -> str:
    """What the example prints; nothing may go to standard error, warnings included."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        env={**os.environ, **environment},
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


# ------------------------------------------------------------------------------------------------- assistant


@pytest.mark.slow
def test_the_assistant_remembers_from_one_run_to_the_next(local: Store, sqlite_url: str) -> None:
    memories = _space(local, "me", "assistant")
    model = ScriptedModel()
    fact = {"content": "Alec is the user's boss", "category": "person", "subject": "Alec"}
    model.say(Tool("add_to_memory", fact), "Noted.", "He is your boss.")
    environment = {
        "HOLDFAST_DB": sqlite_url,
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "not-a-key",
    }

    first = _run("assistant.py", stdin="Remember that Alec is my boss\n/memory\n", **environment)
    second = _run("assistant.py", stdin="Who is Alec?\n", **environment)
    model.close()

    [memory] = memories.find().memories
    assert "Noted." in first
    assert f"• [{memory.id}] Alec is the user's boss" in first
    assert "He is your boss." in second
    assert "Alec is the user's boss" not in model.requests[0].system
    assert "Alec is the user's boss" in model.requests[-1].system
    assert [report.held for report in memories.cache_report().sessions] == [True, True]


# --------------------------------------------------------------------------------------------- OpenAI Agents


def _thinking(body: Json) -> Answer:
    """Stores once what it is asked to, and answers from its instructions."""
    system = next(each["content"] for each in body["messages"] if each["role"] == "system")
    last = body["messages"][-1]
    if last["role"] == "tool":
        return f"Done: {last['content']}"
    if "Remember" in last["content"]:
        schema = next(
            tool["function"] for tool in body["tools"] if tool["function"]["name"] == "add_to_memory"
        )
        assert "person" in schema["parameters"]["properties"]["category"]["enum"]
        return "add_to_memory", {
            "content": "Alec is the user's boss",
            "category": "person",
            "subject": "Alec",
        }
    known = re.search(r"^- \[id:\w+\] \[Alec\] (.+)$", system, re.MULTILINE)
    return known[1] if known else "I know nobody of that name."


@pytest.mark.slow
def test_an_agent_of_openais_sdk_remembers_from_one_run_to_the_next(local: Store, sqlite_url: str) -> None:
    memories = _space(local, "me", "assistant")
    model = ChatModel(_thinking)
    environment = {
        "HOLDFAST_DB": sqlite_url,
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "not-a-key",
        "MODEL": "stand-in",
    }

    stored = _run("openai_agents.py", "Alec is my boss. Remember that.", **environment)
    known = _run("openai_agents.py", "Who is Alec?", **environment)
    model.close()

    [memory] = memories.find().memories
    assert stored == f"Done: Remembered as {memory.id}.\n"
    assert known == "Alec is the user's boss\n"
    assert memory.source.origin == "assistant"
    first, *_, last = (request["messages"][0]["content"] for request in model.requests)
    assert "only after a yes" in first
    assert ("Alec" in first, "Alec" in last) == (False, True)
    assert sorted(report.answers or 0 for report in memories.cache_report().sessions) == [1, 2]


# ------------------------------------------------------------------------------------------ LangGraph's store


@pytest.mark.slow
def test_the_graph_keeps_what_each_user_says_to_themselves(local: Store, sqlite_url: str) -> None:
    _space(local, "graph", "files")

    told = _run("langgraph_store.py", HOLDFAST_DB=sqlite_url)

    assert [line.strip() for line in told.splitlines()[1::2]] == [
        "I'll remember that.",
        "Releases go out on Tuesdays",
        "I don't know.",
    ]


def _used(store: BaseStore) -> list[Any]:
    """A series of calls and what they answered, without times and scores."""
    ada, bob = ("users", "ada", "notes"), ("users", "bob/x", "*")
    store.put(ada, "tone", {"text": "Likes short answers"})
    store.put(ada, "count", {"n": 3, "deep": {"ok": True, "list": [1, "zwei"]}, "kind": "number"})
    store.put(ada, "other", {"n": 5, "kind": "number"})
    store.put(bob, "tone", {"text": "  Likes long answers\n"})
    store.put(("docs",), "a/b?c=d", {"text": "Likes odd keys, 中文 and 😀"})
    told: list[Any] = [
        store.get(ada, "tone"),
        store.get(ada, "nothing"),
        store.get(bob, "tone"),
        store.get(("docs",), "a/b?c=d"),
        store.search(("users",), limit=10),
        store.search(("users", "ada"), filter={"kind": "number"}),
        store.search(ada, filter={"kind": "number", "n": {"$gt": 3}}),
        store.search(ada, filter={"deep": {"ok": True}}),
        store.search(ada, filter={"kind": "number", "n": {"$gte": 3, "$lt": 5, "$ne": 4}}),
        store.search((), limit=2, offset=1),
        store.search(("use",)),
        store.list_namespaces(),
        store.list_namespaces(prefix=("users", "*")),
        store.list_namespaces(suffix=("notes",)),
        store.list_namespaces(max_depth=1),
        store.list_namespaces(limit=1, offset=1),
    ]
    store.put(ada, "tone", {"text": "Likes long answers", "since": 2026})
    store.delete(ada, "count")
    store.delete(ada, "count")
    told += [store.get(ada, "tone"), store.get(ada, "count"), store.search(ada)]
    store.put(ada, "count", {"n": 3, "deep": {"ok": True, "list": [1, "zwei"]}, "kind": "number"})
    # Last: from being asked, LangGraph's own store takes a namespace to be there.
    told += [store.get(ada, "count"), store.get(("users", "ada"), "tone")]
    return [_plain(each) for each in told]


def _plain(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_plain(each) for each in answer]
    return (answer.namespace, answer.key, answer.value) if hasattr(answer, "key") else answer


def test_the_store_answers_as_langgraphs_own_does(store: Store) -> None:
    memories = _space(store, "graph", "files")

    assert _used(HoldfastStore(memories)) == _used(InMemoryStore())
    [tone] = [memory for memory in memories.find().memories if memory.subject == "users/ada/notes/tone"]
    assert [version.number for version in memories.show(tone.id).versions] == [1, 2]


def test_a_graph_can_be_run_asynchronously(store: Store) -> None:
    import asyncio

    memories = _space(store, "graph", "files")
    made = HoldfastStore(memories)

    async def both() -> Any:
        await made.aput(("users", "ada"), "day", {"text": "Releases go out on Tuesdays"})
        question = {"user": "ada", "said": "On which day do releases go out?", "answer": ""}
        return await asyncio.to_thread(graph(made).invoke, question)

    assert asyncio.run(both())["answer"] == "Releases go out on Tuesdays"
    assert asyncio.run(made.aget(("users", "ada"), "day")).value == {"text": "Releases go out on Tuesdays"}  # type: ignore[union-attr]
    [hit] = made.search(("users",), query="releases on tuesdays")
    assert hit.score is not None
    assert made.search(("users", "bob"), query="releases on tuesdays") == []


def test_what_may_not_be_stored_is_an_error_and_not_a_silence(store: Store) -> None:
    memories = _space(store, "graph", "files")
    made = HoldfastStore(memories)
    made.put(("users", "ada"), "day", {"text": "Releases go out on Tuesdays"})
    made.delete(("users", "ada"), "day")

    with pytest.raises(ValueError, match="'day' was not stored: this was deleted"):
        HoldfastStore(memories.speaking_as("assistant")).put(
            ("users", "ada"), "day", {"text": "Releases go out on Tuesdays"}
        )
