"""A space with two models behind a scripted server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_language_models, open_store
from holdfast.engine.space_context import LanguageModels
from holdfast.language.model_call import ModelPrompt
from holdfast.settings import Settings
from holdfast.testing import FixedClock
from tests.marking_reader import MarkingReader
from tests.reading.scripted import Scripted, fact, well

VENDORS = {"anthropic": ("claude-haiku-5-5", "claude-sonnet-5-5"), "openai": ("gpt-5-nano", "gpt-5-mini")}
#: Our own reader finds these alone: the rest is left to the models.
READER = MarkingReader(
    {"The invoices service runs": "fact", "Remember that": "preference", "so the nightly": "fact"}
)

OpenReaders = Callable[..., LanguageModels]


@pytest.fixture(params=sorted(VENDORS))
def vendor(request: pytest.FixtureRequest) -> str:
    """By which API the models are asked."""
    return str(request.param)


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted(well(lambda _: [fact("The invoices service runs on host inv-7.")])).running() as running:
        yield running


@pytest.fixture
def language_models_for(server: Scripted) -> OpenReaders:
    def made(vendor: str = "anthropic", *, judge: bool = False, **more: str) -> LanguageModels:
        gate, extract = VENDORS[vendor]
        environment = {
            "HOLDFAST_GATE_MODEL": server.spec(vendor, gate),
            "HOLDFAST_EXTRACT_MODEL": server.spec(vendor, extract),
            "HOLDFAST_MODEL_KEY": "sk-loopback-only",
            **({"HOLDFAST_JUDGE_MODEL": server.spec(vendor, gate)} if judge else {}),
            **more,
        }
        opened = open_language_models(Settings.read(environment))
        assert opened is not None
        return opened

    return made


@pytest.fixture
def memories(
    database_url: str, clock: FixedClock, vendor: str, language_models_for: OpenReaders
) -> Iterator[Memories]:
    store = open_store(database_url)
    with Memories.of(
        store, "default", clock=clock, builtin_model=READER, language_models=language_models_for(vendor)
    ) as opened:
        yield opened


def question() -> ModelPrompt:
    """One that no engine asks."""
    schema = {
        "type": "object",
        "properties": {"keep": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["keep", "reason"],
        "additionalProperties": False,
    }
    return ModelPrompt(
        name="gate", system="Always the same.", user="CONVERSATION", schema=schema, max_tokens=50
    )
