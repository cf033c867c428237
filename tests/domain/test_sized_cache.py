"""A cache that is bounded by what it weighs."""

from holdfast.domain.terms import sized_cache


class Reader:
    """Reads texts and counts how often; an answer weighs as much as it is long."""

    def __init__(self, most: int) -> None:
        self.read: list[str] = []
        self.ask = sized_cache(most, len)(self._upper)

    def _upper(self, text: str) -> str:
        self.read.append(text)
        return text.upper()


def test_what_was_asked_before_is_not_read_again() -> None:
    reader = Reader(most=100)

    assert [reader.ask("one"), reader.ask("two"), reader.ask("one")] == ["ONE", "TWO", "ONE"]
    assert reader.read == ["one", "two"]


def test_old_answers_are_let_go_of_by_weight_and_those_in_use_stay() -> None:
    reader = Reader(most=40)

    for number in range(50):
        reader.ask("used")
        reader.ask(f"text {number:03}")
    reader.read.clear()
    reader.ask("used")
    reader.ask("text 049")
    reader.ask("text 000")

    assert reader.read == ["text 000"]


def test_an_answer_that_weighs_more_than_all_others_may_is_given_and_not_kept() -> None:
    reader = Reader(most=40)
    reader.ask("short")

    assert reader.ask("x" * 1_000) == "X" * 1_000
    assert reader.ask("x" * 1_000) == "X" * 1_000
    reader.ask("short")

    assert reader.read == ["short", "x" * 1_000, "x" * 1_000]
