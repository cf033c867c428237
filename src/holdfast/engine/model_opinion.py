"""What a model says about a draft and a known memory, and how far it is believed.

Never against what our own judge is sure of, never so that a name or number is lost, and an operator's memory
is not changed on a model's word: that waits in the inbox.
"""

from dataclasses import dataclass, replace
from typing import Literal

from holdfast.domain.memory import Draft, Memory
from holdfast.engine.neighbours import Findings
from holdfast.engine.ports import Transaction
from holdfast.language.grounding import Grounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A model's word on a draft and the memory of this id."""

    relation: Literal["same", "updates", "contradicts"]
    memory: str
    where_unsure: bool = False  # counts only where our own judge was not sure


@dataclass(frozen=True, slots=True)
class AdjustedFindings:
    """What becomes of the findings, and which memory the draft takes the place of, if any."""

    findings: Findings
    draft: Draft
    replaces: Memory | None = None


def apply_opinions(
    told: tuple[Opinion, ...], findings: Findings, draft: Draft, tx: Transaction
) -> AdjustedFindings:
    """The findings with what a language model adds to them."""
    weighed = AdjustedFindings(findings, draft)
    for one in told:
        known = tx.memories.get(one.memory)
        if known is None or not known.active or known.project not in (None, draft.project):
            continue  # it changed since: what was said of it does not count any more
        if weighed.findings.same is not None:
            break  # our own judge is sure
        if one.where_unsure and known not in findings.related:
            continue
        weighed = _with(one, known, weighed, tx)
    return weighed


def _with(one: Opinion, known: Memory, weighed: AdjustedFindings, tx: Transaction) -> AdjustedFindings:
    findings, draft = weighed.findings, weighed.draft
    related = tuple(other for other in findings.related if other.id != known.id)
    clashes = any(other.id == known.id for other in findings.contradicted)
    if one.relation == "same":
        if clashes or _adds(draft, known):
            return replace(weighed, findings=replace(findings, related=(*related, known)))
        return replace(weighed, findings=replace(findings, same=known, related=related))
    if tx.journal.vouched_for(known.id):
        verb = "contradicts" if one.relation == "contradicts" else "replaces"
        draft = replace(draft, doubtful=f"a model found that it {verb} the operator's memory {known.id}")
    if one.relation == "updates":
        return replace(weighed, draft=draft, replaces=known)
    if clashes or known.project != draft.project:
        return weighed  # a project may differ from the general rule
    against = (*findings.contradicted, known)
    return replace(weighed, draft=draft, findings=replace(findings, contradicted=against, related=related))


def _adds(draft: Draft, known: Memory) -> bool:
    """Whether the draft names or counts something that the known memory does not."""
    said = f"{known.subject or ''}. {known.content}"
    return bool(Grounds([(said, None)]).strange(draft.content))
