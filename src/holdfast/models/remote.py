"""Embedders behind a server: Ollama, and everything with OpenAI's /v1/embeddings."""

import math
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from holdfast.domain.budget import estimate_tokens
from holdfast.errors import Unavailable
from holdfast.models.embedders import parts_of
from holdfast.models.http_json import Server, ServerRefusal
from holdfast.models.specs import Spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_FILE = "known_models.toml"
_TAG = re.compile(r"[:@].*", re.DOTALL)
CAUTIOUS = 256  # tokens that an unknown model takes: the smallest limit of common ones


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The prefixes that a model expects, and its maximum length."""

    document: str = ""  # prefix of a stored text
    query: str = ""  # prefix of a query
    tokens: int = CAUTIOUS


def known(model: str) -> KnownModel:
    """The settings of a model by its name; cautious defaults for an unknown one."""
    plain = _TAG.sub("", model.rsplit("/", 1)[-1]).lower()
    found = max((name for name in _table() if plain.startswith(name)), key=len, default=None)
    return KnownModel() if found is None else _table()[found]


@cache
def _table() -> dict[str, KnownModel]:
    text = files("holdfast.models").joinpath(_FILE).read_text(encoding="utf-8")
    return {name: KnownModel(**entry) for name, entry in tomllib.loads(text).items()}


QUERY_WITHIN = 2.0  # seconds: a user waits for the answer
DOCUMENTS_WITHIN = 30.0  # seconds for one request; the server may have to load its model first
TRUSTED_FOR = 60.0  # seconds after an answer in which a server is not probed again
REST = 10.0  # seconds without a request after a failure, so that not every query waits for it
LONGEST_REST = 300.0  # seconds, whatever Retry-After says
MAX_TOKENS = 512  # of one part: vectors of longer ones are less specific
MAX_PARTS = 64  # in one request
REQUEST_TOKENS = 4_096
_TOO_LONG = frozenset({400, 413, 422})  # the status codes for a text that is too long
_SHORTEST = 64  # characters: never too long
_EMPTY = "-"  # sent for an empty text, which servers reject


@dataclass(frozen=True, slots=True)
class Dialect:
    """The paths of a server's API, and how to read its response."""

    path: str
    alive: str  # responds at once, even while the server loads a model
    vectors: Callable[[Any], list[Any]]


def _ollamas(answer: Any) -> list[Any]:
    return list(answer["embeddings"])


def _openais(answer: Any) -> list[Any]:
    # By their index if they have one: the order is not guaranteed.
    rows = {int(row.get("index", place)): row["embedding"] for place, row in enumerate(answer["data"])}
    return [rows[place] for place in range(len(answer["data"]))]


DIALECTS = {
    "ollama": Dialect("/api/embed", "/api/version", _ollamas),
    "openai": Dialect("/embeddings", "/models", _openais),
}


class RemoteEmbedder:
    """Texts to unit vectors, from a server."""

    def __init__(
        self,
        spec: Spec,
        *,
        key: str | None = None,
        query_within: float | None = None,
        documents_within: float | None = None,
        rest: float | None = None,
    ) -> None:
        self.name = spec.name
        self._model = spec.model
        self._dialect = DIALECTS[spec.kind]
        self._known: KnownModel = known(spec.model)
        self._server = Server(spec.url, key)
        self._query_within = QUERY_WITHIN if query_within is None else query_within
        self._documents_within = DOCUMENTS_WITHIN if documents_within is None else documents_within
        self._rest = REST if rest is None else rest
        self._paused: tuple[float, str] = (0.0, "")  # until when, and why
        self._answered = -math.inf  # when it last did
        self._size: int | None = None  # numbers of a vector

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32. Raises: Unavailable."""
        before = self._known.document
        room = min(self._known.tokens, MAX_TOKENS) - estimate_tokens(before)
        cut = [parts_of(text, room) for text in texts]
        said = [before + (part or _EMPTY) for parts in cut for part in parts]
        found = iter([vector for batch in _batches(said) for vector in self._embed(batch)])
        return [[next(found) for _ in parts] for parts in cut]

    def query(self, text: str) -> bytes:
        """The vector of a query, truncated to the model's limit. Raises: Unavailable."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of several forms of one query, in one request. Raises: Unavailable."""
        if not texts:
            return []
        before = self._known.query
        room = min(self._known.tokens, MAX_TOKENS) - estimate_tokens(before)
        asked = [before + (parts_of(text, room)[0] or _EMPTY) for text in texts]
        return self._vectors(asked, within=self._query_within)

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of texts; one that is too long for the model is found by bisection and truncated."""
        try:
            return self._vectors(texts, within=self._documents_within)
        except ServerRefusal as error:
            half = len(texts[0]) // 2 if len(texts) == 1 else len(texts) // 2
            if error.code not in _TOO_LONG or (len(texts) == 1 and half < _SHORTEST):
                raise
            self._paused = (0.0, "")
        if len(texts) == 1:
            return self._embed([texts[0][:half]])
        return [*self._embed(texts[:half]), *self._embed(texts[half:])]

    def _vectors(self, texts: Sequence[str], *, within: float) -> list[bytes]:
        until, why = self._paused
        if time.monotonic() < until:
            raise Unavailable(f"{why} (next try in {until - time.monotonic():.0f} s)")
        body = {"model": self._model, "input": list(texts)}
        try:
            if within > self._query_within and time.monotonic() > self._answered + TRUSTED_FOR:
                # A query may be waiting for these texts: check first that the server responds.
                self._server.probe(self._dialect.alive, within=self._query_within)
            answer = self._server.post(self._dialect.path, body, within=within)
        except ServerRefusal as error:
            rest = min(max(self._rest, error.wait or 0.0), LONGEST_REST)
            self._paused = (time.monotonic() + rest, str(error))
            raise
        self._answered = time.monotonic()
        return self._validate(answer, len(texts))

    def _validate(self, answer: Any, wanted: int) -> list[bytes]:
        import numpy as np

        try:
            rows = self._dialect.vectors(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unavailable(f"{self.name} returned {_shape(answer)} instead of vectors") from None
        if len(rows) != wanted:
            raise Unavailable(f"{self.name} returned {len(rows)} vectors for {wanted} texts")
        vectors = [_unit(row, self.name) for row in rows]
        for vector in vectors:
            if self._size not in (None, len(vector)):
                raise Unavailable(
                    f"{self.name} returned {len(vector)} numbers, but {self._size} before: another model?"
                )
            self._size = len(vector)
        return [vector.astype(np.dtype("<f4")).tobytes() for vector in vectors]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        cost = estimate_tokens(text)
        if batch and (len(batch) == MAX_PARTS or size + cost > REQUEST_TOKENS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += cost
    if batch:
        yield batch


def _unit(row: Any, name: str) -> "NDArray[np.float64]":
    """`row`, normalized to length 1. Raises: Unavailable, if it is not a finite vector other than zero."""
    import numpy as np

    if not isinstance(row, list) or not row or not all(type(number) in (int, float) for number in row):
        raise Unavailable(f"{name} returned a vector that is not a list of numbers")
    try:
        vector = np.array(row, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            length = float(np.linalg.norm(vector))
    except OverflowError:  # a whole number beyond all floats
        length = float("inf")
    if not np.isfinite(length):
        raise Unavailable(f"{name} returned a vector with numbers that are not finite")
    if length < 1e-12:
        raise Unavailable(f"{name} returned a vector of zeros")
    unit: NDArray[np.float64] = vector / length
    return unit


def _shape(answer: Any) -> str:
    """A short description of a response; its text may be private or long."""
    if isinstance(answer, dict):
        return f"an object with {', '.join(sorted(map(str, answer))[:5]) or 'nothing'}"
    return f"a {type(answer).__name__}"
