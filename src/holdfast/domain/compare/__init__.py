"""Same, contradicting or something else: what a new memory is to a known one.

Pure text in, a verdict out. Knows no store, no clock and no model; an embedder's likeness joins through
the `meaning` of `TextJudge`.
"""

from holdfast.domain.compare.exact import ExactValues
from holdfast.domain.compare.judge import TextJudge
from holdfast.domain.compare.statement import Relation, Statement, Verdict

__all__ = ["ExactValues", "Relation", "Statement", "TextJudge", "Verdict"]
