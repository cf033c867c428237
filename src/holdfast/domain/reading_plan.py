"""Chooses the candidates that the built-in reader checks: those whose result may change the hits.

The reader's result is predicted from cosine and words. If no candidate could become an answer even with luck,
none is checked; if one clearly leads, the others need not be. All constants were fitted on the validation
part of the training data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.domain.ranking import ANSWER, HELPS, MAX_ODDS

_LEAST_ERROR, _ERROR_EACH, _ERROR_FROM = 0.38, 0.41, -4.0  # the usual error of a prediction grows with it
# How many of these errors a prediction may be wrong by.
_SILENT = 1.5  # too low, if there is no answer
_ANSWERED = 1.0  # too high, if there is one
_LEADS = 2.0  # either, if one candidate leads
_ENTERS = 1.0  # too low, if a candidate is below the page
_PAGE = 5  # candidates on a page
_HELPS = 1.0  # log odds of one that certainly helps


@dataclass(frozen=True, slots=True)
class Unread:
    """What is known of a candidate before it is checked."""

    relevance: float
    cosine: float
    words: float  # the share of words in the relevance

    @property
    def expected(self) -> float:
        """The predicted log odds of the reader."""
        words = min(self.words, 0.5)
        return -3.73 - 0.46 * self.cosine + 10.24 * self.cosine**2 + 4.94 * words


class ReadingPlan:
    """The log odds of some candidates, checked or predicted; `floor_of` gives the floor for all together."""

    def __init__(self, candidates: Sequence[Unread], floor_of: Callable[[Sequence[float]], float]) -> None:
        self._candidates = candidates
        self._floor_of = floor_of
        self.odds = [each.expected for each in candidates]
        self._errors = [_LEAST_ERROR + _ERROR_EACH * max(one - _ERROR_FROM, 0.0) for one in self.odds]

    @property
    def floor(self) -> float:
        """The minimum relevance of an answer."""
        return self._floor_of(self.odds)

    def next(self) -> int | None:
        """The candidate to check next; None if no check is likely to change anything."""
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
        """Whether a check may bring a candidate onto the page; not asked if the first certainly helps."""
        if not self._errors[leader] and self.odds[leader] >= _HELPS:
            return False
        likely, high = self._relevances(0.0), self._relevances(_ENTERS)
        last = min(sorted(likely)[-_PAGE:])
        return any(likely[place] < last < high[place] for place in unread)

    def read(self, place: int, odds: float) -> None:
        """Records the reader's result for a candidate."""
        self.odds[place] = odds
        self._errors[place] = 0.0

    def _shifted(self, errors: float) -> list[float]:
        """The log odds, if all predictions are wrong by so many errors."""
        both = zip(self.odds, self._errors, strict=True)
        return [min(max(odds + errors * error, -MAX_ODDS), MAX_ODDS) for odds, error in both]

    def _relevances(self, errors: float) -> list[float]:
        both = zip(self._candidates, self._shifted(errors), strict=True)
        return [each.relevance + HELPS * odds for each, odds in both]
