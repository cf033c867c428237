"""Meters every call of a language model: checks the limits, records the call, settles its cost.

A call is recorded with its maximum cost before it is made: concurrent workers can't exceed a limit, and a
call that was cut off still counts.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from holdfast.domain.spend import FREE, GroupedBy, ModelCall, Purpose, SpendReport, Usage, over
from holdfast.engine.ports import LanguageModel, Transaction
from holdfast.engine.space_context import LanguageModels, SpaceContext
from holdfast.errors import Invalid, Unavailable
from holdfast.language.model_call import ModelAnswer, ModelPrompt, ModelTrouble

_FRAME = 64  # tokens that an API adds to a request


class CapReached(Unavailable):
    """A limit does not allow the call; `until` is when the daily limit starts again."""

    def __init__(self, message: str, *, until: datetime | None) -> None:
        super().__init__(message)
        self.until = until


def ask(
    question: ModelPrompt, purpose: Purpose, model: LanguageModel, *, ctx: SpaceContext, session: str | None
) -> ModelAnswer:
    """The model's answer to a metered call.

    Raises: CapReached, before anything is sent; ModelTrouble and its kinds; Unavailable.
    """
    models = ctx.language_models
    assert models is not None
    most = Usage(input=_tokens(question, ctx), output=question.max_tokens)
    with ctx.write() as tx:
        call = _call(purpose, model, most, ctx, session)
        _refuse_beyond_the_caps(call, most, tx, models, model)
        tx.spend.add(call)
    try:
        answer = model.ask(question)
    except ModelTrouble as trouble:
        _settle(
            replace(call, outcome=trouble.outcome),
            trouble.usage if trouble.usage is not None else most,
            model,
            ctx,
        )
        raise
    except Unavailable:  # no SDK, no key: nothing was sent
        _settle(replace(call, outcome="unavailable"), Usage(), model, ctx)
        raise
    usage = answer.usage or replace(most, output=ctx.estimate(json.dumps(dict(answer.value))))
    _settle(replace(call, outcome="answered"), usage, model, ctx)
    return answer


def spend(*, ctx: SpaceContext, by: GroupedBy = "purpose", days: int | None = None) -> SpendReport:
    """The costs of the space, of some days or all, grouped by one label.

    Raises: Invalid.
    """
    if days is not None and not 1 <= days <= 36_500:
        raise Invalid(f"days must be 1 or more, not {days}", field="days")
    now = ctx.now()
    since = _day(now) - timedelta(days=days - 1) if days is not None else None
    with ctx.read() as tx:
        groups = tuple(tx.spend.grouped(by, since=since))
        total, today = tx.spend.total(since=since), tx.spend.total(since=_day(now))
    models = ctx.language_models
    if models is None:
        return SpendReport(by=by, groups=groups, total=total, today=today)
    spent = today.at_most(models.cautious)
    least = 0 if all(model is None or model.price == FREE for model in models.by_purpose.values()) else 1
    stopped = over(models.caps, least, spent, None)
    return SpendReport(by=by, groups=groups, total=total, today=today, caps=models.caps, stopped=stopped)


def _call(
    purpose: Purpose, model: LanguageModel, most: Usage, ctx: SpaceContext, session: str | None
) -> ModelCall:
    return ModelCall(
        id=ctx.new_id() + ctx.new_id(),
        purpose=purpose,
        model=model.name,
        usage=most,
        micro_dollars=model.price.of(most) if model.price is not None else None,
        session=session,
        created_at=ctx.now(),
    )


def _refuse_beyond_the_caps(
    call: ModelCall, most: Usage, tx: Transaction, models: LanguageModels, model: LanguageModel
) -> None:
    day = _day(call.created_at)
    today = tx.spend.total(since=day).at_most(models.cautious)
    session = None
    if call.session is not None:
        session = tx.spend.total(session=call.session).at_most(models.cautious)
    more = (model.price or models.cautious).of(most)
    if reason := over(models.caps, more, today, session):
        of_the_day = over(replace(models.caps, session=None), more, today, session) is not None
        raise CapReached(reason, until=day + timedelta(days=1) if of_the_day else None)


def _settle(call: ModelCall, usage: Usage, model: LanguageModel, ctx: SpaceContext) -> None:
    money = model.price.of(usage) if model.price is not None else None
    with ctx.write() as tx:
        tx.spend.save(replace(call, usage=usage, micro_dollars=money))


def _tokens(question: ModelPrompt, ctx: SpaceContext) -> int:
    schema = json.dumps(dict(question.schema))
    return _FRAME + sum(ctx.estimate(text) for text in (question.system, question.user, schema))


def _day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
