"""The part of a long text that is quoted."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.passage import passage

LONG = (
    "First we spoke about the weather. It was cold! Then the train came late.\n"
    "The museum in Lisbon opens at ten. Nobody knew that. Afterwards we had tea and went home, tired and glad"
)


def test_a_short_text_is_quoted_as_it_is() -> None:
    assert passage("  Tea at four. ", {"museum"}, 100) == "Tea at four."


def test_of_a_long_text_the_sentence_that_was_asked_for_is_quoted() -> None:
    found = passage(LONG, {"museum", "open"}, 80)

    assert "The museum in Lisbon opens at ten." in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) <= 80


def test_where_nothing_is_shared_it_begins_at_the_beginning() -> None:
    assert passage(LONG, set(), 60).startswith("First we spoke about the weather.")


def test_one_endless_sentence_is_cut_at_a_blank() -> None:
    assert passage("museum " * 100, {"museum"}, 40) == "museum museum museum museum museum…"


TEXTS = st.text(st.sampled_from("ab .!?\n。museum"), max_size=300)


@given(TEXTS, st.integers(10, 120))
def test_it_is_never_too_long_and_always_from_the_text(text: str, most: int) -> None:
    found = passage(text, {"museum"}, most)

    assert len(found) <= max(most, 0)
    assert found.strip("…") in text
