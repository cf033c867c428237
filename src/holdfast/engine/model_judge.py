"""Asks a language model about pairs that the built-in model can't decide, if one is configured.

It is asked before the space is locked, and only about near calls. If it fails, is too slow or too expensive,
the first verdict stands. It never overrides a certain verdict, and no name or number gets lost by it. A
memory of the operator is not changed by a model's answer: that waits in the inbox.
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
    """The relation of a draft to a memory, according to a model."""

    relation: Literal["same", "updates", "contradicts"]
    memory: str
    where_unsure: bool = False  # only counts if the built-in judge was not certain


@dataclass(frozen=True, slots=True)
class AdjustedRelations:
    """The relations after the opinions, and the memory that the draft replaces, if any."""

    findings: DraftRelations
    draft: Draft
    replaces: Memory | None = None


MOST_PAIRS = 3  # near calls per draft that are asked about
REST = timedelta(seconds=60)  # after a failure, until the model is asked again
_MAX_TOKENS = 100
_SCHEMA: Schema = {
    "type": "object",
    "properties": {"relation": {"type": "string", "enum": ["same", "contradicts", "different"]}},
    "required": ["relation"],
    "additionalProperties": False,
}
_log = logging.getLogger(__name__)


def judged(draft: Draft, around: JudgedCandidates, *, ctx: SpaceContext) -> tuple[Opinion, ...]:
    """The language model's opinions on the memories that a checked draft is close to."""
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
    """The relations, adjusted by the opinions of a language model."""
    weighed = AdjustedRelations(findings, draft)
    for one in told:
        known = tx.memories.get(one.memory)
        if known is None or not known.active or known.project not in (None, draft.project):
            continue  # it changed since: the opinion is obsolete
        if weighed.findings.same is not None:
            break  # the built-in judge is certain
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
    """Whether the draft has a name or number that the known memory has not."""
    said = f"{known.subject or ''}. {known.content}"
    return bool(Grounds([(said, None)]).strange(draft.content))
