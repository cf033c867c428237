"""Clean text and its normal form, for every character that there is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.domain.text import clean, normal_form, parts

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)  # lone surrogates included
# Where Unicode's rules have traps: accents apart, ligatures, hidden marks, sharp s, final sigma, Turkish i.
TRICKY = st.text(
    alphabet="aAeéß\u1e9eİıſςΣﬁ½①Åé\u0301\u0345\u200b\u200d\u202e\ufeff\u00ad\ud800\x00\r\n\u2028 .:/-'\"",
    max_size=24,
)


@given(ANY_TEXT | TRICKY, st.booleans())
@example("e\u200b\u0301", False)
@example("\u1100\u200b\u1161", False)
@example("\u4e00\u200b\U000e0100", False)
@example("\U000e0100\U000e0101", False)
def test_clean_text_is_clean_already(text: str, one_line: bool) -> None:
    once = clean(text, one_line=one_line)

    assert clean(once, one_line=one_line) == once


@given(ANY_TEXT | TRICKY, st.booleans())
def test_clean_text_can_be_stored_and_shown(text: str, one_line: bool) -> None:
    cleaned = clean(text, one_line=one_line)

    cleaned.encode()
    assert unicodedata.is_normalized("NFC", cleaned)
    controls = {letter for letter in cleaned if unicodedata.category(letter) == "Cc"}
    assert controls <= (set() if one_line else {"\n", "\t"})
    if one_line:
        assert len(cleaned.splitlines()) <= 1


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("a\x00b", "ab"),
        ("a\ud800b", "a\ufffdb"),
        ("a\u202eb", "ab"),
        ("pass\u200bword", "password"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("e\u0301", "é"),
        ("e\u200b\u0301", "é"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\ufeffa", "a"),
        ("a\tb", "a\tb"),
        ("\x1b[31mred", "[31mred"),
    ],
)
def test_what_hides_or_cannot_be_stored_goes_and_the_rest_stays(dirty: str, cleaned: str) -> None:
    assert clean(dirty) == cleaned


@given(ANY_TEXT | TRICKY)
@example("ﬁ")
@example("\u0345Α")
@example("½")
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normal_form(text)

    assert normal_form(once) == once


@given(ANY_TEXT)
def test_the_normal_form_does_not_see_what_cleaning_takes(text: str) -> None:
    assert normal_form(clean(text)) == normal_form(text)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Takes 60s.", "takes 60s"),
        ("It's “fine”!", "it s fine"),
        ("  a \n b\t", "a b"),
        ("STRASSE", "straße"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("cafe\u0301", "CAFÉ"),
    ],
)
def test_two_spellings_of_one_sentence_have_one_normal_form(left: str, right: str) -> None:
    assert normal_form(left) == normal_form(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("port 80", "port 8080"),
        ("1.5 GB", "15 GB"),
        ("10:30", "1030"),
        ("a/b", "a b"),
        ("50%", "50"),
        ("c++", "c"),
        ("c#", "c"),
        ("v1.2", "v1 2"),
        ("-5 degrees", "5 degrees"),
        (".env", "env"),
        ("not ready", "ready"),
    ],
)
def test_texts_that_say_different_things_keep_different_normal_forms(left: str, right: str) -> None:
    assert normal_form(left) != normal_form(right)


def test_of_a_pile_of_marks_on_one_letter_eight_stay() -> None:
    piled = clean("Petra" + "\u0363" * 40 + " is here")

    assert piled == "Petra" + "\u0363" * 8 + " is here"
    assert clean("Petra" + "\u0363" * 8) == "Petra" + "\u0363" * 8


@given(
    st.text(alphabet=st.sampled_from("a é\u0301\n\r\x0b。漢\U000e0100\u200b”\x00"), max_size=200),
    st.integers(1, 9),
)
def test_a_text_can_be_cleaned_part_by_part(text: str, times: int) -> None:
    long = text * (times * 400)

    found = list(parts(long))

    assert "".join(found) == long
    assert "".join(map(clean, found)) == clean(long)
    if " " in text or "\n" in text:
        assert all(len(part) <= 16_384 for part in found)
