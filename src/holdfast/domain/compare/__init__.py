"""Same, contradicting or something else: what a new statement is to a known one.

Exact rules, and the verdicts of a model that is passed in. Knows no store and no clock.
"""

from holdfast.domain.compare.judge import Judge, PairModel
from holdfast.domain.compare.statement import Relation, Statement, Verdict

__all__ = ["Judge", "PairModel", "Relation", "Statement", "Verdict"]
