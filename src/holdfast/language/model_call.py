"""A question to a language model, its answer, and the ways in which it can fail. Knows no vendor.

A question has a part that is the same every time, which caches hold, and a part that differs; the answer is
always an object of a given form. Whatever it holds is a claim of the model and has to be checked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.domain.spend import CallOutcome, Usage
from holdfast.errors import Unavailable

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrompt:
    """What is asked: `system` stays the same from call to call, `user` does not."""

    name: str  # of the form, in letters
    system: str
    user: str
    schema: Schema  # JSON Schema of an object, without limits on texts and numbers
    max_tokens: int  # of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What the model said, as the object that it is."""

    value: Mapping[str, Any]
    usage: Usage | None  # none: it was not told, or can't be right


class ModelTrouble(Unavailable):
    """A model gave no answer that can be used; `usage` is what it cost, none where nobody knows."""

    outcome: ClassVar[CallOutcome] = "unavailable"

    def __init__(self, message: str, *, usage: Usage | None = None, wait: float | None = None) -> None:
        super().__init__(message)
        self.usage = usage
        self.wait = wait  # seconds for which the server wants to be left alone


class RateLimited(ModelTrouble):
    """The server is asked too often, or has too much to do."""

    outcome = "rate-limited"


class Declined(ModelTrouble):
    """The model does not want to answer this."""

    outcome = "refused"


class Malformed(ModelTrouble):
    """The answer has another form than the one that was asked for."""

    outcome = "malformed"


class Truncated(ModelTrouble):
    """The answer broke off at its greatest length."""

    outcome = "truncated"


def as_data(**fields: Any) -> str:
    """A line of a prompt with somebody's words as data: nothing in it can end the line or open a tag."""
    line = json.dumps(fields, ensure_ascii=False, separators=(", ", ": "))
    for sign, written in (("<", "\\u003c"), (">", "\\u003e"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        line = line.replace(sign, written)
    return line


def object_in(text: str) -> Mapping[str, Any]:
    """The JSON object that an answer consists of; a fence around it is let pass.

    Raises: ValueError, naming what came instead.
    """
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```"):
        bare = bare.removeprefix("```json").strip("`").strip()
    if not bare:
        raise ValueError("nothing")
    try:
        found = json.loads(bare)
    except (ValueError, RecursionError):
        raise ValueError("a page" if bare.startswith("<") else "text that is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError(f"a {type(found).__name__} and no object")
    return found
