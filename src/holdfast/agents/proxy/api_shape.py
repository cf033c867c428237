"""What the proxy has to know of a model's API: where a conversation stands in a request, and in an answer.

One class for each API. Whatever a request holds besides is passed on as it came.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from holdfast.domain.dialogue import Turn

Json = dict[str, Any]

#: Around all that is added: hidden in no text, and known again should it come back as something said.
_OPEN, _CLOSE = "<holdfast>", "</holdfast>"


class ApiReply(Protocol):
    """An answer as it comes in, whole or in events."""

    @property
    def complete(self) -> bool:
        """Whether the model came to the end of it."""

    def whole(self, body: Json) -> None: ...
    def event(self, event: Json) -> None: ...
    def end(self) -> None: ...
    def turn(self) -> Turn: ...


class Shape(Protocol):
    """One API of a model."""

    @property
    def client(self) -> str:
        """What a session is said to come from."""

    def turns(self, body: Json) -> tuple[list[Turn], bool] | None:
        """What was said, and whether a person waits for the answer; none where a program asks for itself."""

    def added(self, body: Json, brief: str, recalled: Mapping[int, str]) -> Json:
        """The request with a brief behind its instructions and what was recalled behind what was said."""

    def reply(self) -> ApiReply: ...
    def problem(self, status: int, message: str) -> Json:
        """An error of the proxy's own, in the API's form."""


def block(text: str) -> str:
    """What is added to a prompt, between the product's own marks, which no stored text can close."""
    return f"{_OPEN}\n{text.strip()}\n{_CLOSE}"


def texts_in(content: Any) -> list[str]:
    """The texts of a message: of a plain one, or of its text blocks."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    texts = [part.get("text") for part in blocks if isinstance(part, dict) and part.get("type") == "text"]
    return [text for text in texts if isinstance(text, str)]


def joined(texts: list[str]) -> str:
    """What was said in several pieces, the same whether it came whole or in events."""
    return "\n\n".join(text.strip() for text in texts if text.strip())


def object_in(body: Any, *path: str | int) -> Json:
    """The object at a place of a JSON value; an empty one where something else stands."""
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


def messages_in(body: Json) -> list[Json] | None:
    """The messages of a request; none where they are not as they should be."""
    found = body.get("messages")
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        return None
    return found
