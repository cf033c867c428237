"""Turns of a conversation keep their names from request to request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.dialogue import Dialogue, Turn, digest, mark, names

KEY = "00" * 32
TURNS = st.lists(
    st.builds(
        Turn,
        role=st.sampled_from(["user", "assistant"]),
        text=st.text(st.characters(), min_size=1, max_size=20),
    ),
    min_size=1,
    max_size=8,
)


@given(TURNS)
def test_a_turn_keeps_its_name_as_the_conversation_goes_on_and_no_two_share_one(turns: list[Turn]) -> None:
    found = names(turns, "s", KEY)

    assert len(set(found)) == len(turns)
    for length in range(1, len(turns)):
        assert names(turns[:length], "s", KEY) == found[:length]


@given(TURNS)
def test_names_are_of_one_session_and_of_one_space(turns: list[Turn]) -> None:
    here = set(names(turns, "s", KEY))

    assert here.isdisjoint(names(turns, "t", KEY))
    assert here.isdisjoint(names(turns, "s", "11" * 32))


def test_what_follows_an_edited_turn_has_another_name() -> None:
    def said(*texts: str) -> list[str]:
        return names([Turn(role="user", text=text) for text in texts], "s", KEY)

    before, after = said("one", "two", "three"), said("one", "TWO", "three")

    assert before[0] == after[0]
    assert before[1] != after[1]
    assert before[2] != after[2]


def test_an_answer_that_a_client_trimmed_is_known_again() -> None:
    given_back = Turn(role="assistant", text="Hello, you.\n", calls=("toolu_1",))
    answer = Turn(role="assistant", text="  Hello,  you. ", calls=("toolu_1",))
    other = Turn(role="assistant", text="Hello, you.", calls=("toolu_2",))

    assert mark(given_back) == mark(answer)
    assert mark(answer) != mark(other)


def test_parts_can_not_be_moved_from_one_to_the_next() -> None:
    assert digest(KEY, "ab", "c") != digest(KEY, "a", "bc")


def test_a_conversation_tells_how_it_began() -> None:
    talk = Dialogue(turns=(Turn(role="user", text="Hi"), Turn(role="assistant", text="Hello")))

    assert (talk.opening, talk.first_reply) == ("Hi", "hello")
    assert Dialogue(turns=()).opening == ""
    assert Dialogue(turns=talk.turns[:1]).first_reply is None
