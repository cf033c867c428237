"""Whether the clock can be believed: one that is far ahead would take everybody's belief. Pure."""

from datetime import datetime, timedelta

LONGEST_PAUSE = timedelta(days=180)  # between two changes that raises no doubt
SETTLED = timedelta(days=7)  # what was written under the clock of today alone proves nothing


def clock_doubt(settled: datetime | None, now: datetime) -> str | None:
    """Why nothing should fade now; none when nothing speaks against the clock.

    `settled` is the time of the newest change that is a week old or older.
    """
    if settled is None or now - settled <= LONGEST_PAUSE:
        return None
    return (
        f"the clock says {now:%Y-%m-%d}, but the last change before this week was on {settled:%Y-%m-%d}, "
        f"{(now - settled).days} days earlier: confidence decay is paused"
    )
