"""Shared by the vendors' SDKs: an HTTP client with limits, errors as ours, and validation of answers."""

import importlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.app.installation import install_command
from holdfast.domain.spend import Price, Usage
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
from holdfast.models.http_json import is_here, seconds
from holdfast.models.specs import LanguageSpec, price_of

if TYPE_CHECKING:
    import httpx2


_BUSY = frozenset({429, 503, 529})
_HINTS = {401: " (is the key right?)", 403: " (is the key right?)", 404: " (is the model name right?)"}
_NOT_MADE = Usage()  # a rejected call costs nothing
_MAX_TOKENS = 100_000_000


class SdkModel(ABC):
    """A language model behind a vendor's SDK, which is loaded with the first call."""

    sdk: ClassVar[str]  # the package, also the name of our extra

    def __init__(self, spec: LanguageSpec, *, key: str | None, within: float) -> None:
        self.name = spec.name
        self.price: Price | None = price_of(spec)
        self._spec = spec
        self._key = key
        self._within = within
        self._client: Any = None

    def opened(self) -> Any:
        """The vendor's client, also used for chat. Raises: Unavailable, without the SDK or a key."""
        if self._client is None:
            try:
                sdk = importlib.import_module(self.sdk)
            except ImportError:
                raise Unavailable(
                    f"this model needs a package that is not installed: run `{install_command(self.sdk)}`"
                ) from None
            if self._key is None and self._spec.needs_key:
                raise Unavailable(f"{self.name} needs a key: set {self.sdk.upper()}_API_KEY")
            self._client = self._connect(
                sdk,
                api_key=self._key or "none",
                max_retries=0,  # the job is retried later
                http_client=bounded_client(self._spec.url, self._within),
                timeout=self._within,
            )
        return self._client

    @abstractmethod
    def _connect(self, sdk: Any, **options: Any) -> Any:
        """The client of the loaded SDK."""


@contextmanager
def understood(sdk: Any, name: str) -> Iterator[None]:
    """Converts the errors of an SDK, without the server's text, which may repeat a key."""
    try:
        yield
    except sdk.APIStatusError as refused:
        raise _status_error(refused, name) from None
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
        # Whatever an SDK does, capture continues with the built-in model.
        raise ModelTrouble(f"{name} failed ({type(wrong).__name__})") from None


def body_of(raw: Any, name: str) -> Mapping[str, Any]:
    """The JSON object of a response, independent of the SDK's types. Raises: Malformed."""
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
    """Parses the text of an answer, which must be a JSON object. Raises: Malformed."""
    try:
        return ModelAnswer(value=object_in(text), usage=usage)
    except ValueError as instead:
        raise Malformed(f"{name} was asked for an object and returned {instead}", usage=usage) from None


def tokens(found: Any, *names: str) -> int | None:
    """The first valid token count under these names; None if there is none."""
    for name in names:
        value = found.get(name) if isinstance(found, dict) else None
        if type(value) is int and 0 <= value <= _MAX_TOKENS:
            return value
    return None


def declined(name: str, usage: Usage | None) -> Declined:
    return Declined(f"{name} declined to answer", usage=usage)


def truncated(name: str, usage: Usage | None) -> Truncated:
    return Truncated(f"{name} was cut off at the maximum length", usage=usage)


def _status_error(refused: Any, name: str) -> ModelTrouble:
    code = refused.status_code
    wait = seconds(refused.response.headers.get("retry-after"))
    if code in _BUSY:
        return RateLimited(f"{name} is overloaded ({code})", usage=_NOT_MADE, wait=wait)
    if 300 <= code < 400:
        return ModelTrouble(
            f"{name} redirects ({code}): use the address that it redirects to", usage=_NOT_MADE
        )
    return ModelTrouble(f"{name} answered {code}{_HINTS.get(code, '')}", usage=_NOT_MADE, wait=wait)


LARGEST = 4 * 1024 * 1024  # bytes of an answer


def bounded_client(url: str, within: float) -> "httpx2.Client":
    """A client for the server at `url`; a response that takes longer than `within` seconds fails."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        """The body of a response, with a limit on size and time."""

        def __init__(self, stream: Any, ends: float) -> None:
            self._stream = stream
            self._ends = ends

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for piece in self._stream:
                size += len(piece)
                if size > LARGEST:
                    raise httpx2.ReadError(f"returned more than {LARGEST // 2**20} MiB")
                if time.monotonic() > self._ends:
                    raise httpx2.ReadTimeout(f"did not finish within {within:.3g} s")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def bound(response: "httpx2.Response") -> None:
        response.stream = Bounded(response.stream, time.monotonic() + within)

    return httpx2.Client(
        follow_redirects=False,
        trust_env=not is_here(url),
        timeout=within,
        event_hooks={"response": [bound]},
        headers={"Accept-Encoding": "identity"},  # a small answer must not unpack to a huge one
    )
