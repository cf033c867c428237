"""Pages: whole lines, nothing lost, never longer than Telegram takes."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.telegram.replies import pages, units

TEXTS = st.text(st.sampled_from("ab 😀é\n\t中"), max_size=400)


@given(TEXTS, st.integers(min_value=2, max_value=50))
def test_every_page_fits_and_nothing_but_blanks_is_lost(text: str, most: int) -> None:
    found = pages(text, most)

    assert all(0 < units(page) <= most for page in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_lines_stay_whole_where_they_fit() -> None:
    assert pages("one two\nthree\n\nfour", 11) == ["one two", "three\n\nfour"]


def test_a_line_that_is_too_long_is_cut_at_a_space_and_never_inside_a_character() -> None:
    assert pages("one two three", 8) == ["one two ", "three"]
    assert pages("😀😀😀", 4) == ["😀😀", "😀"]
    assert pages("x😀😀", 2) == ["x", "😀", "😀"]


def test_blanks_alone_are_no_page() -> None:
    assert pages(" \n\n ") == []
