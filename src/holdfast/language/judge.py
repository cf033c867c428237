"""Judges pairs of statements: exact rules first, the rest by a model.

The rules decide only what is exact: equal text is the same, a slightly different measured value is the same,
and two texts with different values are never merged.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import Protocol

from holdfast.domain.terms import sized_cache
from holdfast.domain.text import normal_form
from holdfast.errors import Unavailable
from holdfast.language.comparison import NEARLY_CONTRADICTS, NEARLY_SAME, Statement, Verdict
from holdfast.language.value_rules import different_values, measured_again

Pair = tuple[Statement, Statement]

SAME_WORDS = "the same words"
MEASURED_AGAIN = "a measured value that differs a little"
DIFFERENT_VALUE = "a different value"
NO_MODEL = "no model available"
_AT_A_TIME = 8  # pairs per call of the model
_CACHED = 20_000  # verdicts, about 200 bytes each
_NOT_JUDGED = Verdict(relation="distinct", certain=True, similarity=0.0, reasons=(NO_MODEL,))
#: Cached, because each text is compared with many others.
_normal_form = sized_cache(most=500_000, weight=len)(normal_form)
_log = logging.getLogger(__name__)


class PairModel(Protocol):
    """A model that judges pairs of statements."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]: ...


class PairJudge:
    """Judges pairs by exact rules and by `model`; without one, only equal texts are the same."""

    def __init__(self, model: PairModel | None = None) -> None:
        self._model = model
        self._trouble: str | None = None  # the last error of the model
        self._cache: OrderedDict[bytes, Verdict] = OrderedDict()
        self._lock = Lock()

    def compare(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """How each draft (second) relates to the known statement (first)."""
        keys = [_key(pair) for pair in pairs]
        found = {key: verdict for key in keys if (verdict := self._cached(key)) is not None}
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if missing:
            verdicts = dict(zip(missing, self._judged(list(missing.values())), strict=True))
            self._keep(verdicts)
            found |= verdicts
        return [found[key] for key in keys]

    def _judged(self, pairs: Sequence[Pair]) -> list[Verdict]:
        exact = [by_exact_rules(known.text, draft.text) for known, draft in pairs]
        open_pairs = [pair for pair, verdict in zip(pairs, exact, strict=True) if verdict is None]
        said = iter(self._by_model(open_pairs))
        return [verdict or _checked(pair, next(said)) for pair, verdict in zip(pairs, exact, strict=True)]

    def _by_model(self, pairs: Sequence[Pair]) -> list[Verdict]:
        if self._model is None or not pairs:
            return [_NOT_JUDGED] * len(pairs)
        verdicts: list[Verdict] = []
        try:
            while len(verdicts) < len(pairs):  # a few at a time, so that a timeout loses few verdicts
                verdicts += self._model.judge(pairs[len(verdicts) :][:_AT_A_TIME])
            self._trouble = None
        except Unavailable as trouble:
            if self._trouble != str(trouble):  # logged once
                _log.warning("only identical texts count as duplicates for now: %s", trouble)
            self._trouble = str(trouble)
        return [*verdicts, *[_NOT_JUDGED] * (len(pairs) - len(verdicts))]

    def _cached(self, key: bytes) -> Verdict | None:
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
            return self._cache.get(key)

    def _keep(self, verdicts: dict[bytes, Verdict]) -> None:
        with self._lock:
            # Not cached: it is judged once a model answers again.
            self._cache |= {key: said for key, said in verdicts.items() if NO_MODEL not in said.reasons}
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)


def by_exact_rules(known: str, draft: str) -> Verdict | None:
    """The verdict if a rule decides, else None."""
    if known == draft or _normal_form(known) == _normal_form(draft) != "":
        return Verdict(relation="same", certain=True, similarity=1.0, reasons=(SAME_WORDS,))
    if measured_again(known, draft):
        return Verdict(relation="same", certain=True, similarity=0.95, reasons=(MEASURED_AGAIN,))
    return None


def _checked(pair: Pair, verdict: Verdict) -> Verdict:
    """Prevents a merge of two different values, whatever the model says: that is a near call."""
    if verdict.relation != "same" or not different_values(pair[0].text, pair[1].text):
        return verdict
    reasons = (*verdict.reasons, DIFFERENT_VALUE, NEARLY_CONTRADICTS)
    return replace(verdict, relation="distinct", certain=False, reasons=reasons)


def decided(
    same: float, contradicts: float, *, same_from: float, contradicts_from: float, near: float, judge: str
) -> Verdict:
    """The verdict for a model's probabilities, by the thresholds that were fitted for it."""
    if same >= same_from and same >= contradicts:
        return Verdict(relation="same", certain=True, similarity=same, judge=judge, probability=same)
    if contradicts >= contradicts_from and contradicts > same:
        return Verdict(
            relation="contradicts", certain=True, similarity=same, judge=judge, probability=contradicts
        )
    distinct = 1.0 - same - contradicts
    if max(same, contradicts) < near:
        return Verdict(relation="distinct", certain=True, similarity=same, judge=judge, probability=distinct)
    nearly = NEARLY_SAME if same > contradicts else NEARLY_CONTRADICTS
    return Verdict(
        relation="distinct",
        certain=False,
        similarity=same,
        reasons=(nearly,),
        judge=judge,
        probability=max(same, contradicts),
    )


def _key(pair: Pair) -> bytes:
    """A hash of both texts and their labels, so that the cache contains no text of a deleted memory."""
    parts = (part for each in pair for part in (each.text, each.subject or "", each.category or ""))
    return sha256("\0".join(parts).encode("utf-8", "replace")).digest()
