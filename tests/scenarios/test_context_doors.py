"""The block at a prompt, by every door that gives one: small, never twice, and silent on small talk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from holdfast import Memories
from holdfast.agents.hooks.responses import answer
from holdfast.domain.budget import estimate_tokens
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.engine.ports import Store
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement
from tests.scenarios.told import add
from tests.web.rest.conftest import Served

#: The block for the newest of what a user said in the session.
Door = Callable[[Sequence[str]], str]
DOORS = ("Claude Code", "Codex", "Gemini CLI", "proxy", "REST", "REST, session kept there", "command line")
SESSION = "s-1"
QUESTION = "When is each jellyfin library scanned after a restart of jellyfin?"
AGAIN = "And when is each jellyfin library scanned after the next restart of jellyfin?"


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


@pytest.fixture(params=DOORS)
def door(
    request: pytest.FixtureRequest, memories: Memories, database_url: str, clock: FixedClock
) -> Iterator[Door]:
    def hook(event: str, client: str, said: Sequence[str]) -> str:
        body = {"session_id": SESSION, "prompt": said[-1], "client": client, "hook_event_name": event}
        return answer(event, body, memories)["context"]

    def proxy(said: Sequence[str]) -> str:
        turns = [
            turn
            for place, text in enumerate(said)
            for turn in (
                Turn(role="user", text=text, place=2 * place),
                Turn(role="assistant", text="Well.", place=2 * place + 1),
            )
        ][:-1]
        dialogue = Dialogue(turns=tuple(turns), asks=True, session=SESSION)
        return memories.proxy_context(dialogue).recalled.get(turns[-1].place, "")

    def command(said: Sequence[str]) -> str:
        return Shell(database_url, clock).says("context", "--session", SESSION, stdin=said[-1])

    served = Served(database_url) if request.param.startswith("REST") else None

    def rest(said: Sequence[str]) -> str:
        assert served is not None
        place = f"/api/sessions/{SESSION}/context"
        caller = served.caller()
        if request.param != "REST":
            return str(caller.get(place, params={"text": said[-1]}).json()["text"])
        messages = [{"role": "user", "content": text} for text in said]
        return str(caller.post(place, json={"messages": messages}).json()["text"])

    hooks = {"Claude Code": "UserPromptSubmit", "Codex": "UserPromptSubmit", "Gemini CLI": "BeforeAgent"}
    if request.param in hooks:
        yield lambda said: hook(hooks[request.param], request.param, said)
    else:
        yield {"proxy": proxy, "command line": command}.get(request.param, rest)
    if served is not None:
        served.registry.close()


@requirement("context.block")
def test_the_block_is_small_comes_once_and_small_talk_gets_none(door: Door, memories: Memories) -> None:
    greeting = door(["Hello!"])
    for number in range(6):
        add(memories, f"Jellyfin library {number} is scanned at {number} o'clock after a restart")

    thanks = door(["Hello!", "Thanks, go on."])
    first = door(["Hello!", "Thanks, go on.", QUESTION])
    second = door(["Hello!", "Thanks, go on.", QUESTION, AGAIN])
    third = door(["Hello!", "Thanks, go on.", QUESTION, AGAIN, AGAIN + " Tell me."])
    last = door(["Hello!", "Thanks, go on.", QUESTION, AGAIN, AGAIN + " Tell me.", "ok"])

    assert (greeting, thanks, third, last) == ("", "", "", "")
    given = [_lines(block) for block in (first, second)]
    assert [len(lines) for lines in given] == [3, 3]
    assert len(set(given[0] + given[1])) == 6
    assert max(map(estimate_tokens, (first, second))) <= 150


@requirement("context.block")
def test_what_the_brief_holds_is_not_in_a_block(door: Door, memories: Memories) -> None:
    add(memories, "Jellyfin libraries are scanned at 4 o'clock after a restart")
    memories.speaking_as("assistant", session=SESSION).brief()

    assert door([QUESTION]) == ""


def _lines(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.startswith("- [id:")]
