"""The default embedder: our own, int8, on onnxruntime. No key, no download, no second process."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from holdfast.domain.text import parts
from holdfast.models import own_models

MOST_TOKENS = 256  # the model cuts what is longer
PART = 126  # tokens of one part, without start and end
OVERLAP = 30  # tokens that neighbouring parts share


class OwnEmbedder:
    """Texts to unit vectors; a long text becomes several parts."""

    name = own_models.EMBEDDER.name

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        own_models.find(own_models.EMBEDDER, self._folder)

    def load(self) -> None:
        """Loads the network, which the first text would wait for otherwise.

        Raises: Unavailable, as `documents`.
        """
        self.query("")

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32.

        Raises: Unavailable, when the model's file is not there or not the right one.
        """
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
        cut = [pieces.numbers_of(text)[: MOST_TOKENS - 2] for text in texts]
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
    row = list(islice(numbers, MOST_TOKENS - 1))
    if len(row) <= MOST_TOKENS - 2:
        yield row
        return
    while len(row) > OVERLAP:
        yield row[:PART]
        row = row[PART - OVERLAP :]
        row += islice(numbers, max(PART - len(row), 0))
