"""How much of a session is read in one step, whatever was pasted into it."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.memory import Message
from holdfast.language.chunks import chunks

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
MOST = 8_000


def messages(sizes: list[int], letter: str) -> list[Message]:
    return [
        Message(
            id=f"m{number}",
            session="s",
            number=number,
            role="user",
            speaker=None,
            content=letter * size,
            said_at=AT,
        )
        for number, size in enumerate(sizes, start=1)
    ]


@given(st.lists(st.integers(1, 20_000), min_size=1, max_size=8), st.sampled_from("a.漢"))
def test_no_step_reads_more_than_8000_characters(sizes: list[int], letter: str) -> None:
    said = messages(sizes, letter)

    found = list(chunks(said[:1], said[1:]))

    assert all(sum(len(one.content or "") for one in chunk.messages) <= MOST for chunk in found)
    assert [message.id for chunk in found for message in chunk.new] == [message.id for message in said[1:]]


def test_of_what_is_too_long_the_beginning_is_read() -> None:
    (chunk,) = chunks([], messages([50_000], "a"))

    assert chunk.messages[0].content == "a" * MOST
