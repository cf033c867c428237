"""The built-in models' files: found in data-only packages, verified once per process, and run."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.models.wordpiece import WordPiece


FILE = "model.onnx"
_VOCABULARY = Path(__file__).parent / "wordpiece_data" / "vocab.txt"


@dataclass(frozen=True, slots=True)
class Shipped:
    """A model's package, version and hash."""

    what: str  # for messages
    package: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        return f"{self.package}/{self.version}"


EMBEDDER = Shipped(
    what="embedder",
    package="holdfast-embedder",
    version="1.1.0",
    sha256="e8c4b11d8915b4284f0b723e3e14b8b895ab1b03d2ea12816fca80f5cc7de035",
)
READER = Shipped(
    what="reader",
    package="holdfast-reader",
    version="1.3.0",
    sha256="fb58eba8061127f8f0a51a31b3635bac96bb6b7bd277191acf2558e8328128cf",
)
FINDER = Shipped(
    what="finder",
    package="holdfast-finder",
    version="1.0.0",
    sha256="793c22df320a446546c8a783943a57e46f4280919bf23496ebfafa5023d9207d",
)


def find(model: Shipped, folder: str | None = None) -> Path:
    """The model's file, from `folder` if given, else from its package. Raises: Unavailable."""
    path = Path(folder).expanduser() / FILE if folder else _packaged(model)
    if path is None or not path.is_file():
        where = f"{path} does not exist" if path else f"the package {model.package} is not installed"
        raise Unavailable(
            f"no {model.what}: {where}", command=f"run `pip install {model.package}=={model.version}`"
        )
    found = path.stat()
    if _hash(path, found.st_mtime_ns, found.st_size) != model.sha256:
        raise Unavailable(
            f"{path} is not the {model.what} that this release needs: it is damaged or of another version",
            command=f"run `pip install --force-reinstall {model.package}=={model.version}`",
        )
    return path


def open_session(path: Path, threads: int) -> Any:
    """The network in a file, ready to run."""
    # Must be set before the import, or the library sends telemetry.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Imported here, as numpy is: it takes a third of a second, and many processes never need it.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The file was optimised when it was exported.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@cache
def word_pieces() -> "WordPiece":
    """The vocabulary of all three models, read when first used."""
    from holdfast.models.wordpiece import WordPiece

    return WordPiece.load(_VOCABULARY)


def _packaged(model: Shipped) -> Path | None:
    found = find_spec(
        model.package.replace("-", "_")
    )  # not by the list of its files, which takes longer to read
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) / FILE if places else None


@cache
def _hash(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


MAX_TOKENS = 384
THREADS = 1  # a second one is no faster on short texts, and spins: twice the processor time
AT_ONCE = 2  # inputs of one call, each in a thread of its own
DEADLINE = 2.0  # seconds for every few inputs of a call
_FEW_INPUTS = 8

Input = tuple[list[int], list[int]]  # tokens, and which text each belongs to


class Network:
    """A network that reads one or two texts and has several output heads. Loaded when first used."""

    def __init__(self, model: Shipped, folder: str | None, deadline: float) -> None:
        self._model = model
        self._folder = folder
        self._deadline = deadline

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        find(self._model, self._folder)

    def pairs(self, inputs: Sequence[Input], head: str, patience: float = 1) -> "list[NDArray[np.float32]]":
        """The output of one head for each input.

        One by one: in a batch the rounding depends on the other inputs, and it is not faster.
        Raises: Unavailable.
        """
        session = self._session  # loading it does not count
        ends = monotonic() + patience * self._deadline * ceil(len(inputs) / _FEW_INPUTS)

        def one(given: Input) -> "NDArray[np.float32]":
            output: NDArray[np.float32] = self._timed(session, [head], given, ends - monotonic())[0][0]
            return output

        if len(inputs) < 2:
            return list(map(one, inputs))
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(AT_ONCE) as side_by_side:
            return list(side_by_side.map(one, inputs))

    def heads(self, given: Input, names: list[str], patience: float) -> Any:
        """The outputs of heads for each token; `patience` multiplies the deadline. Raises: Unavailable."""
        return self._timed(self._session, names, given, patience * self._deadline)

    @cached_property
    def _session(self) -> Any:
        return open_session(find(self._model, self._folder), THREADS)

    def _timed(self, session: Any, heads: list[str], given: Input, within: float) -> Any:
        """One run of the network, terminated after `within` seconds."""
        what = f"the {self._model.what} {self._model.name}"
        late = f"{what} took longer than {self._deadline:g} s"
        if within <= 0:
            raise Unavailable(late)
        import numpy as np
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as raised

        ids, types = (np.array([row], dtype=np.int64) for row in given)
        options = onnxruntime.RunOptions()
        timer = Timer(within, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            return session.run(heads, {"ids": ids, "mask": np.ones_like(ids), "types": types}, options)
        except (raised.Fail, raised.RuntimeException) as error:
            raise Unavailable(late if options.terminate else f"{what} failed: {error}") from error
        finally:
            timer.cancel()


def cut_pair(first: list[int], second: list[int]) -> Input:
    """The input for two texts; if they are too long, the first is truncated."""
    second = second[: MAX_TOKENS // 2]
    return framed_pair(first[: MAX_TOKENS - 3 - len(second)], second)


def framed_pair(first: list[int], second: list[int]) -> Input:
    """The input for two texts."""
    pieces = word_pieces()
    tokens = [*pieces.framed(first), *pieces.framed(second)[1:]]
    return tokens, [0] * (len(first) + 2) + [1] * (len(second) + 1)
