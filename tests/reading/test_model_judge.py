"""A language model as judge: only where our own is not sure; whatever goes wrong, our own decides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.outcomes import Added, Contradicting, Outcome, Reinforced
from holdfast.engine.model_judge import REST
from holdfast.language.comparison import NEARLY_SAME, Statement, Verdict
from holdfast.models.factory import open_model
from holdfast.models.specs import parse_language
from holdfast.testing import FixedClock
from tests.loopback import Answer
from tests.reading.conftest import OpenReaders
from tests.reading.scripted import Play, Scripted, said
from tests.requirements_ledger import requirement

OLD = "The standup is at 9:30 and Miriam leads it."
NEAR = "The standup at 9:30 is hard for Miriam."
SAME = "miriam leads the standup, it is at 9:30"


@pytest.fixture
def memories(
    sqlite_url: str, clock: FixedClock, server: Scripted, language_models_for: OpenReaders
) -> Iterator[Memories]:
    models = language_models_for(judge=True)
    spec = parse_language(server.spec("anthropic", "claude-haiku-5-5"))
    assert spec is not None
    impatient = replace(models, judge=open_model(spec, key="sk-loopback-only", within=0.5))
    with Memories.of(
        open_store(sqlite_url), "default", clock=clock, language_models=impatient, judge=Unsure()
    ) as opened:
        for category in ("fact", "decision", "insight"):  # which are compared apart
            opened.speaking_as("user", session="a").remember(OLD, category=category)
        yield opened


class Unsure:
    """A model of our own that is sure of two texts only."""

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        return [self._verdict(draft.text) for _, draft in pairs]

    def _verdict(self, text: str) -> Verdict:
        if text == SAME:
            return Verdict(relation="same", certain=True, similarity=0.9)
        sure = text.startswith("Cats")
        return Verdict(
            relation="distinct", certain=sure, similarity=0.4, reasons=() if sure else (NEARLY_SAME,)
        )


def judging(relation: object) -> Play:
    return lambda asked: said(asked, json.dumps({"relation": relation}))


def near(memories: Memories, category: str = "fact", content: str = NEAR) -> Outcome:
    return memories.speaking_as("user", session="b").remember(content, category=category)


@requirement("sem.dedup")
@pytest.mark.parametrize(
    ("relation", "expected"), [("same", Reinforced), ("contradicts", Contradicting), ("different", Added)]
)
def test_the_judge_decides_what_the_rules_leave_open(
    memories: Memories, server: Scripted, relation: str, expected: type[Outcome]
) -> None:
    server.play = judging(relation)

    outcome = near(memories)

    assert isinstance(outcome, expected)
    assert [asked.purpose for asked in server.asked] == ["judge"]
    assert [line["text"] for line in server.asked[0].lines("STATEMENTS")] == [OLD, NEAR]
    assert dict(memories.spend().groups)["judge"].calls == 1


def test_where_the_rules_are_sure_nobody_is_asked(memories: Memories, server: Scripted) -> None:
    memories.speaking_as("user", session="b").remember(SAME, category="fact")
    memories.speaking_as("user", session="b").remember("Cats sleep for most of the day.", category="fact")

    assert server.asked == []


def test_no_name_or_number_is_lost_on_the_judges_word(memories: Memories, server: Scripted) -> None:
    server.play = judging("same")

    outcome = memories.speaking_as("user", session="b").remember(
        "Miriam pushed the standup for Oslo.", category="fact"
    )

    assert isinstance(outcome, Added)


TROUBLES: dict[str, Play] = {
    "another word": judging("maybe"),
    "no word": lambda asked: said(asked, ""),
    "an error": lambda _: Answer(b"{}", 500, {"Content-Type": "application/json"}),
    "too busy": lambda _: Answer(b"{}", 429, {"Content-Type": "application/json"}),
    "silence": lambda _: Answer(None),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_judge_that_fails_leaves_it_to_the_rules_and_is_left_alone_for_a_while(
    memories: Memories, server: Scripted, clock: FixedClock, trouble: str
) -> None:
    server.play = TROUBLES[trouble]

    outcome = near(memories)

    assert isinstance(outcome, Added)
    assert [one.content for one in outcome.related] == [OLD]
    if trouble != "another word":
        asked = len(server.asked)
        near(memories, "decision", "The interns skip Miriam's standup.")
        assert len(server.asked) == asked
        clock.advance(seconds=REST.total_seconds())
        near(memories, "insight", "Oslo does not want Miriam in the standup.")
        assert len(server.asked) > asked


@requirement("sem.cost")
def test_a_judge_is_off_unless_somebody_asks_for_one(
    sqlite_url: str, server: Scripted, language_models_for: OpenReaders
) -> None:
    models = language_models_for()
    assert models.judge is None
    with Memories.of(open_store(sqlite_url), "default", language_models=models) as memories:
        memories.remember(OLD, category="fact")
        memories.remember(NEAR, category="fact")

    assert server.asked == []


def test_a_judge_beyond_its_cap_is_not_asked(
    sqlite_url: str, server: Scripted, language_models_for: OpenReaders
) -> None:
    models = language_models_for(judge=True, HOLDFAST_DAILY_CAP="0")
    with Memories.of(open_store(sqlite_url), "default", language_models=models) as memories:
        memories.remember(OLD, category="fact")

        assert isinstance(memories.remember(NEAR, category="fact"), Added)

    assert server.asked == []
