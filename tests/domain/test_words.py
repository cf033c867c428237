"""Words for the full-text index: every script, and never anything that a query language could read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.terms import MOST_CHARACTERS, words

ANY_TEXT = st.text(alphabet=st.characters(), max_size=80)
LETTERS = st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lo", "Nd", "Mn")), max_size=20)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("   ", []),
        ("Takes 60s to start", ["takes", "60s", "to", "start"]),
        ("café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ｗｉｄｅ", ["wide"]),
        ("Привет, мир", ["привет", "мир"]),
        ("日本語", ["日本", "本語"]),
        ("日", ["日"]),
        ("東京API鍵", ["東京", "api", "鍵"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("서울 날씨", None),
        ("🎉🎉", []),
        ("snake_case kebab-case dotted.name", ["snake", "case", "kebab", "case", "dotted", "name"]),
        ("'; drop table x --", ["drop", "table", "x"]),
        ('"NEAR(a b)" AND col:* | !c', ["near", "a", "b", "and", "col", "c"]),
        ("x" * 100, ["x" * MOST_CHARACTERS]),
    ],
)
def test_text_is_cut_into_its_words(text: str, found: list[str] | None) -> None:
    if found is None:
        assert words(text)
        assert words(text) == words(text.upper())
    else:
        assert words(text) == found


@given(ANY_TEXT)
def test_a_word_holds_letters_and_digits_only_and_is_short(text: str) -> None:
    for word in words(text):
        assert word
        assert len(word) <= MOST_CHARACTERS
        assert word.isalnum()
        assert not set(word) & set("'\"\\*():&|!<>_ -")


@given(LETTERS)
def test_case_and_accents_do_not_matter(text: str) -> None:
    assert words(text) == words(text.casefold())


@given(ANY_TEXT)
def test_the_words_of_words_are_the_same_words(text: str) -> None:
    found = words(text)

    assert [again for word in found for again in words(word)] == found


@given(st.lists(st.sampled_from(("alpha", "Émile", "мир", "60s")), max_size=8), st.sampled_from(" \n,;_-/"))
def test_what_stands_between_words_does_not_matter(parts: list[str], between: str) -> None:
    assert words(between.join(parts)) == [word for part in parts for word in words(part)]
