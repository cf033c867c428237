"""Request and response adapters for the Messages API and the chat completions API.

They find the conversation and add text to a prompt. Everything else is passed on unchanged.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from holdfast.domain.dialogue import Turn
from holdfast.language.injected_text import typed

Json = dict[str, Any]

#: Delimiters around added text. Stored text can't contain them, and echoed blocks are recognized by them.
_OPEN, _CLOSE = "<holdfast>", "</holdfast>"
#: Roles of instructions in chat completions.
_INSTRUCTIONS = ("system", "developer")


class ApiReply(Protocol):
    """A response, whole or as events."""

    @property
    def complete(self) -> bool:
        """Whether the model has finished."""

    def whole(self, body: Json) -> None: ...
    def event(self, event: Json) -> None: ...
    def end(self) -> None: ...
    def turn(self) -> Turn: ...


class Shape(Protocol):
    """One API of a model."""

    @property
    def client(self) -> str:
        """The client name of its sessions."""

    def turns(self, body: Json) -> tuple[list[Turn], bool] | None:
        """The turns, and whether the user waits for the answer; None for a program's own request."""

    def added(self, body: Json, brief: str, recalled: Mapping[int, str]) -> Json:
        """The request with a brief after its instructions, and recalled memories after the messages."""

    def reply(self) -> ApiReply: ...
    def problem(self, status: int, message: str) -> Json:
        """An error of the proxy in the API's format."""


def block(text: str) -> str:
    """Text to add to a prompt, between our delimiters."""
    return f"{_OPEN}\n{text.strip()}\n{_CLOSE}"


def texts_in(content: Any) -> list[str]:
    """The texts of a message: of a plain one, or of its text blocks."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    texts = [part.get("text") for part in blocks if isinstance(part, dict) and part.get("type") == "text"]
    return [text for text in texts if isinstance(text, str)]


def joined(texts: list[str]) -> str:
    """Joins texts, in the same way for a whole response and for events."""
    return "\n\n".join(text.strip() for text in texts if text.strip())


def object_in(body: Any, *path: str | int) -> Json:
    """The object at a path of a JSON value; empty if there is none."""
    for step in path:
        if isinstance(step, int):
            body = body[step] if isinstance(body, list) and len(body) > step else None
        else:
            body = body.get(step) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def tool_names(body: Json) -> list[str]:
    """The tools that a request offers to the model, in the form of either API."""
    listed = body.get("tools")
    tools = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    found = [object_in(tool, "function").get("name") or tool.get("name") for tool in tools]
    return [name for name in found if isinstance(name, str)]


def _turns(
    body: Json,
    formed: object,
    limit: object,
    read: Callable[[Json, int], Turn | None],
    counts: Callable[[object], bool],
) -> tuple[list[Turn], bool] | None:
    """The turns that `read` finds in messages whose role `counts`, and whether the last one asks.

    None for a program's own request: an answer in a given format, or of one token (a title, a check).
    """
    messages = body.get("messages")
    valid = isinstance(messages, list) and all(isinstance(each, dict) for each in messages)
    if not valid or formed or (isinstance(limit, int) and limit <= 1):
        return None
    turns = [read(each, place) for place, each in enumerate(body["messages"]) if counts(each.get("role"))]
    asks = bool(turns) and turns[-1] is not None and turns[-1].role == "user"
    return [turn for turn in turns if turn is not None], asks


def _answer(reply: ApiReply, body: Json, place: int) -> Turn | None:
    """The model's turn in `body`; None without text and tool calls."""
    reply.whole(body)
    turn = reply.turn()
    return replace(turn, place=place) if turn.text or turn.calls else None


class MessagesApi:
    """The form of /v1/messages."""

    client = "proxy-anthropic"

    def turns(self, body: Json) -> tuple[list[Turn], bool] | None:
        formed = object_in(body, "output_config").get("format") or body.get("output_format")
        # Hosts put text of their own between the messages, as "system".
        return _turns(body, formed, body.get("max_tokens"), _read, lambda role: role in ("user", "assistant"))

    def added(self, body: Json, brief: str, recalled: Mapping[int, str]) -> Json:
        changed = dict(body)
        if brief:
            # After everything from the client: its cached prefix stays unchanged.
            changed["system"] = [*_blocks(body.get("system")), _text(block(brief))]
        messages = list(body["messages"])
        for place, text in recalled.items():
            content = [*_blocks(messages[place]["content"]), _text(block(text))]
            messages[place] = {**messages[place], "content": content}
        changed["messages"] = messages
        return changed

    def reply(self) -> ApiReply:
        return MessageReply()

    def problem(self, status: int, message: str) -> Json:
        kind = "timeout_error" if status == 504 else "api_error"
        return {"type": "error", "error": {"type": kind, "message": message}}


class MessageReply:
    """A message of the model, from its JSON or from its events."""

    def __init__(self) -> None:
        self.complete = False
        self._texts: dict[int, list[str]] = {}
        self._calls: list[str] = []

    def whole(self, body: Json) -> None:
        if body.get("type") == "message" and isinstance(body.get("content"), list):
            for index, part in enumerate(body["content"]):
                self._begun(index, part)
            self.complete = True

    def event(self, event: Json) -> None:
        index = event.get("index")
        place = index if isinstance(index, int) else 0
        match event.get("type"):
            case "content_block_start":
                self._begun(place, event.get("content_block"))
            case "content_block_delta":
                self._add(place, object_in(event, "delta"), "text_delta")
            case "message_stop":
                self.complete = True

    def end(self) -> None:
        """Nothing follows the last event."""

    def turn(self) -> Turn:
        said = ["".join(parts) for _, parts in sorted(self._texts.items())]
        return Turn(role="assistant", text=joined(said), calls=tuple(self._calls))

    def _begun(self, place: int, part: Any) -> None:
        if isinstance(part, dict):
            self._add(place, part, "text")
            if part.get("type") == "tool_use" and isinstance(part.get("id"), str):
                self._calls.append(part["id"])

    def _add(self, place: int, part: Json, kind: str) -> None:
        if part.get("type") == kind and isinstance(part.get("text"), str):
            self._texts.setdefault(place, []).append(part["text"])


def _read(message: Json, place: int) -> Turn | None:
    """The text that a person typed or the model answered; None for tool results, reminders and commands."""
    content = message.get("content")
    if message.get("role") == "assistant":
        return _answer(MessageReply(), {"type": "message", "content": _blocks(content)}, place)
    if isinstance(content, list) and any(object_in(part).get("type") == "tool_result" for part in content):
        return None
    text = joined([typed(each) for each in texts_in(content)])
    return Turn(role="user", text=text, place=place) if text else None


def _blocks(content: Any) -> list[Any]:
    """Content as a list of blocks, which means the same."""
    if isinstance(content, list):
        return content
    return [_text(content)] if isinstance(content, str) and content else []


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


class ChatCompletions:
    """The form of /v1/chat/completions."""

    client = "proxy-openai"

    def turns(self, body: Json) -> tuple[list[Turn], bool] | None:
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        formed = object_in(body, "response_format").get("type") in ("json_schema", "json_object")
        return _turns(body, formed, limit, _turn, lambda role: role not in _INSTRUCTIONS)

    def added(self, body: Json, brief: str, recalled: Mapping[int, str]) -> Json:
        messages = list(body["messages"])
        for place, text in recalled.items():
            messages[place] = _with(messages[place], text)
        if brief:
            leading = 0
            while leading < len(messages) and messages[leading].get("role") in _INSTRUCTIONS:
                leading += 1
            # Some servers accept only one system message, so the client's own is extended.
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
        """[DONE]: the answer is complete if the model reported its end."""
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
    """The turn of a person or the model; None for tool results."""
    if message.get("role") == "user":
        text = joined([typed(each) for each in texts_in(message.get("content"))])
        speaker = message.get("name")
        named = speaker if isinstance(speaker, str) and speaker else None
        return Turn(role="user", text=text, place=place, speaker=named) if text else None
    if message.get("role") != "assistant":
        return None
    return _answer(CompletionReply(), {"choices": [{"message": message}]}, place)


def _with(message: Json, text: str) -> Json:
    """The message with a block at its end."""
    content: Any = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": block(text)}]}
    before = f"{content}\n\n" if isinstance(content, str) and content else ""
    return {**message, "content": before + block(text)}
