"""Which models a space works with, and that trying them costs what it costs and tells what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.app.wiring import open_store
from holdfast.domain.spend import Caps, Price, Usage
from holdfast.engine.memories import Memories
from holdfast.engine.space_context import Instructions, LanguageModels
from holdfast.language.model_call import ModelAnswer, ModelPrompt, ModelTrouble
from tests.requirements_ledger import requirement

DEAR = Price(input=1_000_000, cached=1_000_000, output=1_000_000)


@dataclass
class Model:
    name: str
    answer: Callable[[], ModelAnswer]
    price: Price | None = DEAR
    asked: list[ModelPrompt] = field(default_factory=list)

    def ask(self, question: ModelPrompt) -> ModelAnswer:
        self.asked.append(question)
        return self.answer()


def fine() -> ModelAnswer:
    return ModelAnswer(value={"word": "here"}, usage=Usage(input=100, output=10))


def broken() -> ModelAnswer:
    raise ModelTrouble("the server is not there\nand more")


def space_with(database_url: str, *, gate: Model, extract: Model, daily: int | None) -> Memories:
    models = LanguageModels(
        gate=gate,
        extract=extract,
        judge=None,
        instructions=Instructions(gate="g", extract="e", judge="j"),
        caps=Caps(daily=daily),
        cautious=DEAR,
    )
    return Memories.of(open_store(database_url), "default", language_models=models)


@requirement("sem.cost")
def test_each_model_is_tried_once_metered_and_told_by_name(database_url: str) -> None:
    good, bad = Model("cheap", fine), Model("dear", broken)
    with space_with(database_url, gate=good, extract=bad, daily=None) as memories:
        tried = {one.name: one.trouble for one in memories.try_models()}
        spent = dict(memories.spend(by="model").groups)

        assert tried == {"cheap": None, "dear": "the server is not there"}
        assert memories.models().readers == {"gate": "cheap", "extract": "dear", "judge": None}
        assert (len(good.asked), len(bad.asked)) == (1, 1)
        assert spent["cheap"].usage == Usage(input=100, output=10)
        assert spent["dear"].calls == 1


@requirement("sem.cost")
def test_a_reached_cap_keeps_trials_from_being_sent(database_url: str) -> None:
    model = Model("cheap", fine)
    with space_with(database_url, gate=model, extract=model, daily=1) as memories:
        [trial] = memories.try_models()

    assert "daily limit" in (trial.trouble or "")
    assert model.asked == []
