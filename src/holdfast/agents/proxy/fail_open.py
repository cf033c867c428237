"""What fails in the proxy's memory: it is logged, and the host goes on."""

import logging
from collections.abc import Callable
from typing import TypeVar

from holdfast.agents import fail_open as boundary
from holdfast.errors import HoldfastError

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


def unbroken(work: Callable[[], Result], what: str) -> Result | None:
    """What `work` gives; none, when it failed. `what` says in the log what did not happen."""

    def failed(trouble: Exception) -> None:
        if isinstance(trouble, HoldfastError):
            _log.warning("%s: %s", what, trouble)
        else:
            _log.error("%s", what, exc_info=trouble)

    return boundary.unbroken(work, failed)
