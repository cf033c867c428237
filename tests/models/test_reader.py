"""Our own reader: what it says of statements, prompts and conversations, and what happens without it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from holdfast.app import wiring
from holdfast.app.checkup import checkup
from holdfast.domain.outcomes import Added, Reinforced
from holdfast.engine.candidates import FEW
from holdfast.engine.memories import Memories
from holdfast.errors import Unavailable
from holdfast.language.comparison import Statement
from holdfast.language.judge import PairJudge
from holdfast.language.news import News
from holdfast.models import own_models
from holdfast.models.builtin_model import ReaderModel
from tests.requirements_ledger import requirement

BOSS = "Alec is the user's boss"
REPORTS = "The user reports to Alec"


@pytest.fixture(scope="module")
def reader() -> ReaderModel:
    return ReaderModel()


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Memories]:
    with Memories.open(str(tmp_path / "memories.db"), "default") as opened:
        yield opened


def said(text: str, subject: str | None = None) -> Statement:
    return Statement(text=text, subject=subject)


@requirement("models.shipped")
@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        (BOSS, REPORTS, "same"),
        ("Deploys go out on Tuesday", "Deploys go out on Thursday", "contradicts"),
        ("The backup runs at two in the morning", "The backup is kept for a month", "distinct"),
    ],
)
def test_statements_are_told_apart_with_the_models_name_and_a_probability(
    reader: ReaderModel, one: str, other: str, relation: str
) -> None:
    [verdict] = reader.judge([(said(one), said(other))])

    assert verdict.relation == relation
    assert verdict.judge == "holdfast-reader/1.3.0"
    assert 0.5 < verdict.probability <= 1.0


def test_what_only_a_subject_tells_is_another_fact_under_another_subject(reader: ReaderModel) -> None:
    text = "Takes 60s to start after a restart"

    [same, other] = reader.judge(
        [
            (said(text, "jellyfin"), said("Needs a minute until it is up again", "jellyfin")),
            (said(text, "jellyfin"), said("Needs a minute until it is up again", "postgres")),
        ]
    )

    assert same.similarity > other.similarity


def test_texts_that_are_too_long_to_be_read_whole_are_a_near_call(reader: ReaderModel) -> None:
    long = "the same opening of a very long page " * 60

    [verdict] = reader.judge([(said(long), said(f"{long} and another end"))])

    assert (verdict.relation, verdict.certain) == ("distinct", False)


def test_a_memory_that_helps_is_likelier_than_one_that_does_not(reader: ReaderModel) -> None:
    helps, other = reader.helps("who do I ask for days off?", [BOSS, "Jellyfin takes 60s to start"])

    assert helps > other


@requirement("models.shipped")
def test_the_words_of_a_message_that_carry_a_fact_are_found(reader: ReaderModel) -> None:
    told = "We moved the weekly review to Thursdays for good, since Mei is in Osaka on Mondays."
    asked = [("user", told), ("assistant", "Noted."), ("user", "what does this regular expression match?")]

    found = reader.facts([("assistant", "Shall I plan the week?"), ("user", told)])

    assert any("Thursdays" in told[each.start : each.end] for each in found)
    assert reader.facts(asked) == []


@requirement("models.shipped")
@pytest.mark.parametrize(
    "told",
    ["Petra pays the rent.", "never push on fridays", "In this project we always use tabs."],
)
def test_a_short_statement_without_context_carries_a_fact(reader: ReaderModel, told: str) -> None:
    assert [told[each.start : each.end] for each in reader.facts([("user", told)])] == [told]


@requirement("models.shipped")
def test_what_was_said_makes_the_memory_untrue_that_it_corrects(reader: ReaderModel) -> None:
    text = "we upgraded to django 5.2 yesterday"
    news = News(role="user", text=text, start=0, end=len(text))

    old, beside = reader.replaced(
        ["The shop runs on Django 4.2.", "The shop's tests run with pytest."], news.told()
    )

    assert old > 0.5 > beside


def test_a_passage_states_what_it_says_and_not_the_opposite(reader: ReaderModel) -> None:
    true, changed = reader.states(
        "We decided to move the release to the 14th of May because the audit is late.",
        ["The release was moved to 14 May", "The release was moved to 2 June"],
    )

    assert true > changed


@requirement("models.shipped")
def test_why_names_the_model_and_version_that_judged_and_how_sure_it_was(memories: Memories) -> None:
    first = memories.remember(BOSS)
    assert isinstance(first, Added)

    again = memories.remember(REPORTS)

    assert isinstance(again, Reinforced)
    [added, reinforced] = memories.why(first.memory.id).entries
    assert added.judged is None
    assert reinforced.judged is not None
    assert reinforced.judged.startswith(f"holdfast-reader/1.3.0: the same as {first.memory.id} (0.")


@requirement("models.shipped")
def test_at_most_a_few_neighbours_of_a_draft_are_judged(memories: Memories) -> None:
    asked: list[int] = []
    model = wiring.open_builtin_model()

    class Counting:
        def judge(self, pairs):  # type: ignore[no-untyped-def]
            asked.append(len(pairs))
            return model.judge(pairs)

    for number in range(12):
        memories.remember(f"Server rack number {'ABCDEFGHIJKL'[number]} is watched by the night team")
    with Memories.of(memories.store, "default", judge=Counting(), embedder=wiring.open_embedder()) as counted:
        counted.remember("The night team keeps an eye on server rack number Z")

    assert 0 < sum(asked) <= FEW


@requirement("models.absent")
@pytest.mark.parametrize("harm", ["missing", "damaged", "slow"])
def test_without_the_reader_equal_text_decides_one_line_says_so_and_nothing_is_lost(
    harm: str, tmp_path: Path, memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    if harm == "damaged":
        (folder / own_models.FILE).write_bytes(own_models.find(own_models.READER).read_bytes()[:-1] + b"x")
    broken = ReaderModel(None if harm == "slow" else str(folder), deadline=0.0 if harm == "slow" else 2.0)

    with (
        caplog.at_level(logging.WARNING),
        Memories.of(memories.store, "default", judge=broken) as without,
    ):
        kept = [without.remember(text) for text in (BOSS, REPORTS, f"{BOSS}.")]

    assert [type(one) for one in kept] == [Added, Added, Reinforced]
    told = [record.getMessage() for record in caplog.records if "identical texts" in record.getMessage()]
    expected = {
        "missing": "does not exist",
        "damaged": "damaged or of another version",
        "slow": "took longer",
    }
    assert len(told) == 1
    assert expected[harm] in told[0]


@requirement("models.absent")
def test_doctor_says_what_is_missing_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(own_models, "_packaged", lambda _: None)

    findings = checkup(str(tmp_path / "memories.db"), wiring.open_embedder("default")).findings

    told = [(each.says, each.command) for each in findings if "holdfast-" in each.says]
    packages = {"holdfast-embedder", "holdfast-finder", "holdfast-reader"}
    assert packages == {name for name in packages if any(name in text for text, _ in told)}
    assert any("pip install holdfast-reader==1.3.0" in (command or "") for _, command in told)


@requirement("models.absent")
def test_a_search_without_the_models_still_finds_by_words(
    monkeypatch: pytest.MonkeyPatch, memories: Memories
) -> None:
    memories.remember("The invoice to Denmark is due on Friday")
    monkeypatch.setattr(own_models, "_packaged", lambda _: None)
    with Memories.of(memories.store, "default", embedder=wiring.open_embedder("default")) as without:
        found = without.recall("invoice to Denmark")

    assert [hit.memory.content for hit in found.memories] == ["The invoice to Denmark is due on Friday"]
    assert found.matched == "text"


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / own_models.FILE).write_bytes(own_models.find(own_models.EMBEDDER).read_bytes())

    with pytest.raises(Unavailable, match="another version"):
        ReaderModel(str(tmp_path)).judge([(said("one"), said("two"))])


def test_a_run_that_takes_too_long_is_ended() -> None:
    with pytest.raises(Unavailable, match=r"took longer than 0\.001 s"):
        ReaderModel(deadline=0.001).facts([("user", "a very long page of words " * 100)])


def test_verdicts_are_kept_by_text(reader: ReaderModel) -> None:
    judge = PairJudge(reader)

    first = judge.compare([(said(BOSS), said(REPORTS))])

    judge._model = None
    assert judge.compare([(said(BOSS), said(REPORTS))]) == first


def test_a_call_with_many_pairs_has_time_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(start=0.0, step=0.2)
    monkeypatch.setattr("holdfast.models.own_models.monotonic", lambda: next(clock))

    assert len(ReaderModel().judge([(said(BOSS), said(REPORTS))] * 40)) == 40


@requirement("models.shipped")
def test_a_rule_beside_a_fact_is_marked_by_itself(reader: ReaderModel) -> None:
    fact, rule = "Our staging database runs on port 5433.", "Always answer in two sentences."

    found = reader.facts([("user", f"{fact} {rule}")])

    assert [(f"{fact} {rule}"[each.start : each.end], each.kind) for each in found] == [
        (fact, "fact"),
        (rule, "feedback"),
    ]
