"""A language model's opinion on the pairs that our own can't decide, where somebody asked for one.

Asked before the space is locked, and only about near calls; where it fails, is too slow or too dear, the
first judgement stands.
"""

import logging
from datetime import timedelta

from holdfast.domain.memory import Draft, Memory
from holdfast.engine.language_models import Readers
from holdfast.engine.meter import ask
from holdfast.engine.model_opinion import Opinion
from holdfast.engine.neighbours import Surroundings, findings
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.model_call import ModelPrompt, Schema, as_data

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


def judged(draft: Draft, around: Surroundings, *, ctx: SpaceContext) -> tuple[Opinion, ...]:
    """What a language model says of the known memories that a checked draft is near to."""
    readers = ctx.readers
    if readers is None or readers.judge is None or ctx.now() < readers.resting.get("judge", ctx.now()):
        return ()
    found = findings(around, draft)
    if found.same is not None:
        return ()
    said = []
    for known in found.related[:MOST_PAIRS]:
        try:
            relation = _relation(draft, known, readers, ctx)
        except Unavailable as trouble:
            readers.resting["judge"] = ctx.now() + REST
            _log.warning(
                "space %s: the judge model failed, the built-in judgement is used: %s", ctx.space, trouble
            )
            break
        if relation == "same":
            said.append(Opinion(relation="same", memory=known.id, where_unsure=True))
        elif relation == "contradicts":
            said.append(Opinion(relation="contradicts", memory=known.id, where_unsure=True))
    return tuple(said)


def _relation(draft: Draft, known: Memory, readers: Readers, ctx: SpaceContext) -> object:
    assert readers.judge is not None
    pair = [
        as_data(statement=1, subject=known.subject or "", text=known.content),
        as_data(statement=2, subject=draft.subject or "", text=draft.content),
    ]
    question = ModelPrompt(
        name="judgement",
        system=readers.instructions.judge,
        user="\n".join(["STATEMENTS", *pair]),
        schema=_SCHEMA,
        max_tokens=_MAX_TOKENS,
    )
    answer = ask(question, "judge", readers.judge, ctx=ctx, session=draft.source.session)
    return answer.value.get("relation")
