"""What models cost: counted to the token, priced by a table, and held to limits that fall back to rules."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast import Memories
from holdfast.app.wiring import context_for, open_store
from holdfast.cli import cli
from holdfast.domain.spend import Caps, Price, Usage, dollars, micro_dollars, over
from holdfast.engine.meter import CapReached, ask
from holdfast.engine.ports import LanguageModel
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, Unavailable
from holdfast.models.specs import cautious, parse_language, price_of
from holdfast.settings import Settings
from holdfast.testing import FixedClock
from tests.loopback import Answer
from tests.reading.conftest import OpenReaders, question
from tests.reading.scripted import Asked, Scripted, fact, said, well
from tests.reading.test_reading import MARKED, PLAIN, kept, read_all, talk
from tests.requirements_ledger import requirement

TOLD = (60, 0, 20)  # no more than such a question can have
HAIKU, SONNET = Price(100_000, 10_000, 500_000), Price(2_000_000, 100_000, 10_000_000)


@requirement("sem.cost")
def test_every_call_is_counted_by_purpose_model_day_and_session(
    memories: Memories, server: Scripted, clock: FixedClock, vendor: str
) -> None:
    server.play = well(lambda _: [])
    talk(memories, MARKED, session="one")
    read_all(memories)
    clock.advance(days=1)
    talk(memories, PLAIN, session="two")
    read_all(memories)

    by_purpose = dict(memories.spend(by="purpose").groups)
    by_model = dict(memories.spend(by="model").groups)

    assert list(by_purpose) == ["extract", "gate"]
    assert by_purpose["gate"].usage == Usage(2_000, 100, 800)  # as the server told it, twice
    assert [spent.calls for spent in by_model.values()] == [2, 2]
    assert {name: spent.calls for name, spent in memories.spend(by="day").groups} == {
        "2026-03-01": 2,
        "2026-03-02": 2,
    }
    assert {name: spent.calls for name, spent in memories.spend(by="session").groups} == {"one": 2, "two": 2}
    assert memories.spend(days=1).total.calls == memories.spend().today.calls == 2
    if vendor == "anthropic":
        assert by_purpose["gate"].micro_dollars == 2 * HAIKU.of(Usage(1_000, 50, 400))
        assert by_purpose["extract"].micro_dollars == 2 * SONNET.of(Usage(1_000, 50, 400))
    assert memories.spend().total.unpriced_calls == 0


@requirement("sem.cost")
def test_a_daily_cap_stops_calls_and_the_rules_go_on_until_tomorrow(
    database_url: str, server: Scripted, clock: FixedClock, language_models_for: OpenReaders
) -> None:
    server.play = well(lambda _: [fact("Oslo could not make it earlier than 9:30.", message=1)])
    models = language_models_for(HOLDFAST_DAILY_CAP="0.00012", HOLDFAST_SESSION_CAP="none")
    with Memories.of(open_store(database_url), "default", clock=clock, language_models=models) as memories:
        talk(memories, f"{MARKED} {PLAIN}")
        memories.capture()
        reading = memories.read_due()

        assert reading is not None
        assert "daily limit of $0.0001 is reached" in (reading.trouble or "")
        assert [asked.purpose for asked in server.asked] in ([], ["gate"])
        assert any(MARKED in memory.content for memory in kept(memories))
        [job] = memories.jobs("queued")
        assert job.attempts == 0
        assert job.due_at == clock.now().replace(hour=0) + timedelta(days=1)
        assert memories.read_due() is None


@requirement("sem.cost")
def test_a_sessions_cap_leaves_the_rest_of_it_to_the_rules(
    sqlite_url: str, server: Scripted, clock: FixedClock, language_models_for: OpenReaders
) -> None:
    models = language_models_for(HOLDFAST_SESSION_CAP="0.00001")
    with Memories.of(open_store(sqlite_url), "default", clock=clock, language_models=models) as memories:
        talk(memories, MARKED)
        [reading] = read_all(memories)

        assert "the session limit of" in (reading.trouble or "")
        assert server.asked == []
        assert [memory.content for memory in kept(memories)] == [MARKED]
        assert memories.jobs("queued") == memories.jobs("failed") == []


def asked_until_the_cap(model: LanguageModel, ctx: SpaceContext) -> int:
    for made in range(1_000):
        try:
            ask(question(), "gate", model, ctx=ctx, session=None)
        except CapReached:
            return made
    raise AssertionError("no cap was reached")


@requirement("sem.cost")
def test_the_caps_are_never_passed_however_many_calls_are_made(
    sqlite_url: str, server: Scripted, language_models_for: OpenReaders
) -> None:
    server.play = lambda asked: said(asked, '{"keep": true, "reason": ""}', usage=TOLD)
    models = language_models_for(HOLDFAST_DAILY_CAP="0.0002", HOLDFAST_SESSION_CAP="none")
    assert models.gate is not None
    store = open_store(sqlite_url)
    ctx = context_for("default", store, language_models=models)
    made = asked_until_the_cap(models.gate, ctx)

    with store.read("default") as tx:
        total = tx.spend.total()
    store.close()
    assert made == total.calls == len(server.asked) >= 3
    assert 100 < total.micro_dollars <= 200


@requirement("sem.cost")
def test_a_call_counts_in_full_while_nobody_knows_its_end(
    sqlite_url: str, server: Scripted, language_models_for: OpenReaders
) -> None:
    models = language_models_for()
    assert models.gate is not None
    store = open_store(sqlite_url)
    ctx = context_for("default", store, language_models=models)
    seen = []

    def look(asked: Asked) -> Answer:
        with store.read("default") as tx:
            seen.append(tx.spend.total())
        return said(asked, json.dumps({"keep": True, "reason": ""}))

    server.play = look
    ask(question(), "gate", models.gate, ctx=ctx, session=None)

    with store.read("default") as tx:
        after = tx.spend.total()
    store.close()
    assert seen[0].calls == 1
    assert seen[0].usage.output == question().max_tokens
    assert after.usage == Usage(1_000, 50, 400)


@requirement("sem.cost")
def test_a_model_without_a_known_price_is_counted_and_held_to_the_caps_as_a_dear_one(
    sqlite_url: str, server: Scripted, clock: FixedClock, language_models_for: OpenReaders
) -> None:
    models = language_models_for(
        HOLDFAST_GATE_MODEL=server.spec("openai", "house-blend"),
        HOLDFAST_DAILY_CAP="0.05",
        HOLDFAST_SESSION_CAP="none",
    )
    gate: Any = models.gate
    gate.price = None  # as of a server elsewhere
    server.play = lambda asked: said(asked, '{"keep": true, "reason": ""}', usage=TOLD)
    ctx = context_for("default", open_store(sqlite_url), clock=clock, language_models=models)
    asked_until_the_cap(gate, ctx)

    with ctx.store.read("default") as tx:
        total = tx.spend.total()
    ctx.store.close()
    assert (total.unpriced_calls, total.micro_dollars) == (total.calls, 0)
    assert 20_000 < total.at_most(cautious()) <= 50_000


@requirement("sem.cost")
def test_a_model_on_this_machine_costs_nothing_and_no_cap_stops_it(
    sqlite_url: str, server: Scripted, language_models_for: OpenReaders
) -> None:
    models = language_models_for(
        HOLDFAST_GATE_MODEL=server.spec("openai", "house-blend"),
        HOLDFAST_EXTRACT_MODEL=server.spec("openai", "house-blend"),
        HOLDFAST_DAILY_CAP="0.0001",
        HOLDFAST_SESSION_CAP="0.0001",
    )
    assert models.gate is not None
    server.play = lambda asked: said(asked, '{"keep": true, "reason": ""}')
    with Memories.of(open_store(sqlite_url), "default", language_models=models) as memories:
        ctx = context_for("default", memories.store, language_models=models)
        for _ in range(5):
            ask(question(), "gate", models.gate, ctx=ctx, session="s")
        spent = memories.spend()

    assert (spent.today.calls, spent.today.unpriced_calls, spent.today.micro_dollars) == (5, 0, 0)
    assert spent.stopped is None


def test_what_costs_nothing_passes_no_limit_that_is_used_up() -> None:
    caps = Caps(daily=1_000_000, session=500_000)

    assert over(caps, 0, today=1_200_000, session=600_000) is None
    assert over(caps, 1, today=1_200_000, session=600_000) is not None


# ------------------------------------------------------------------------------------- commands and settings


@pytest.fixture
def spent(sqlite_url: str, server: Scripted, language_models_for: OpenReaders) -> str:
    with Memories.of(open_store(sqlite_url), "default", language_models=language_models_for()) as memories:
        talk(memories, MARKED)
        read_all(memories)
    return sqlite_url


@requirement("sem.cost")
def test_the_command_tells_what_was_spent(spent: str) -> None:
    plain = CliRunner().invoke(cli, ["spend", "--db", spent])
    told = json.loads(CliRunner().invoke(cli, ["spend", "--by", "model", "--json", "--db", spent]).output)
    open_store(f"{spent}-other").close()
    nothing = CliRunner().invoke(cli, ["spend", "--db", f"{spent}-other"])

    assert "extract" in plain.output
    assert "total" in plain.output
    assert [group["name"].split("@")[0] for group in told["groups"]] == [
        "anthropic:claude-haiku-5-5",
        "anthropic:claude-sonnet-5-5",
    ]
    assert told["total"]["calls"] == 2
    assert told["total"]["dollars"] > 0
    assert "Nothing spent" in nothing.output


@requirement("sem.cost")
def test_doctor_has_a_line_on_what_was_spent(spent: str) -> None:
    told = CliRunner().invoke(cli, ["doctor", "--db", spent])

    [line] = [line for line in told.output.splitlines() if line.strip().startswith("spent")]
    assert "in 2 calls" in line
    assert "none: capture uses the built-in model only" in told.output


def test_the_command_line_reads_with_the_models_that_the_environment_names(
    sqlite_url: str, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memories.of(open_store(sqlite_url), "default") as memories:
        talk(memories, PLAIN)
    monkeypatch.setenv("HOLDFAST_GATE_MODEL", server.spec("openai", "gpt-5-nano"))
    monkeypatch.setenv("HOLDFAST_EXTRACT_MODEL", server.spec("openai", "gpt-5-mini"))
    server.play = well(lambda _: [fact("Oslo could not make it earlier than 9:30.")])

    told = CliRunner().invoke(cli, ["capture", "--db", sqlite_url])

    assert "with a model" in told.output
    assert "Oslo could not make it earlier" in told.output
    assert len(server.asked) == 2


def test_amounts_are_read_and_written_exactly() -> None:
    assert micro_dollars("0.1") == 100_000
    assert micro_dollars("$2") == 2_000_000
    assert micro_dollars("0.0000001") == 1  # a limit is never rounded to nothing
    amounts = (0, 12, 4_479, 20_000, 99_000, 99_990, 1_230_000, 1_234_567_000)
    assert [dollars(amount) for amount in amounts] == [
        "$0.00",
        "$0.00001",
        "$0.004",
        "$0.02",
        "$0.099",
        "$0.10",
        "$1.23",
        "$1,234.57",
    ]
    for wrong in ("", "much", "-1", "nan", "1e99"):
        with pytest.raises(ValueError, match="invalid amount"):
            micro_dollars(wrong)


def test_prices_go_by_the_exact_name_or_a_dated_one() -> None:
    def price(text: str) -> Price | None:
        spec = parse_language(text)
        assert spec is not None
        return price_of(spec)

    assert price("anthropic:claude-haiku-5-5") == price("anthropic:claude-haiku-5-5-20260901") == HAIKU
    assert price("openai:anthropic/claude-sonnet-5-5@https://broker.example/v1") == SONNET
    assert price("ollama:llama4") == Price(0, 0, 0)
    assert price("openai:gpt-5-ultra") is None
    assert price("openai:cautious") is None


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("HOLDFAST_GATE_MODEL", "haiku", "use none, anthropic:MODEL"),
        ("HOLDFAST_EXTRACT_MODEL", "anthropic:", "has no model name"),
        ("HOLDFAST_JUDGE_MODEL", "openai:x@ftp://host", "invalid address"),
        ("HOLDFAST_GATE_MODEL", "openai:x@https://me:pw@host/v1", "HOLDFAST_MODEL_KEY"),
        ("HOLDFAST_DAILY_CAP", "a lot", "invalid amount"),
        ("HOLDFAST_SESSION_CAP", "-1", "invalid amount"),
    ],
)
def test_a_wrong_setting_is_named_without_its_secret(name: str, value: str, says: str) -> None:
    with pytest.raises(Invalid, match=name) as wrong:
        Settings.read({name: value})

    assert says in str(wrong.value)
    assert "pw" not in str(wrong.value)


def test_a_vendors_key_goes_to_that_vendor_alone() -> None:
    settings = Settings.read(
        {"ANTHROPIC_API_KEY": "ant", "OPENAI_API_KEY": "oai", "HOLDFAST_MODEL_KEY": "own"}
    )

    def key(text: str) -> str | None:
        spec = parse_language(text)
        assert spec is not None
        return settings.key_for_model(spec)

    assert key("anthropic:a") == "ant"
    assert key("openai:a") == "oai"
    assert key("ollama:a") is None
    assert key("anthropic:a@https://elsewhere.example") == "own"


def test_a_missing_package_or_key_is_named_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.models.factory import open_model

    for text, helps in (
        ("anthropic:a", "set ANTHROPIC_API_KEY"),
        ("openai:a", "set OPENAI_API_KEY"),
    ):
        spec = parse_language(text)
        assert spec is not None
        with pytest.raises(Unavailable, match=helps):
            open_model(spec).ask(question())
    for vendor in ("anthropic", "openai"):
        monkeypatch.setitem(__import__("sys").modules, vendor, None)
        spec = parse_language(f"{vendor}:a")
        assert spec is not None
        with pytest.raises(Unavailable, match=rf"install .*\[{vendor}\]'"):
            open_model(spec).ask(question())
