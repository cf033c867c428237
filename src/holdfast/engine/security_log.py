"""The security log: who signs in, and who changes spaces and tokens. A service always writes it.

A space that is deleted takes its access log with it; these lines are not in the database.
"""

import logging
from typing import Final

from holdfast.domain.access import Grant
from holdfast.engine.doors import DOOR

log: Final = logging.getLogger("holdfast.security")


def tell(grant: Grant, done: str) -> None:
    """Logs what the holder of a grant did."""
    who = f"token {grant.token}" if grant.token is not None else "this machine's user"
    log.info("%s (%s) %s", who, DOOR.get(), done)
