"""A prompt for a language model, its answer, and the errors. Knows no vendor.

A prompt has a constant part, which caches hold, and a variable one; the answer is an object of a given
schema. Its contents are claims of the model and must be checked.
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
    """A prompt: `system` is the same in every call, `user` is not."""

    name: str  # the name of the schema
    system: str
    user: str
    schema: Schema  # JSON Schema of an object, without limits on texts and numbers
    max_tokens: int  # of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The model's answer, parsed."""

    value: Mapping[str, Any]
    usage: Usage | None  # None: not reported, or invalid


class ModelTrouble(Unavailable):
    """A model gave no usable answer; `usage` is its cost, None if unknown."""

    outcome: ClassVar[CallOutcome] = "unavailable"

    def __init__(self, message: str, *, usage: Usage | None = None, wait: float | None = None) -> None:
        super().__init__(message)
        self.usage = usage
        self.wait = wait  # seconds until the server accepts requests again


class RateLimited(ModelTrouble):
    """The server gets too many requests, or is overloaded."""

    outcome = "rate-limited"


class Declined(ModelTrouble):
    """The model refuses to answer."""

    outcome = "refused"


class Malformed(ModelTrouble):
    """The answer does not have the requested form."""

    outcome = "malformed"


class Truncated(ModelTrouble):
    """The answer was cut off at its maximum length."""

    outcome = "truncated"


def as_data(**fields: Any) -> str:
    """A line of a prompt with untrusted text as data: nothing in it can end the line or open a tag."""
    line = json.dumps(fields, ensure_ascii=False, separators=(", ", ": "))
    for sign, written in (("<", "\\u003c"), (">", "\\u003e"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        line = line.replace(sign, written)
    return line


def object_in(text: str) -> Mapping[str, Any]:
    """The JSON object of an answer; a code fence around it is accepted.

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
