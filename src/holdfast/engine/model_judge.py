"""A language model's opinion on the pairs that our own can't decide, where somebody asked for one.

Asked before the space is locked, and only about near calls; where it fails, is too slow or too dear, the
first judgement stands. An opinion is never followed against what our own judge is sure of, nor so that a name
or number is lost; an operator's memory is not changed on a model's word: that waits in the inbox.
"""

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from holdfast.domain.memory import Draft, Memory
from holdfast.engine.meter import ask
from holdfast.engine.neighbours import DraftRelations, JudgedCandidates, findings
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import LanguageModels, SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.grounding import Grounds
from holdfast.language.model_call import ModelPrompt, Schema, as_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A model's word on a draft and the memory of this id."""

    relation: Literal["same", "updates", "contradicts"]
    memory: str
    where_unsure: bool = False  # counts only where our own judge was not sure


@dataclass(frozen=True, slots=True)
class AdjustedRelations:
    """What becomes of the findings, and which memory the draft takes the place of, if any."""

    findings: DraftRelations
    draft: Draft
    replaces: Memory | None = None


MOST_PAIRS = 3  # near calls of one draft that are asked about
REST = timedelta(seconds=60)  # for which nobody waits again for a model that failed
_MAX_TOKENS = 100
_SCHEMA: Schema = {
    "type": "object",
    "properties": {"relation": {"type": "string", "enum": ["same", "contradicts", "different"]}},
    "required": ["relation"],
    "additionalProperties": False,
}
_log = logging.getLogger(__name__)


def judged(draft: Draft, around: JudgedCandidates, *, ctx: SpaceContext) -> tuple[Opinion, ...]:
    """What a language model says of the known memories that a checked draft is near to."""
    models = ctx.language_models
    if models is None or models.judge is None or ctx.now() < models.resting.get("judge", ctx.now()):
        return ()
    found = findings(around, draft)
    if found.same is not None:
        return ()
    said = []
    for known in found.related[:MOST_PAIRS]:
        try:
            relation = _relation(draft, known, models, ctx)
        except Unavailable as trouble:
            models.resting["judge"] = ctx.now() + REST
            _log.warning(
                "space %s: the judge model failed, the built-in judgement is used: %s", ctx.space, trouble
            )
            break
        if relation == "same":
            said.append(Opinion(relation="same", memory=known.id, where_unsure=True))
        elif relation == "contradicts":
            said.append(Opinion(relation="contradicts", memory=known.id, where_unsure=True))
    return tuple(said)


def _relation(draft: Draft, known: Memory, models: LanguageModels, ctx: SpaceContext) -> object:
    assert models.judge is not None
    pair = [
        as_data(statement=1, subject=known.subject or "", text=known.content),
        as_data(statement=2, subject=draft.subject or "", text=draft.content),
    ]
    question = ModelPrompt(
        name="judgement",
        system=models.instructions.judge,
        user="\n".join(["STATEMENTS", *pair]),
        schema=_SCHEMA,
        max_tokens=_MAX_TOKENS,
    )
    answer = ask(question, "judge", models.judge, ctx=ctx, session=draft.source.session)
    return answer.value.get("relation")


def apply_opinions(
    told: tuple[Opinion, ...], findings: DraftRelations, draft: Draft, tx: Transaction
) -> AdjustedRelations:
    """The findings with what a language model adds to them."""
    weighed = AdjustedRelations(findings, draft)
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


def _with(one: Opinion, known: Memory, weighed: AdjustedRelations, tx: Transaction) -> AdjustedRelations:
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
