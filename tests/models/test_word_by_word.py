"""The likeness of two texts word by word, from the real model."""

from dataclasses import astuple

import pytest

from holdfast import wiring
from holdfast.domain.compare import Statement
from holdfast.errors import Unavailable
from holdfast.models.minilm import MiniLM
from tests.requirements_ledger import requirement


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def test_a_text_is_wholly_like_itself(model: MiniLM) -> None:
    found = model.likeness("The proxy restarts at night", "The proxy restarts at night")

    assert found is not None
    assert found.whole == pytest.approx(1, abs=1e-3)
    assert found.least == pytest.approx(1, abs=1e-3)
    assert found.rests == 1.0


def test_a_word_without_a_counterpart_shows(model: MiniLM) -> None:
    paraphrase = model.likeness("The car is repaired on Monday", "On Monday the car gets repaired")
    other = model.likeness("The car is repaired on Monday", "The piano is repaired on Monday")

    assert paraphrase is not None
    assert other is not None
    assert paraphrase.least > other.least
    assert paraphrase.covered > other.covered


def test_likeness_is_the_same_whichever_text_comes_first(model: MiniLM) -> None:
    one, other = "Anna waters the garden", "The garden is watered by Ben every spring"

    first, second = model.likeness(one, other), model.likeness(other, one)

    assert first is not None
    assert second is not None
    assert astuple(first) == pytest.approx(astuple(second), abs=1e-6)


@pytest.mark.parametrize("empty", ["", "...", "!?"])
def test_a_text_without_words_has_no_likeness(model: MiniLM, empty: str) -> None:
    assert model.likeness(empty, "The garden") is None


def test_a_very_long_text_is_read_as_far_as_the_model_reads(model: MiniLM) -> None:
    assert model.likeness("garden " * 2_000, "The garden") is not None


@pytest.mark.parametrize("trouble", [Unavailable("the file is not there"), RuntimeError("out of memory")])
def test_a_model_that_fails_leaves_the_judgement_to_the_text(trouble: Exception) -> None:
    class Gone(MiniLM):
        def likeness(self, one: str, other: str) -> None:
            raise trouble

    known, draft = Statement(text="Backups run at two in the night"), Statement(text="Backups run at 2 am")

    assert wiring.judge_with(Gone()).compare(known, draft) == wiring.judge_with(None).compare(known, draft)


@requirement("ops.reinforce", "ops.contradict")
@pytest.mark.parametrize(
    ("known", "draft", "relation"),
    [
        ("Takes 60s to start after a restart", "Takes about 60 seconds to start after restart", "same"),
        ("Takes 60s to start after a restart", "Takes 30s to start after a restart", "contradicts"),
        ("Must be started after WireGuard", "Can be started independently of WireGuard", "contradicts"),
        ("Alec is my boss", "Alec is no longer my boss", "contradicts"),
        ("Takes 60s to start after restart", "Takes 10s to stop", "distinct"),
    ],
)
def test_what_the_documents_show_holds_with_the_default_embedder_too(
    model: MiniLM, known: str, draft: str, relation: str
) -> None:
    judge = wiring.judge_with(model)

    assert judge.compare(Statement(text=known, subject="x"), Statement(text=draft, subject="x")).relation == (
        relation
    )
