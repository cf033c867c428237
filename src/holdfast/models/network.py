"""One of our networks on onnxruntime: loaded when it is first asked, and ended when it takes too long."""

from collections.abc import Sequence
from functools import cached_property
from math import ceil
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.errors import Unavailable
from holdfast.models import own_models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_TOKENS = 384
THREADS = 1  # a second one is no faster on short texts, and spins: twice the processor time
DEADLINE = 2.0  # seconds for every few inputs of a call
_FEW_INPUTS = 8

Input = tuple[list[int], list[int]]  # tokens, and which text each belongs to


class Network:
    """A network that reads one text or two; it says what is likely, head by head."""

    def __init__(self, model: own_models.Shipped, folder: str | None, deadline: float) -> None:
        self._model = model
        self._folder = folder
        self._deadline = deadline

    def check_file(self) -> None:
        """Raises: Unavailable, when the model's file is not there or not the right one, loaded or not."""
        own_models.find(self._model, self._folder)

    def pairs(self, inputs: Sequence[Input], head: str, patience: float = 1) -> "list[NDArray[np.float32]]":
        """What one head says about each input.

        One by one: in a batch the int8 network rounds by the other inputs too, and gains nothing.
        Raises: Unavailable.
        """
        found = []
        session = self._session  # loading it does not count
        ends = monotonic() + patience * self._deadline * ceil(len(inputs) / _FEW_INPUTS)
        for given in inputs:
            found.append(self._timed(session, [head], given, ends - monotonic())[0][0])
        return found

    def heads(self, given: Input, names: list[str], patience: float) -> Any:
        """What several heads say about the tokens of one input, given some times the usual deadline.

        Raises: Unavailable.
        """
        return self._timed(self._session, names, given, patience * self._deadline)

    @cached_property
    def _session(self) -> Any:
        return own_models.open_session(own_models.find(self._model, self._folder), THREADS)

    def _timed(self, session: Any, heads: list[str], given: Input, within: float) -> Any:
        """One run of the network, ended when it takes longer than it may."""
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
        except (raised.Fail, raised.RuntimeException) as trouble:
            raise Unavailable(late if options.terminate else f"{what} failed: {trouble}") from trouble
        finally:
            timer.cancel()


def cut_pair(first: list[int], second: list[int]) -> Input:
    """Two texts, of which the first is cut where both are too long."""
    second = second[: MOST_TOKENS // 2]
    return framed_pair(first[: MOST_TOKENS - 3 - len(second)], second)


def framed_pair(first: list[int], second: list[int]) -> Input:
    """Two texts as a network reads them."""
    pieces = own_models.word_pieces()
    tokens = [*pieces.framed(first), *pieces.framed(second)[1:]]
    return tokens, [0] * (len(first) + 2) + [1] * (len(second) + 1)
