"""The first question: about something special to a session, never about a secret."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.language.demo_questions import questions

SHOP = [
    "We moved the staging database to Frankfurt because Lisbon was slow",
    "please check the replication of the staging database in Frankfurt",
]
INVOICES = ["the invoice renders the wrong tax for Swiss customers", "please fix it"]


def test_a_question_is_about_what_a_session_spoke_of_and_others_did_not() -> None:
    asked = questions([SHOP, INVOICES, ["please look at the database"]])

    assert asked[0] == "What did I say about the staging database?"
    assert len(asked) == len(set(asked)) == 3


def test_a_question_is_asked_about_a_statement_which_answers_it() -> None:
    asked = questions([["Why does the checkout fail in Norway? The VAT table comes from the export."]])

    assert asked == ["What did I say about the VAT table?"]


def test_commands_paths_and_code_are_no_topics() -> None:
    assert (
        questions([["ls -la /srv/x | grep foo=bar && rm *.tmp", "```\nsecretly\n```", "a/b.c:12 x_y"]]) == []
    )


def test_a_message_with_a_secret_in_it_is_not_asked_about() -> None:
    secret = "sk-ant-api03-" + "Ab3dE5gH" * 8

    assert questions([[f"Deploy Frankfurt with the key {secret} tonight"]]) == []


def test_function_words_of_another_language_are_no_topics() -> None:
    assert questions([["Didier dit que les plaques sont pour la toiture, et les joints aussi"]]) == []


def test_small_talk_asks_nothing() -> None:
    assert questions([["yes please", "thanks, that works", "ok"]]) == []


@given(st.lists(st.lists(st.text(max_size=200), max_size=5), max_size=6))
def test_any_texts_give_short_questions_from_their_own_words(sessions: list[list[str]]) -> None:
    said = " ".join(text for texts in sessions for text in texts)

    for question in questions(sessions):
        words = question.removeprefix("What did I say about ").removesuffix("?").split()
        assert 1 <= len(words) <= 3
        assert all(word in said or word in said.casefold() for word in words)
