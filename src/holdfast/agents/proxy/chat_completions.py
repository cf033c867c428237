"""The chat completions API, which many servers speak: all in `messages`, answers in `choices`."""

from collections.abc import Mapping
from typing import Any

from holdfast.agents.proxy.api_shape import ApiReply, Json, block, joined, messages_in, object_in, texts_in
from holdfast.domain.dialogue import Turn
from holdfast.language.injected_text import typed

_INSTRUCTIONS = ("system", "developer")


class ChatCompletions:
    """The form of /v1/chat/completions."""

    client = "proxy-openai"

    def turns(self, body: Json) -> tuple[list[Turn], bool] | None:
        messages = messages_in(body)
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        formed = object_in(body, "response_format").get("type") in ("json_schema", "json_object")
        if messages is None or formed or (isinstance(limit, int) and limit <= 1):
            return None  # a program's own question: a title, a check, an extraction
        found: list[Turn] = []
        asks = False
        for place, message in enumerate(messages):
            if message.get("role") in _INSTRUCTIONS:
                continue
            turn = _turn(message, place)
            asks = turn is not None and turn.role == "user"
            if turn is not None:
                found.append(turn)
        return found, asks

    def added(self, body: Json, brief: str, recalled: Mapping[int, str]) -> Json:
        messages = list(body["messages"])
        for place, text in recalled.items():
            messages[place] = _with(messages[place], text)
        if brief:
            leading = 0
            while leading < len(messages) and messages[leading].get("role") in _INSTRUCTIONS:
                leading += 1
            # Some servers take one message of instructions only, so the client's own is made longer.
            if leading:
                messages[leading - 1] = _with(messages[leading - 1], brief)
            else:
                messages.insert(0, {"role": "system", "content": block(brief)})
        return {**body, "messages": messages}

    def reply(self) -> ApiReply:
        return CompletionReply()

    def problem(self, status: int, message: str) -> Json:
        return {"error": {"message": message, "type": "upstream_error", "param": None, "code": None}}


class CompletionReply:
    """The first choice of an answer, from its JSON or from its chunks."""

    def __init__(self) -> None:
        self.complete = False
        self._texts: list[str] = []
        self._calls: dict[int, str] = {}
        self._finished = False

    def whole(self, body: Json) -> None:
        choice = object_in(body, "choices", 0)
        if choice:
            self._take(object_in(choice, "message"))
            self.complete = True

    def event(self, event: Json) -> None:
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._take(object_in(choice, "delta"))
                self._finished = self._finished or choice.get("finish_reason") is not None

    def end(self) -> None:
        """[DONE] came: the answer is whole, if the model said that it was at its end."""
        self.complete = self._finished

    def turn(self) -> Turn:
        calls = tuple(call for _, call in sorted(self._calls.items()))
        return Turn(role="assistant", text=joined(["".join(self._texts)]), calls=calls)

    def _take(self, said: Json) -> None:
        self._texts += texts_in(said.get("content"))
        calls = said.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                index = call.get("index", place)
                self._calls[index if isinstance(index, int) else place] = call["id"]


def _turn(message: Json, place: int) -> Turn | None:
    """What a person typed or the model answered; none for results of tools."""
    if message.get("role") == "user":
        text = joined([typed(each) for each in texts_in(message.get("content"))])
        speaker = message.get("name")
        named = speaker if isinstance(speaker, str) and speaker else None
        return Turn(role="user", text=text, place=place, speaker=named) if text else None
    if message.get("role") != "assistant":
        return None
    reply = CompletionReply()
    reply.whole({"choices": [{"message": message}]})
    turn = reply.turn()
    if not turn.text and not turn.calls:
        return None
    return Turn(role="assistant", text=turn.text, place=place, calls=turn.calls)


def _with(message: Json, text: str) -> Json:
    """The message with a block at its end."""
    content: Any = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": block(text)}]}
    before = f"{content}\n\n" if isinstance(content, str) and content else ""
    return {**message, "content": before + block(text)}
