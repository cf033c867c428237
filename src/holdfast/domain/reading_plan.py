"""Which candidates a reader is asked about: those whose reading may change what is found.

What the reader will say of a candidate is expected from its cosine and its words. Where even luck would not
make an answer of any, nothing is read; where one surely leads, the rest need not be. All figures are fitted
on the validation part of the training data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.domain.ranking import ANSWER, HELPS, MAX_ODDS

_LEAST_ERROR, _ERROR_EACH, _ERROR_FROM = 0.38, 0.41, -4.0  # the usual error of an expectation grows with it
# By how many of these errors an expectation may be wrong before it is gone by.
_SILENT = 1.5  # too low, where nothing is answered
_ANSWERED = 1.0  # too high, where something is answered
_LEADS = 2.0  # either, where one candidate comes first
_ENTERS = 1.0  # too low, where one stays below the first few
_PAGE = 5  # candidates that a page shows
_HELPS = 1.0  # log odds of one that surely helps


@dataclass(frozen=True, slots=True)
class Unread:
    """What is known of a candidate before it is read."""

    relevance: float
    cosine: float
    words: float  # the part of the relevance that shared words make

    @property
    def expected(self) -> float:
        """The log odds that a reader will probably give."""
        words = min(self.words, 0.5)
        return -3.73 - 0.46 * self.cosine + 10.24 * self.cosine**2 + 4.94 * words


class ReadingPlan:
    """The log odds of some candidates, read or expected; `floor_of` says what they come to together."""

    def __init__(self, candidates: Sequence[Unread], floor_of: Callable[[Sequence[float]], float]) -> None:
        self._candidates = candidates
        self._floor_of = floor_of
        self.odds = [each.expected for each in candidates]
        self._errors = [_LEAST_ERROR + _ERROR_EACH * max(one - _ERROR_FROM, 0.0) for one in self.odds]

    @property
    def floor(self) -> float:
        """The least relevance that counts as an answer."""
        return self._floor_of(self.odds)

    def next(self) -> int | None:
        """The place of the candidate to be read next; none, when no reading is likely to change anything."""
        if self._floor_of(self._shifted(_SILENT)) != ANSWER:
            return None
        unread = [place for place, error in enumerate(self._errors) if error]
        low, high = self._relevances(-_LEADS), self._relevances(_LEADS)
        leader = low.index(max(low))
        leads = all(each <= low[leader] for place, each in enumerate(high) if place != leader)
        answered = self._floor_of(self._shifted(-_ANSWERED)) == ANSWER
        if leads and answered and not self._may_enter_the_page(leader, unread):
            return None
        return max(unread, key=lambda place: high[place], default=None)

    def _may_enter_the_page(self, leader: int, unread: Sequence[int]) -> bool:
        """Whether a reading may bring one among the first few; where the first surely helps, nobody minds."""
        if not self._errors[leader] and self.odds[leader] >= _HELPS:
            return False
        likely, high = self._relevances(0.0), self._relevances(_ENTERS)
        last = min(sorted(likely)[-_PAGE:])
        return any(likely[place] < last < high[place] for place in unread)

    def read(self, place: int, odds: float) -> None:
        """Notes what the reader said of a candidate."""
        self.odds[place] = odds
        self._errors[place] = 0.0

    def _shifted(self, errors: float) -> list[float]:
        """The odds, if all that are expected are wrong by so many errors."""
        both = zip(self.odds, self._errors, strict=True)
        return [min(max(odds + errors * error, -MAX_ODDS), MAX_ODDS) for odds, error in both]

    def _relevances(self, errors: float) -> list[float]:
        both = zip(self._candidates, self._shifted(errors), strict=True)
        return [each.relevance + HELPS * odds for each, odds in both]
