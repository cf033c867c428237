"""The measure of recall over what was said: every figure worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from bench.conversations import (
    Ask,
    Conversation,
    Loaded,
    Meeting,
    Question,
    Turn,
    measure,
    of_question,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
#: Six sessions of two turns each: s1 has t1 and t2, s2 has t3 and t4, and so on.
SESSION_OF = {f"t{number}": f"s{(number + 1) // 2}" for number in range(1, 13)}


def asked(*gold: str, category: str = "plain", apart: bool = False, text: str = "?") -> Question:
    sessions = frozenset(SESSION_OF[turn] for turn in gold)
    return Question(text, NOW, category, frozenset(gold), sessions, apart)


def conversation(*questions: Question, left_out: int = 0) -> Conversation:
    meetings = tuple(
        Meeting(
            f"s{number}", NOW, (Turn(f"t{2 * number - 1}", "", "user"), Turn(f"t{2 * number}", "", "user"))
        )
        for number in range(1, 7)
    )
    return Conversation("talk", meetings, questions, left_out)


def test_turns_count_as_a_share_of_what_answers() -> None:
    ranked = ["t1", "t9", "t10", "t11", "t12", "t3"]

    found = of_question(asked("t1", "t3", "t5"), ranked, SESSION_OF)

    assert found["turn.R@5"] == pytest.approx(1 / 3)
    assert found["turn.R@10"] == pytest.approx(2 / 3)
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["turn.NDCG@10"] == pytest.approx((1 + 1 / math.log2(7)) / best)


def test_sessions_stand_where_their_best_turn_stands() -> None:
    five_sessions = ["t1", "t2", "t3", "t5", "t7", "t9", "t11"]

    inside = of_question(asked("t10"), five_sessions, SESSION_OF)
    outside = of_question(asked("t12"), five_sessions, SESSION_OF)
    some = of_question(asked("t10", "t12"), five_sessions, SESSION_OF)

    assert (inside["session.hit@5"], inside["session.all@5"]) == (1.0, 1.0)
    assert (outside["session.hit@5"], outside["session.all@5"]) == (0.0, 0.0)
    assert (some["session.hit@5"], some["session.all@5"]) == (1.0, 0.0)


def test_without_gold_turns_only_sessions_are_counted() -> None:
    question = Question("?", NOW, "plain", frozenset(), frozenset({"s1"}))

    assert of_question(question, [], SESSION_OF) == {"session.hit@5": 0.0, "session.all@5": 0.0}


def test_categories_are_reported_and_what_is_apart_is_in_no_mean() -> None:
    answers = {"right": ["t1"], "wrong": ["t12"], "apart": ["t1"]}
    questions = (
        asked("t1", category="single-hop", text="right"),
        asked("t1", category="multi-hop", text="wrong"),
        asked("t1", category="adversarial", apart=True, text="apart"),
    )
    told = []

    @contextmanager
    def hold(given: Conversation) -> Iterator[Ask]:
        told.append(given.name)

        def ask(question: Question) -> Sequence[str]:
            return answers[question.text]

        yield ask

    steps: list[None] = []
    loaded = Loaded("locomo", (conversation(*questions, left_out=2),))
    report = measure(loaded, hold, lambda: steps.append(None)).as_json()

    assert (told, len(steps)) == (["talk"], 3)
    assert report["bench"] == "locomo"
    assert report["questions"] == {"adversarial": 1, "multi-hop": 1, "single-hop": 1}
    assert (report["conversations"], report["left_out"]) == (1, 2)
    metrics = report["metrics"]
    assert metrics["turn.R@10"] == metrics["session.all@5"] == 0.5
    assert (metrics["turn.R@10.single-hop"], metrics["turn.R@10.multi-hop"]) == (1.0, 0.0)
    assert metrics["adversarial.R@10"] == metrics["adversarial.session.hit@5"] == 1.0
    assert "turn.R@10.adversarial" not in metrics
