"""The default embedder: our own, int8, on onnxruntime. No key, no download, no second process."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.models import own_models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32.

        Raises: Unavailable, when the model's file is not there or not the right one.
        """
        pieces = own_models.word_pieces()
        owners: list[int] = []
        parts: list[list[int]] = []
        for index, text in enumerate(texts):
            for part in _split(pieces.numbers_of(text)):
                parts.append(pieces.framed(part))
                owners.append(index)
        found: list[list[bytes]] = [[] for _ in texts]
        for owner, vector in zip(owners, self._run(parts), strict=True):
            found[owner].append(vector.tobytes())
        return found

    def query(self, text: str) -> bytes:
        """The vector of a question, cut to what the model takes at once."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of several forms of one question, in one run of the model."""
        pieces = own_models.word_pieces()
        cut = [pieces.numbers_of(text)[: MOST_TOKENS - 2] for text in texts]
        return [vector.tobytes() for vector in self._run([pieces.framed(numbers) for numbers in cut])]

    @cached_property
    def _session(self) -> Any:
        return own_models.open_session(own_models.find(own_models.EMBEDDER, self._folder), threads=1)

    def _run(self, parts: Sequence[Sequence[int]]) -> "Iterator[NDArray[np.float32]]":
        """One by one: in a batch the int8 network rounds by the other texts too, and gains nothing."""
        import numpy as np

        for part in parts:
            ids = np.array([part], dtype=np.int64)
            yield self._session.run(["vectors"], {"ids": ids, "mask": np.ones_like(ids)})[0][0]


def _split(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Overlapping parts; a text that the model takes whole stays whole."""
    if len(numbers) <= MOST_TOKENS - 2:
        yield numbers
        return
    for start in range(0, len(numbers) - OVERLAP, PART - OVERLAP):
        yield numbers[start : start + PART]
