"""The vendors' own clients through the proxy: they notice nothing, and their models know more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.proxy.conftest import (
    KEY,
    Claude,
    Client,
    Running,
    assistant,
    both_clients,
    user,
    whole_and_streamed,
)
from tests.agents.proxy.upstream import Handler, Seen, Upstream, answer_to, packed, says
from tests.requirements_ledger import requirement

FACT = "Jellyfin needs 60 seconds to start after a restart"


def instructions(request: dict[str, Any]) -> str:
    """All that a model is told before anything was said."""
    if "system" in request:
        return "\n".join(block["text"] for block in request["system"])
    return "\n".join(each["content"] for each in request["messages"] if each["role"] == "system")


def texts(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [block.get("text", "") for block in content]


@requirement("sem.inject.proxy", "asst.brief.frozen")
@both_clients
@whole_and_streamed
def test_a_model_is_told_the_brief_and_its_answer_comes_back_whole(
    service: Running, upstream: Upstream, kind: type[Client], stream: bool
) -> None:
    service.memories.remember(FACT, category="timing", subject="jellyfin")
    upstream.say("It takes a minute: sixty sekúnd — 60 s. 🙂")

    told = kind(service, stream=stream).say([user("Good morning")])
    service.stop()

    assert told == "It takes a minute: sixty sekúnd — 60 s. 🙂"
    [seen] = upstream.requests
    assert FACT in instructions(seen.body)
    assert instructions(seen.body).count("<holdfast>") == 1
    assert service.said() == [("user", "Good morning"), ("assistant", told)]
    assert service.woken >= 1


@requirement("sem.inject.proxy")
@both_clients
def test_what_is_recalled_follows_what_was_said_and_is_not_kept_as_said(
    service: Running, upstream: Upstream, kind: type[Client]
) -> None:
    client = kind(service)
    first = client.say([user("Good morning")])
    service.memories.remember(FACT, category="timing", subject="jellyfin")

    client.say([user("Good morning"), assistant(first), user("How long does jellyfin need to start?")])
    service.stop()

    said = texts(upstream.requests[1].body["messages"][-1])
    assert said[0].startswith("How long does jellyfin need to start?")
    assert FACT in said[-1]
    assert said[-1].rstrip().endswith("</holdfast>")
    assert service.said() == [
        ("user", "Good morning"),
        ("assistant", "Done."),
        ("user", "How long does jellyfin need to start?"),
        ("assistant", "Done."),
    ]


@requirement("sem.inject.proxy")
@both_clients
@whole_and_streamed
def test_tools_pass_and_what_they_say_is_not_kept(
    service: Running, upstream: Upstream, kind: type[Client], stream: bool
) -> None:
    service.memories.remember(FACT, category="timing", subject="jellyfin")
    upstream.say(says("I will look.", "look"), "It is 60 seconds.")
    client = kind(service, stream=stream)
    asked = user("How long does jellyfin need to start?")
    schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    if kind is Claude:
        tools: list[Any] = [{"name": "look", "description": "Looks", "input_schema": schema}]
        [text, call] = client.ask([asked], tools=tools)
        history: list[Any] = [
            asked,
            {"role": "assistant", "content": [text.model_dump(), call.model_dump()]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "SECRET OUTPUT"}],
            },
        ]
    else:
        tools = [{"type": "function", "function": {"name": "look", "parameters": schema, "strict": True}}]
        message = client.ask([asked], tools=tools)
        [call] = message.tool_calls
        history = [
            asked,
            {"role": "assistant", "content": message.content, "tool_calls": [call.model_dump()]},
            {"role": "tool", "tool_call_id": call.id, "content": "SECRET OUTPUT"},
        ]

    told = client.say(history, tools=tools)
    service.stop()

    assert told == "It is 60 seconds."
    first, second = (seen.body for seen in upstream.requests)
    assert second["tools"] == first["tools"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert texts(second["messages"][-1])[-1].find("holdfast") == -1  # nothing is added behind a tool's result
    assert service.said() == [
        ("user", "How long does jellyfin need to start?"),
        ("assistant", "I will look."),
        ("assistant", "It is 60 seconds."),
    ]


@requirement("sem.inject.proxy", "trust.secrets")
@both_clients
def test_the_upstreams_key_passes_and_ours_does_not(
    service_on_file: Running, upstream: Upstream, kind: type[Client]
) -> None:
    client = kind(service_on_file, {"X-Holdfast-Session": "s-1", "X-Mine": "kept"})

    client.say([user("Good morning")])

    [seen] = upstream.requests
    assert KEY in (seen.headers.get("x-api-key", ""), seen.headers.get("authorization", "")[7:])
    assert seen.headers["x-mine"] == "kept"
    assert seen.headers["host"] == upstream.url.removeprefix("http://")
    assert not any(name.startswith("x-holdfast") for name in seen.headers)
    assert service_on_file.token not in f"{seen.path}{seen.headers}{seen.raw!r}"


@requirement("sem.inject.proxy")
@both_clients
def test_what_is_of_the_clients_own_connection_does_not_pass(
    service_on_file: Running, upstream: Upstream, kind: type[Client]
) -> None:
    own = {"Connection": "keep-alive, X-Hop", "X-Hop": "a", "Proxy-Authorization": "b", "TE": "trailers"}

    kind(service_on_file, own).say([user("Good morning")])

    [seen] = upstream.requests
    assert seen.headers.keys().isdisjoint({"x-hop", "proxy-authorization", "te"})


@requirement("sem.inject.proxy")
@both_clients
def test_what_we_do_not_know_passes_untouched(
    service_on_file: Running, upstream: Upstream, kind: type[Client]
) -> None:
    service_on_file.memories.remember(FACT, category="timing", subject="jellyfin")
    strange = {"a_field_of_tomorrow": {"deep": [1, 2.5, None, "ü😀"]}, "metadata": {"user_id": "u"}}

    kind(service_on_file).say([user("Good morning")], extra_body=strange)

    [seen] = upstream.requests
    assert {name: seen.body[name] for name in strange} == strange


@requirement("sem.inject.proxy")
@both_clients
@whole_and_streamed
def test_an_answer_that_comes_packed_is_passed_and_understood(
    service_on_file: Running, upstream: Upstream, kind: type[Client], stream: bool
) -> None:
    upstream.say(packed("Packed, but readable."))

    told = kind(service_on_file, stream=stream).say([user("Good morning")])
    service_on_file.stop()

    assert told == "Packed, but readable."
    assert service_on_file.said() == [("user", "Good morning"), ("assistant", "Packed, but readable.")]
    assert upstream.requests[0].headers["accept-encoding"] == "identity"


def test_pictures_pass_beside_what_was_said(service_on_file: Running, upstream: Upstream) -> None:
    service_on_file.memories.remember(FACT, category="timing", subject="jellyfin")
    picture = {"type": "base64", "media_type": "image/png", "data": "iVBOR" * 1_200_000}  # 6 MB
    content = [
        {"type": "image", "source": picture},
        {"type": "text", "text": "Is this how jellyfin should start?"},
    ]

    Claude(service_on_file).say([{"role": "user", "content": content}])
    service_on_file.stop()

    [seen] = upstream.requests
    assert seen.body["messages"][0]["content"][:2] == content
    assert service_on_file.said()[0] == ("user", "Is this how jellyfin should start?")


def thinks(handler: Handler, seen: Seen) -> None:
    """A model that thinks before it speaks, whole or in events."""
    answer = {
        **answer_to(seen, "", (), 1),
        "content": [
            {"type": "thinking", "thinking": "Morning, so greet.", "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "aGlkZGVu"},
            {"type": "text", "text": "Good morning to you."},
        ],
    }
    if not seen.body.get("stream"):
        handler.send(200, json.dumps(answer).encode())
        return
    handler.begin_events()
    thought, hidden, said = answer["content"]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**answer, "content": []}}]
    pieces = [
        (
            {**thought, "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": thought["thinking"]},
        ),
        (hidden, None),
        ({**said, "text": ""}, {"type": "text_delta", "text": said["text"]}),
    ]
    for index, (begun, delta) in enumerate(pieces):
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        if delta is not None:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        if index == 0:
            signed = {"type": "signature_delta", "signature": thought["signature"]}
            events.append({"type": "content_block_delta", "index": index, "delta": signed})
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    for event in events:
        handler.chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    handler.chunk(b"")


@whole_and_streamed
def test_what_a_model_thinks_passes_in_both_directions_and_is_not_kept(
    service_on_file: Running, upstream: Upstream, stream: bool
) -> None:
    upstream.say(thinks)
    client = Claude(service_on_file, stream=stream)

    content = [block.model_dump(exclude_none=True) for block in client.ask([user("Good morning")])]
    history = [user("Good morning"), {"role": "assistant", "content": content}, user("And goodbye")]
    client.say(history)
    service_on_file.stop()

    assert [block["type"] for block in content] == ["thinking", "redacted_thinking", "text"]
    assert content[0]["signature"] == "c2lnbmVk"
    assert upstream.requests[1].body["messages"][1]["content"] == content
    assert service_on_file.said() == [
        ("user", "Good morning"),
        ("assistant", "Good morning to you."),
        ("user", "And goodbye"),
        ("assistant", "Done."),
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"max_tokens": 1},
    ],
)
def test_a_programs_own_question_passes_as_it_is_and_is_not_kept(
    service_on_file: Running, upstream: Upstream, more: dict[str, Any]
) -> None:
    service_on_file.memories.remember(FACT, category="timing", subject="jellyfin")

    Claude(service_on_file).client.messages.create(
        **{"model": "m", "max_tokens": 9, "messages": [user("Give this chat a title: jellyfin")], **more}
    )
    service_on_file.stop()

    assert b"holdfast" not in upstream.requests[0].raw
    assert service_on_file.sessions() == []


def test_a_helper_of_an_agent_is_nobody_who_said_something(
    service_on_file: Running, upstream: Upstream
) -> None:
    named = {"X-Claude-Code-Session-Id": "run-1", "X-Claude-Code-Agent-Id": "a1"}

    Claude(service_on_file, named).say([user("Look for all uses of jellyfin")])
    service_on_file.stop()

    assert service_on_file.sessions() == []
