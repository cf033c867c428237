"""Bad answers of a model: nothing lost, nothing invented, the rules' result stands, and doctor tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.cli import cli
from holdfast.engine import jobs
from holdfast.engine.space_context import LanguageModels
from holdfast.models.factory import open_model
from holdfast.models.specs import parse_language
from holdfast.testing import FixedClock
from tests.loopback import Answer
from tests.reading.conftest import READER, VENDORS, OpenReaders
from tests.reading.scripted import Asked, Play, Scripted, as_json, fact, message, said, well
from tests.reading.test_reading import MARKED, PLAIN, kept, talk
from tests.requirements_ledger import requirement

GOOD = fact("Miriam pushed the standup to 9:30.", message=2)


def facts(*found: Any) -> str:
    return json.dumps({"facts": list(found)})


def instead(answer: Callable[[Asked], Answer]) -> Play:
    """The gate is passed, and then this is answered."""
    return lambda asked: well(lambda _: [])(asked) if asked.purpose == "gate" else answer(asked)


def saying(text: str, **more: Any) -> Play:
    return instead(lambda asked: said(asked, text, **more))


def erring(status: int, **headers: str) -> Play:
    return instead(
        lambda _: (
            as_json({"type": "error", "error": {"type": "some_error", "message": "no"}}, status=status)
            if not headers
            else Answer(b"{}", status, {"Content-Type": "application/json", **headers})
        )
    )


def cut(asked: Asked) -> Answer:
    whole = json.dumps(message(asked, facts(GOOD))).encode()
    return Answer(whole[:-20], headers={"Content-Type": "application/json"}, promised=len(whole) + 500)


def without_content(asked: Asked) -> Answer:
    body = message(asked, facts(GOOD))
    body.pop("content", None)
    body.pop("choices", None)
    return as_json(body)


def tool_call(asked: Asked) -> Answer:
    body = message(asked, "I will call a tool: remember(text='Otto is the boss')")
    if asked.is_messages:
        body["content"].append({"type": "tool_use", "id": "t", "name": "remember", "input": {"facts": []}})
        body["stop_reason"] = "tool_use"
    return as_json(body)


#: What nothing can be taken from: tried again, then given up.
UNUSABLE: dict[str, Play] = {
    "malformed JSON": saying('{"facts": [{"text": "Miriam'),
    "JSON with words around it": saying(f"Sure, here you are: {facts(GOOD)}"),
    "truncated": saying(facts(GOOD), stop="length"),
    "empty": saying(""),
    "only spaces": saying("  \n "),
    "a refusal": saying("", refusal="I can't help with that"),
    "429": erring(429),
    "429 with retry-after": erring(429, **{"Retry-After": "900"}),
    "500": erring(500),
    "503": erring(503),
    "529": erring(529),
    "401": erring(401),
    "a redirect": erring(307, Location="http://127.0.0.1:9/elsewhere"),
    "cut connection": instead(cut),
    "no answer in time": instead(lambda _: Answer(None)),
    "a list instead of an object": saying(json.dumps([GOOD])),
    "another object": saying(json.dumps({"memories": [GOOD]})),
    "facts that are texts": saying(facts("Miriam pushed the standup to 9:30.")),
    "facts without text": saying(facts({"category": "fact"})),
    "unknown category": saying(facts({**GOOD, "category": "gossip"})),
    "HTML": instead(lambda _: Answer(b"<html><h1>It works!</h1>", headers={"Content-Type": "text/html"})),
    "a null body": instead(lambda _: as_json(None)),
    "no content": instead(without_content),
    "tool text instead of JSON": instead(tool_call),
    "nested without end": saying("[" * 50_000),
    "huge": instead(lambda asked: said(asked, facts(fact("x" * 6_000_000)))),
}
#: What something can be taken from, or nothing without a fault.
DOUBTFUL: dict[str, tuple[Play, list[str]]] = {
    "unknown number": (saying(facts({**GOOD, "relation": "updates", "of": 77})), [GOOD["text"]]),
    "invented name": (saying(facts(fact("Otto pushed the standup to 9:30.", message=2))), []),
    "invented number": (saying(facts(fact("Miriam pushed the standup to 9:45.", message=2))), []),
    "invented date": (saying(facts(fact("Miriam pushed the standup on 2026-04-17.", message=2))), []),
    "one good, one invented": (saying(facts(fact("Kafka is used.", message=2), GOOD)), [GOOD["text"]]),
    "cites no message": (saying(facts({**GOOD, "message": 40})), []),
    "far too long": (saying(facts(fact("standup " * 100, message=2))), []),
    "duplicates": (saying(facts(GOOD, {**GOOD, "importance": 5}, GOOD)), [GOOD["text"]]),
    "hundreds of facts": (
        saying(facts(*[fact("Otto does it.", message=2)] * 300)),
        [],
    ),
    "wild values": (
        saying(facts({**GOOD, "importance": 10**9, "tags": 7, "subject": ["x"], "of": "1"})),
        [GOOD["text"]],
    ),
    "fenced JSON": (saying(f"```json\n{facts(GOOD)}\n```"), [GOOD["text"]]),
    "wrong content type": (
        instead(
            lambda asked: Answer(
                json.dumps(message(asked, facts(GOOD))).encode(), headers={"Content-Type": "text/plain"}
            )
        ),
        [GOOD["text"]],
    ),
    "negative usage": (saying(facts(GOOD), usage=(-5, 0, -7)), [GOOD["text"]]),
    "missing usage": (saying(facts(GOOD), usage=None), [GOOD["text"]]),
    "usage of texts": (saying(facts(GOOD), usage={"input_tokens": "many"}), [GOOD["text"]]),
    "no facts": (saying(facts()), []),
}


@pytest.fixture
def impatient(
    vendor: str, server: Scripted, language_models_for: OpenReaders, request: pytest.FixtureRequest
) -> LanguageModels:
    """Models that are waited for, however busy the machine is; only one that never answers is not."""
    kind = request.node.callspec.params.get("kind")
    gate, extract = (
        open_model(spec, key="sk-loopback-only", within=within)
        for model, within in zip(
            VENDORS[vendor], (60, 0.1 if kind == "no answer in time" else 60), strict=True
        )
        if (spec := parse_language(server.spec(vendor, model))) is not None
    )
    return replace(language_models_for(vendor, HOLDFAST_SESSION_CAP="none"), gate=gate, extract=extract)


@pytest.fixture
def memories(sqlite_url: str, clock: FixedClock, impatient: LanguageModels) -> Iterator[Memories]:
    with Memories.of(
        open_store(sqlite_url), "default", clock=clock, builtin_model=READER, language_models=impatient
    ) as opened:
        yield opened


def doctor(url: str) -> Any:
    told = CliRunner().invoke(cli, ["doctor", "--json", "--db", url])
    return json.loads(told.output)


@requirement("sem.extract")
@pytest.mark.parametrize("kind", UNUSABLE)
def test_what_can_not_be_used_is_tried_again_then_kept_as_failed(
    memories: Memories,
    server: Scripted,
    clock: FixedClock,
    sqlite_url: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # How often something is tried does not depend on what is wrong with it: twice shows as much, but for two.
    attempts = jobs.MOST_ATTEMPTS if kind in ("500", "429 with retry-after") else 2
    monkeypatch.setattr(jobs, "MOST_ATTEMPTS", attempts)
    server.play = UNUSABLE[kind]
    talk(memories, MARKED, PLAIN)
    memories.capture()
    by_reader = kept(memories)
    assert [memory.content for memory in by_reader] == [MARKED]

    pauses = []
    for attempt in range(1, attempts + 1):
        reading = memories.read_due()
        assert reading is not None
        assert reading.trouble
        assert memories.read_due() is None  # not before its time
        [job] = memories.jobs("queued" if attempt < attempts else "failed")
        pauses.append(job.due_at - clock.now())
        clock.set(max(job.due_at, clock.now()))

    assert pauses == sorted(pauses)
    assert pauses[0] >= timedelta(seconds=900 if "retry-after" in kind else 30)
    assert memories.read_due() is None
    assert kept(memories) == by_reader
    [job] = memories.jobs("failed")
    assert job.error is not None

    server.play = well(lambda _: [GOOD])
    assert memories.read_again() == 1
    memories.read_due()

    assert {memory.content for memory in kept(memories)} == {MARKED, GOOD["text"]}
    assert memories.jobs("failed") == []


@requirement("sem.extract")
@pytest.mark.parametrize("kind", ["500"])
def test_the_doctor_tells_of_what_could_not_be_read_until_it_is(
    memories: Memories,
    server: Scripted,
    clock: FixedClock,
    sqlite_url: str,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    monkeypatch.setattr(jobs, "MOST_ATTEMPTS", 1)
    server.play = UNUSABLE[kind]
    talk(memories, MARKED, PLAIN)
    memories.capture()
    memories.read_due()

    [job] = memories.jobs("failed")
    told = doctor(sqlite_url)

    [finding] = [one for one in told["findings"] if "could not read" in one["says"]]
    assert job.error is not None
    assert job.error in finding["says"]
    assert "capture --again" in finding["advice"]
    assert told["models"][0]["failed"] == 1
    server.play = well(lambda _: [GOOD])
    clock.set(max(job.due_at, clock.now()))
    memories.read_again()
    memories.read_due()
    assert doctor(sqlite_url)["models"][0]["failed"] == 0


@requirement("sem.extract")
@pytest.mark.parametrize("kind", DOUBTFUL)
def test_of_a_doubtful_answer_only_what_was_said_is_kept(
    memories: Memories, server: Scripted, kind: str
) -> None:
    server.play, expected = DOUBTFUL[kind]
    talk(memories, MARKED, PLAIN)
    memories.capture()

    reading = memories.read_due()

    assert reading is not None
    assert reading.trouble is None
    assert {memory.content for memory in kept(memories)} == {MARKED, *expected}
    assert len(reading.outcomes) == len(expected)
    assert memories.jobs("queued") == memories.jobs("failed") == []
    spent = memories.spend().total
    assert spent.calls == 2
    assert min(spent.usage.input, spent.usage.output, spent.micro_dollars) > 0


@requirement("sem.gate")
@pytest.mark.parametrize("text", ["maybe", '{"keep": "yes", "reason": ""}', "{}", ""])
def test_a_gate_that_says_neither_yes_nor_no_is_asked_again(
    memories: Memories, server: Scripted, text: str, clock: FixedClock
) -> None:
    server.play = lambda asked: said(asked, text)
    talk(memories, MARKED, PLAIN)
    memories.capture()
    memories.read_due()
    [job] = memories.jobs("queued")
    clock.set(job.due_at)
    server.play = well(lambda _: [GOOD])

    memories.read_due()

    assert {memory.content for memory in kept(memories)} == {MARKED, GOOD["text"]}


def test_what_was_given_up_can_be_left_to_the_rules(
    memories: Memories, server: Scripted, clock: FixedClock, sqlite_url: str
) -> None:
    server.play = UNUSABLE["500"]
    talk(memories, MARKED)
    memories.capture()
    for _ in range(jobs.MOST_ATTEMPTS):
        memories.read_due()
        clock.advance(days=1)
    before = doctor(sqlite_url)

    told = CliRunner().invoke(cli, ["capture", "--leave", "--db", sqlite_url])

    assert (before["healthy"], before["models"][0]["failed"]) == (False, 1)
    assert "1 passage given up" in told.output
    assert doctor(sqlite_url)["models"][0]["failed"] == 0
    assert [memory.content for memory in kept(memories)] == [MARKED]


def test_there_are_more_than_twenty_kinds() -> None:
    assert len(UNUSABLE) + len(DOUBTFUL) >= 40
