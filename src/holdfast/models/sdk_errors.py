"""What is the same for every vendor's model: what its errors mean, and that its answer proves nothing."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from holdfast.domain.spend import Usage
from holdfast.errors import Unavailable
from holdfast.language.model_call import (
    Declined,
    Malformed,
    ModelAnswer,
    ModelTrouble,
    RateLimited,
    Truncated,
    object_in,
)
from holdfast.models.http_json import seconds

WITHIN = 60.0  # seconds for one answer
_BUSY = frozenset({429, 503, 529})
_HINTS = {401: " (is the key right?)", 403: " (is the key right?)", 404: " (is the model name right?)"}
_NOT_MADE = Usage()  # what a call costs that was turned away
_MOST_TOKENS = 100_000_000


def missing(extra: str) -> Unavailable:
    """Said where the SDK of a vendor is not installed."""
    return Unavailable(
        f"this model needs a package that is not installed: pip install 'holdfast-memory[{extra}]'"
    )


@contextmanager
def understood(sdk: Any, name: str) -> Iterator[None]:
    """Turns the errors of an SDK into ours, without the words of a server, which may repeat a key."""
    try:
        yield
    except sdk.APIStatusError as refused:
        raise _refused(refused, name) from None
    except sdk.APITimeoutError:
        raise ModelTrouble(f"{name} timed out") from None
    except sdk.APIConnectionError as broken:
        said = type(broken.__cause__ or broken).__name__
        never = said in ("ConnectError", "ConnectTimeout", "UnsupportedProtocol")
        raise ModelTrouble(f"{name} is unreachable ({said})", usage=_NOT_MADE if never else None) from None
    except sdk.APIError as wrong:  # an answer that the SDK can't read
        raise Malformed(
            f"{name} returned something that its SDK can't read ({type(wrong).__name__})"
        ) from None
    except ModelTrouble:
        raise
    except (ValueError, TypeError) as wrong:
        raise Malformed(
            f"{name} could not be called, or its answer could not be read ({type(wrong).__name__})"
        ) from None
    except (OSError, RuntimeError, LookupError, AttributeError, AssertionError) as wrong:
        # Whatever an SDK does, capture goes on with our own reader.
        raise ModelTrouble(f"{name} failed ({type(wrong).__name__})") from None


def body_of(raw: Any, name: str) -> Mapping[str, Any]:
    """The body of an answer, read as what it is and not as the SDK's types would have it.

    Raises: Malformed.
    """
    response = raw.http_response
    try:
        found = json.loads(response.content)
    except (ValueError, RecursionError):
        kind = str(response.headers.get("content-type", "an unknown type"))[:60]
        raise Malformed(f"{name} did not return JSON but {kind}") from None
    if not isinstance(found, dict):
        raise Malformed(f"{name} returned a {type(found).__name__}, not a message")
    return found


def answered(text: str, usage: Usage | None, name: str) -> ModelAnswer:
    """The object that an answer's text consists of.

    Raises: Malformed.
    """
    try:
        return ModelAnswer(value=object_in(text), usage=usage)
    except ValueError as instead:
        raise Malformed(f"{name} was asked for an object and returned {instead}", usage=usage) from None


def tokens(found: Any, *names: str) -> int | None:
    """A count of tokens, the first of these that there is; none where it is missing or can't be one."""
    for name in names:
        value = found.get(name) if isinstance(found, dict) else None
        if type(value) is int and 0 <= value <= _MOST_TOKENS:
            return value
    return None


def declined(name: str, usage: Usage | None) -> Declined:
    return Declined(f"{name} declined to answer", usage=usage)


def truncated(name: str, usage: Usage | None) -> Truncated:
    return Truncated(f"{name} was cut off at the maximum length", usage=usage)


def _refused(refused: Any, name: str) -> ModelTrouble:
    code = refused.status_code
    wait = seconds(refused.response.headers.get("retry-after"))
    if code in _BUSY:
        return RateLimited(f"{name} is overloaded ({code})", usage=_NOT_MADE, wait=wait)
    if 300 <= code < 400:
        return ModelTrouble(
            f"{name} redirects ({code}): use the address that it redirects to", usage=_NOT_MADE
        )
    return ModelTrouble(f"{name} answered {code}{_HINTS.get(code, '')}", usage=_NOT_MADE, wait=wait)


def no_key(name: str, variable: str) -> Unavailable:
    """Said before a vendor's own server is asked without a key."""
    return Unavailable(f"{name} needs a key: set {variable}")
