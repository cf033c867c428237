"""The token estimate: its weights, and the arithmetic that budgets rely on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.budget import estimate_tokens
from tests.requirements_ledger import requirement

# Surrogates too: a caller may measure text before it is cleaned.
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)


@requirement("ops.brief.budget")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("x" * 400, 100),
        ("à la carte", 3),
        ("café" * 10, 10),
        ("тест", 2),
        ("שלום", 2),
        ("日本語", 3),
        ("ภาษาไทย", 7),
        ("😀", 2),
        ("😀" * 50, 100),
        ("ab日", 2),
    ],
)
def test_text_costs_what_its_scripts_cost(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(ANY_TEXT)
def test_an_estimate_is_never_below_a_quarter_of_the_characters(text: str) -> None:
    assert estimate_tokens(text) >= len(text) / 4


@given(ANY_TEXT, ANY_TEXT)
def test_a_whole_costs_at_least_each_part_and_at_most_their_sum(one: str, other: str) -> None:
    parts = estimate_tokens(one), estimate_tokens(other)

    whole = estimate_tokens(one + other)

    assert max(parts) <= whole <= sum(parts)


@given(ANY_TEXT, ANY_TEXT)
def test_joining_two_texts_saves_one_token_at_most(one: str, other: str) -> None:
    assert estimate_tokens(one + other) >= estimate_tokens(one) + estimate_tokens(other) - 1
