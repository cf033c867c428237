"""Decides what a draft is to something known."""

from __future__ import annotations

from holdfast.domain.compare.statement import Statement, Verdict


class TextJudge:
    """Judges two statements by their words alone."""

    def compare(self, known: Statement, draft: Statement, *, meaning: float | None = None) -> Verdict:
        """The relation of `draft` to `known`, with the evidence for it."""
        left, right = set(known.text.lower().split()), set(draft.text.lower().split())
        share = len(left & right) / max(1, len(left | right))
        if known.text == draft.text:
            return Verdict(relation="same", certain=True, similarity=1.0, reasons=("the same words",))
        return Verdict(relation="distinct", certain=False, similarity=share, reasons=())
