"""Same, contradicting or something else: what a new statement is to a known one.

Exact rules, and the verdicts of a model that is passed in. Knows no store and no clock.
"""

from holdfast.language.comparison import Relation, Statement, Verdict
from holdfast.language.judge import PairJudge, PairModel

__all__ = ["PairJudge", "PairModel", "Relation", "Statement", "Verdict"]
