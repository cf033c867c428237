"""The default embedder: all-MiniLM-L6-v2, int8, on onnxruntime. No key, no download, no second process."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.domain.compare.likeness import Likeness
from holdfast.models import model_file
from holdfast.models.spec import MINILM
from holdfast.models.word_by_word import WordByWord
from holdfast.models.wordpiece import WordPiece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
MOST_TOKENS = 256  # the model cuts what is longer
PART = 126  # tokens of one part, without start and end: the length that the model was trained on
OVERLAP = 30  # tokens that neighbouring parts share
BATCH_TOKENS = 512  # padding included: larger batches fall out of the processor's cache and are slower

_VOCABULARY = Path(__file__).parent / "minilm" / "vocab.txt"


class MiniLM:
    """Texts to unit vectors; a long text becomes several parts."""

    name = MINILM

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        model_file.find(self._folder)

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        """For each text the vectors of its parts, as float32.

        Raises: Unavailable, when the model's file is not there or not the right one.
        """
        owners: list[int] = []
        parts: list[list[int]] = []
        for index, text in enumerate(texts):
            for part in _split(self._pieces.numbers_of(text)):
                parts.append(self._pieces.framed(part))
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
        cut = [self._pieces.numbers_of(text)[: MOST_TOKENS - 2] for text in texts]
        return [vector.tobytes() for vector in self._run([self._pieces.framed(numbers) for numbers in cut])]

    def likeness(self, one: str, other: str) -> Likeness | None:
        """How alike two texts are word by word; none where one of them has no words.

        Raises: Unavailable, as `documents`.
        """
        return self._word_by_word.likeness(one, other)

    @cached_property
    def _word_by_word(self) -> WordByWord:
        return WordByWord(self._states)

    def _states(self, text: str) -> "tuple[list[tuple[str, int]], NDArray[np.float32]]":
        """The words of a text, each with its count of pieces, and the states of the pieces."""
        import numpy as np

        words: list[tuple[str, int]] = []
        numbers: list[int] = []
        for word, pieces in self._pieces.words_of(text):
            if len(numbers) + len(pieces) > MOST_TOKENS - 2:
                break
            words.append((word, len(pieces)))
            numbers.extend(pieces)
        row = np.array([self._pieces.framed(numbers)], dtype=np.int64)
        states: NDArray[np.float32] = self._session.run(None, _inputs(row, np.ones_like(row)))[0][0][1:-1]
        return words, states

    @cached_property
    def _pieces(self) -> WordPiece:
        return WordPiece.load(_VOCABULARY)

    @cached_property
    def _session(self) -> Any:
        # The library reports on its use to its vendor unless it is told not to before it is imported.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        # Imported here, as numpy is: a process may never need them, and they take a third of a second.
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        path = str(model_file.find(self._folder))
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def _run(self, parts: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        import numpy as np

        vectors = np.zeros((len(parts), DIMENSIONS), dtype=np.float32)
        for batch in _batches(parts):
            width = len(parts[batch[-1]])
            numbers = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros_like(numbers)
            for row, index in enumerate(batch):
                numbers[row, : len(parts[index])] = parts[index]
                mask[row, : len(parts[index])] = 1
            vectors[batch] = _pooled(self._session.run(None, _inputs(numbers, mask))[0], mask)
        return vectors


def _inputs(numbers: "NDArray[np.int64]", mask: "NDArray[np.int64]") -> "dict[str, NDArray[np.int64]]":
    import numpy as np

    return {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}


def _split(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Overlapping parts; a text that the model takes whole stays whole."""
    if len(numbers) <= MOST_TOKENS - 2:
        yield numbers
        return
    for start in range(0, len(numbers) - OVERLAP, PART - OVERLAP):
        yield numbers[start : start + PART]


def _batches(parts: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indices of parts of like length together, shortest first."""
    batch: list[int] = []
    for index in sorted(range(len(parts)), key=lambda index: len(parts[index])):
        if batch and (len(batch) + 1) * len(parts[index]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _pooled(states: "NDArray[np.float32]", mask: "NDArray[np.int64]") -> "NDArray[np.float32]":
    """The mean over each text's own tokens, as a unit vector."""
    import numpy as np

    weights = mask[:, :, None].astype(np.float32)
    mean = (states * weights).sum(axis=1) / weights.sum(axis=1)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit
