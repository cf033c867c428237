"""What becomes of a part of a message: it reads alone on another day, and holds nothing that was not said."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.gate import invents
from holdfast.language.third_person import in_third_person
from holdfast.language.wording import MOST_CHARACTERS, Utterance, Worded, worded
from tests.requirements_ledger import requirement

SAID_ON = date(2026, 3, 4)  # a Wednesday


def turns(*said: str) -> list[Utterance]:
    """What was said; an agent's turn begins with A:."""
    return [
        Utterance("assistant" if line.startswith("A:") else "user", line.removeprefix("A:").strip(), SAID_ON)
        for line in said
    ]


def made(*said: str, start: str = "") -> Worded | None:
    """The last turn, from given words on."""
    *before, turn = turns(*said)
    return worded(before, turn, turn.text.index(start), len(turn.text))


def content(*said: str, start: str = "") -> str | None:
    found = made(*said, start=start)
    return found.content if found else None


@requirement("sem.extract")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ok so we use pnpm, thanks", "We use pnpm."),
        ("please note that the deploy runs at 5 lol", "The deploy runs at 5."),
        ("oh and btw, Bettina is my boss since January!", "Bettina is the user's boss since January!"),
        ("Remember that I only drink oat milk.", "The user only drinks oat milk."),
        ("remember: never push on fridays", "Never push on fridays."),
        ("scratch that, we use port 8080", "We use port 8080."),
        ("run `make test`", "Run `make test`"),
        ("I shall put it online myself", "The user shall put it online themselves."),
        ("deploy.sh takes 4 minutes. wait for it", "deploy.sh takes 4 minutes. Wait for it."),
        ("this repo uses tabs", "This repo uses tabs."),
        ("You know, the vaccine comes in water, and", "The vaccine comes in water."),
        ("Another change: the meeting is on Thursday, so", "The meeting is on Thursday."),
        ("i'm rasmus btw. my boss is henning", "The user is rasmus. The user's boss is henning."),
    ],
)
def test_fillers_go_and_what_matters_stays_as_it_was_written(said: str, told: str) -> None:
    assert content(said) == told


@requirement("sem.extract")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I prefer short answers and my desk is in room 12.", None),
        ("i dont tell red from green", "The user doesn't tell red from green"),
        ("Ana and I never fly on Mondays.", "Ana and the user never fly on Mondays."),
        ("we use `i` as index and i like it", "we use `i` as index and the user likes it"),
        ("I carry a pager, I've carried it for years", None),
        ("Der Serverraum im Keller ist zu, me", "Der Serverraum im Keller ist zu, me"),
        ("I went to Oslo", "The user went to Oslo"),
        ("Otto verdient 4000 im neuen Job", "Otto verdient 4000 im neuen Job"),
        ("Im allergic to nuts", "The user is allergic to nuts"),
        ("I nearly fell, but I reply", "The user nearly fell, but the user replies"),
        ("My brother and I keep hens", "The user's brother and the user keep hens"),
        ("it broke and I fix it", "it broke and the user fixes it"),
        ("the pills are mine, like my desk", "the pills are the user's, like their desk"),
        (
            "The mine captains sign, nothing leaves the mine",
            "The mine captains sign, nothing leaves the mine",
        ),
    ],
)
def test_what_somebody_says_of_themselves_is_told_of_the_user(said: str, told: str | None) -> None:
    found = in_third_person(said, "user")

    assert found == told if told else found.startswith("The user ")


def test_an_agent_is_the_assistant_and_speaks_to_the_user() -> None:
    assert in_third_person("I set the gap, so you need 5 ms", "assistant") == (
        "The assistant set the gap, so the user needs 5 ms"
    )
    assert in_third_person("Shall I open a branch?", "assistant") == "Shall the assistant open a branch?"
    assert in_third_person("For 384 birds you need 384 doses", "assistant") == (
        "For 384 birds the user needs 384 doses"
    )
    assert in_third_person("A label helps you keep order", "assistant") == "A label helps the user keep order"


@requirement("sem.extract")
@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("A: Done. Who signs these?", "Marta, always", "Who signs these? Marta, always."),
        ("A: Should the default be UTC?", "yes", "Should the default be UTC? Yes."),
        ("A: Should we use REST or gRPC?", "the second", "Should we use REST or gRPC? The second."),
        (
            "A: Is rev B still alive?",
            "oh yes, 40 of them out at farms",
            "Is rev B still alive? Yes, 40 of them out at farms.",
        ),
        (
            "A: Anything else before I start with the migration?",
            "the staging database is wiped every night at 2",
            "The staging database is wiped every night at 2.",
        ),
    ],
)
def test_an_answer_that_needs_its_question_gets_it(question: str, answer: str, told: str) -> None:
    assert content(question, answer) == told


def test_an_answer_at_the_beginning_comes_with_its_question_alone() -> None:
    asked = "A: The invitation is drafted and lies in your folder. Who does the layout?"

    assert content(asked, "Ms. Moon at Namhae Press since the first edition of the book.") == (
        "Who does the layout? Ms. Moon at Namhae Press since the first edition of the book."
    )


def test_a_numbered_answer_comes_with_the_question_of_its_number() -> None:
    asked = (
        "A: Two things:\n1. How does the host mark a reserve without an end?\n2. Which role may change it?"
    )

    assert content(asked, "1. 9999-12-31, never NULL.\n2. Only CLERK.", start="Only") == (
        "Which role may change it? Only CLERK."
    )
    assert content(asked, "1. 9999-12-31, never NULL.", start="9999") == (
        "How does the host mark a reserve without an end? 9999-12-31, never NULL."
    )


def test_nobody_is_made_of_a_word_that_only_begins_a_sentence() -> None:
    assert content("One more question of law. She writes dates out in words.", start="She") == (
        "One more question of law. She writes dates out in words."
    )
    assert content("A: The IMU has gaps and was left out.", "he says that's weak") == (
        "The IMU has gaps and was left out. He says that's weak."
    )


def test_she_gets_the_last_sentence_that_names_somebody() -> None:
    said = "A: Send it to Xin Yi first. Kind regards included."

    assert content(said, "she reads mails only on mondays") == (
        "Send it to Xin Yi first. She reads mails only on mondays."
    )


def test_what_points_at_a_mere_reply_gets_what_was_replied_to() -> None:
    asked = "A: Two cases fail. May I flash the second board?"

    assert content(asked, "not yet. it belongs to the customer.", start="it") == (
        "May the assistant flash the second board? It belongs to the customer."
    )


def test_she_is_who_was_named_right_before() -> None:
    found = made("Send the draft to Miriam, please. She signs all the contracts.", start="She")

    assert found is not None
    assert found.content == "Miriam signs all the contracts."
    assert found.taken_from == (
        (0, "Send the draft to Miriam, please."),
        (0, "She signs all the contracts."),
    )


def test_what_points_back_gets_the_sentence_before_or_is_left_out() -> None:
    assert content("We host in Zurich. It is what the auditors want.", start="It") == (
        "We host in Zurich. It is what the auditors want."
    )
    assert content("that's on Friday") is None
    assert content("A: The build is red.", "it always breaks on Mondays") == (
        "The build is red. It always breaks on Mondays."
    )
    assert content(f"{'We talked for long ' * 10}. It was about Kafka.", start="It") is None


def test_a_question_comes_with_the_sentence_that_it_points_at() -> None:
    asked = "A: Five minutes would silence it. Apply it to all depots?"

    assert content(asked, "no, bramley only") == (
        "Five minutes would silence it. Apply it to all depots? No, bramley only."
    )
    assert content("A: Done. Which of them?", "the red ones") == "Which of them? The red ones."


def test_a_question_is_kept_for_the_second_part_of_an_answer() -> None:
    asked = "A: Who is called at night?"

    assert content(asked, "siobhan, weekdays. weekends tariq.", start="weekends") == (
        "Who is called at night? Weekends tariq."
    )


def test_an_item_of_a_list_comes_with_its_heading() -> None:
    listed = "cost report:\n1. mondays 08:00\n2. mail to payments@"

    assert content(listed, start="mail") == "Cost report: mail to payments@."
    assert content("A: Any rules for the style?", "yes:\n- no multiple choice", start="no") == (
        "Any rules for the style? No multiple choice."
    )


def test_a_part_of_an_open_sentence_gets_its_beginning() -> None:
    assert content("The export grows daily, so it goes to MinIO.", start="it goes") == (
        "The export grows daily, so it goes to MinIO."
    )


def test_no_memory_begins_with_a_quotation_of_something_else() -> None:
    found = content("A: The export needs a separator.", "semicolons in every csv file of this team")

    assert found == "Semicolons in every csv file of this team."


@requirement("sem.extract")
def test_relative_days_get_their_dates() -> None:
    assert content("The shed is free in the last week of May.") == "The shed is free in the last week of May."
    assert content("Last year's schedule was wrong.") == "Last year's (2025) schedule was wrong."
    assert content("Tom moved to the Berlin office last week.") == (
        "Tom moved to the Berlin office last week (the week of 2026-02-23)."
    )
    assert content("The report is due tomorrow") == "The report is due tomorrow (2026-03-05)."


def test_what_is_too_long_ends_with_a_sentence_or_is_no_memory() -> None:
    found = content("The list of hosts is long. " * 40)

    assert found is not None
    assert len(found) <= MOST_CHARACTERS
    assert found.endswith("long.")
    assert content("the list of hosts is long and " * 40) is None


_PIECES = (
    "remember that I prefer we decided Anna Berlin 42 the build server runs on never my boss is because"
    " from now on . , ? ! : \" ' ( ) \n - 3.5 10:15 March the not don't she it"
).split(" ")
_WORDS = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=25).map(" ".join)


@given(_WORDS, _WORDS)
def test_nothing_is_ever_invented(before: str, said: str) -> None:
    found = worded([Utterance("assistant", before, SAID_ON)], Utterance("user", said, SAID_ON), 0, len(said))

    if found is not None:
        assert not invents(found.content, f"{before}\n{said}\nThe user is has the assistant's")
        assert len(found.content) <= MOST_CHARACTERS


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_worded(before: str, said: str) -> None:
    worded([Utterance("user", before)], Utterance("assistant", said, SAID_ON), 0, len(said))
