"""The Messages API: instructions in `system`, what was said in `messages`, answers in content blocks."""

from collections.abc import Mapping
from typing import Any

from holdfast.agents.proxy.api_shape import ApiReply, Json, block, joined, messages_in, object_in, texts_in
from holdfast.domain.dialogue import Turn
from holdfast.language.injected_text import typed


class MessagesApi:
    """The form of /v1/messages."""

    client = "proxy-anthropic"

    def turns(self, body: Json) -> tuple[list[Turn], bool] | None:
        messages = messages_in(body)
        limit = body.get("max_tokens")
        # Answers in a given form, and of one token, are programs' own questions: titles, checks, extractions.
        formed = object_in(body, "output_config").get("format") or body.get("output_format")
        if messages is None or formed or (isinstance(limit, int) and limit <= 1):
            return None
        found: list[Turn] = []
        asks = False
        for place, message in enumerate(messages):
            role = message.get("role")
            if role not in ("user", "assistant"):  # hosts put words of their own between, as "system"
                continue
            turn = _said(message, place) if role == "user" else _answered(message, place)
            asks = turn is not None and role == "user"
            if turn is not None:
                found.append(turn)
        return found, asks

    def added(self, body: Json, brief: str, recalled: Mapping[int, str]) -> Json:
        changed = dict(body)
        if brief:
            # Behind all that the client wrote: what it marked to be cached stands before, unchanged.
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
        """Nothing stands behind the last event."""

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


def _said(message: Json, place: int) -> Turn | None:
    """What a person typed; none for what programs say in their name: tool results, reminders, commands."""
    content = message.get("content")
    if isinstance(content, list) and any(object_in(part).get("type") == "tool_result" for part in content):
        return None
    text = joined([typed(each) for each in texts_in(content)])
    return Turn(role="user", text=text, place=place) if text else None


def _answered(message: Json, place: int) -> Turn | None:
    content = message.get("content")
    reply = MessageReply()
    reply.whole({"type": "message", "content": content if isinstance(content, list) else _blocks(content)})
    turn = reply.turn()
    if not turn.text and not turn.calls:
        return None
    return Turn(role="assistant", text=turn.text, place=place, calls=turn.calls)


def _blocks(content: Any) -> list[Any]:
    """Content in its long form, which means the same."""
    if isinstance(content, list):
        return content
    return [_text(content)] if isinstance(content, str) and content else []


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
