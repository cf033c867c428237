"""Quotas: what a transaction stored is counted before it ends, and taken back if it is too much."""

from holdfast.domain.space import Quota, Stored
from holdfast.engine.ports import Transaction
from holdfast.errors import Invalid, QuotaExceeded

LARGEST = 2**53  # what every reader of JSON can count to
_SPACE_COMMAND = "change it with `holdfast space change {} --max-{} N`"
_TOKEN_COMMAND = "change it with `holdfast token change {} --max-{} N`"


def charge(tx: Transaction, token: str | None, quota: Quota) -> None:
    """Counts what the transaction stored, for the space and for the token that did it.

    Raises: QuotaExceeded, if it added to what there may be no more of; then nothing is stored.
    """
    counted = tx.usage.settle(token)
    if counted is None:
        return
    grown, whole, own = counted
    name = tx.space.name
    for what in ("memories", "messages", "bytes"):
        if getattr(grown, what) <= 0:
            continue
        _refuse(what, tx.space.quota, whole, grown, f"space {name!r}", _SPACE_COMMAND.format(name, what))
        _refuse(what, quota, own, grown, f"this token in space {name!r}", _TOKEN_COMMAND.format(token, what))


def _refuse(what: str, quota: Quota, used: Stored, grown: Stored, whose: str, command: str) -> None:
    most, now = getattr(quota, f"max_{what}"), getattr(used, what)
    if most is None or now <= most:
        return
    unit = "bytes of text" if what == "bytes" else what
    before, more = now - getattr(grown, what), getattr(grown, what)
    raise QuotaExceeded(
        f"the quota of {whose} is {most:,} {unit}: {before:,} are in use, and this would add {more:,}; "
        "nothing was stored",
        command=command,
    )


def checked(quota: Quota) -> Quota:
    """Raises: Invalid, for a limit that is none."""
    for what in ("memories", "messages", "bytes"):
        most = getattr(quota, f"max_{what}")
        if most is not None and not 0 <= most <= LARGEST:
            raise Invalid(f"max_{what} must be 0 to {LARGEST:,}, not {most:,}", field=f"max_{what}")
    return quota
