"""Long texts in parts: nothing is lost, nothing is too long, neighbours share some words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.budget import estimate_tokens
from holdfast.models.embedders import parts_of
from holdfast.models.remote import CAUTIOUS, KnownModel, known


def test_a_short_text_stays_whole() -> None:
    assert parts_of("  Lunch is at noon ", 100) == ["Lunch is at noon"]


def test_parts_are_cut_between_words_and_overlap() -> None:
    words = [f"word{number}" for number in range(200)]

    parts = parts_of(" ".join(words), 40)

    assert list(dict.fromkeys(word for part in parts for word in part.split())) == words
    for one, other in pairwise(parts):
        assert set(one.split()) & set(other.split())


@given(st.text(max_size=2_000), st.integers(min_value=8, max_value=200))
def test_no_part_is_too_long_and_every_character_is_in_one(text: str, most: int) -> None:
    parts = parts_of(text, most)

    assert parts
    assert all(estimate_tokens(part) <= most for part in parts)
    said = "".join(parts)
    assert {letter for letter in text if letter.isprintable() and not letter.isspace()} <= set(said)


@pytest.mark.parametrize("text", ["a" * 5_000, "日本語" * 2_000, "🦜" * 2_000, "x " * 5_000])
def test_text_without_words_is_cut_too(text: str) -> None:
    parts = parts_of(text, 64)

    assert len(parts) > 10
    assert all(estimate_tokens(part) <= 64 for part in parts)


@pytest.mark.parametrize(
    ("model", "document", "query"),
    [
        ("nomic-embed-text", "search_document: ", "search_query: "),
        ("nomic-embed-text:latest", "search_document: ", "search_query: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_document: ", "search_query: "),
        ("hf.co/nomic-ai/Nomic-Embed-Text-v1.5-GGUF:Q8_0", "search_document: ", "search_query: "),
        ("intfloat/multilingual-e5-small", "passage: ", "query: "),
        ("snowflake-arctic-embed2:568m", "", "query: "),
        ("bge-m3", "", ""),
        ("something-else", "", ""),
    ],
)
def test_known_models_get_the_words_that_they_were_trained_with(
    model: str, document: str, query: str
) -> None:
    found = known(model)

    assert (found.document, found.query) == (document, query)


def test_the_longest_name_that_fits_is_meant() -> None:
    assert known("snowflake-arctic-embed:s").query.startswith("Represent this sentence")
    assert known("multilingual-e5-large-instruct").query.startswith("Instruct: ")


def test_of_a_strange_model_little_is_expected() -> None:
    assert known("strange") == KnownModel(tokens=CAUTIOUS)
