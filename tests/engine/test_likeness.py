"""What is said again in quite other words, where the default embedder helps to judge."""

import pytest

from holdfast import Added, Memories, Reinforced
from holdfast.models.minilm import MiniLM
from tests.requirements_ledger import requirement

SAID = "The flaky test_checkout failure comes from a timezone assumption"
AGAIN = "test_checkout breaks intermittently since it takes local time to be UTC"
OTHER = "test_checkout takes four minutes on the slow runners"


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@requirement("sem.dedup")
def test_a_fact_in_quite_other_words_is_known_to_the_default_embedder(
    database_url: str, model: MiniLM
) -> None:
    with Memories.open(database_url, embedder=model) as memories:
        memories.remember(SAID, subject="test_checkout")

        again = memories.remember(AGAIN, subject="test_checkout")
        other = memories.remember(OTHER, subject="test_checkout")

    assert isinstance(again, Reinforced)
    assert isinstance(other, Added)


def test_without_an_embedder_both_wordings_are_kept(sqlite_url: str) -> None:
    with Memories.open(sqlite_url) as memories:
        memories.remember(SAID, subject="test_checkout")

        assert isinstance(memories.remember(AGAIN, subject="test_checkout"), Added)
