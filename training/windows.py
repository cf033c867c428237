"""Messages as the reader meets them: each behind the few before it, with the marks of whoever wrote it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from training.network import Vocabulary
from training.rows import KINDS, Row, rows

BEFORE: Final = 2  # messages
CLIPPED: Final = 400  # characters that are left of each of them
LONGEST: Final = 382  # tokens
OUTSIDE, INSIDE, BEGINS = range(3)
UNKNOWN: Final = -1


@dataclass(frozen=True)
class Window:
    """The tokens of a message behind those before it, and what its author marked."""

    ids: list[int]
    first: int  # token of the message itself
    marks: list[int] | None  # OUTSIDE, INSIDE or BEGINS; none where nobody marked
    kinds: list[int]  # of the tokens that carry a fact, else UNKNOWN
    personal: list[int]  # whether it holds in every project, of the same tokens


def windows(part: str, words: Vocabulary) -> list[Window]:
    """Every message of the fortnights of a part, and half of those of the shorter conversations."""
    found = [window for row in rows("weeks", part) for window in of_session(row["turns"], words)]
    others: list[Window] = []
    for row in rows("talks", part):
        marked = not row["remember"] or all(fact.get("from") for fact in row["facts"])
        others += of_session(with_facts(row), words, marked=marked)
    return found + random.sample(others, len(others) // 2)


def with_facts(talk: Row) -> list[Row]:
    """The messages of a conversation, each with the facts whose words stand in it first."""
    turns = [{**message, "facts": []} for message in talk["messages"]]
    for fact in talk["facts"]:
        holder = next((turn for turn in turns if fact.get("from") and fact["from"] in turn["text"]), None)
        if holder is not None:
            holder["facts"].append(fact)
    return turns


def of_session(turns: Sequence[Row], words: Vocabulary, *, marked: bool = True) -> Iterator[Window]:
    """A window for each message that a person or an agent said."""
    said = [turn for turn in turns if turn["role"] != "tool"]
    for number, turn in enumerate(said):
        before = [
            one
            for earlier in said[max(0, number - BEFORE) : number]
            for one in words.ids(f"{earlier['role']}: {earlier['text'][-CLIPPED:]}")
        ]
        yield _window(before, turn, words, marked)


def _window(before: list[int], turn: Row, words: Vocabulary, marked: bool) -> Window:
    text = f"{turn['role']}: {turn['text']}"
    encoded = words.tokens.encode(text, add_special_tokens=False)
    spans = [
        (text.find(fact["from"]), text.find(fact["from"]) + len(fact["from"]), fact)
        for fact in turn.get("facts", ())
        if fact.get("from") and fact.get("content", "") is not None
    ]
    marks, kinds, personal = ([kind] * len(before) for kind in (OUTSIDE, UNKNOWN, UNKNOWN))
    begun: set[int] = set()
    for start, end in encoded.offsets:
        at = next((at for at, (first, last, _) in enumerate(spans) if start >= first and end <= last), None)
        fact = spans[at][2] if at is not None else {}
        marks.append(OUTSIDE if at is None else INSIDE if at in begun else BEGINS)
        kinds.append(KINDS.index(fact["kind"]) if fact else UNKNOWN)
        personal.append(int(fact["about"] == "person") if "about" in fact else UNKNOWN)
        begun |= {at} if at is not None else set()
    ids = [*before, *encoded.ids]
    return Window(
        ids[:LONGEST],
        len(before),
        marks[:LONGEST] if marked else None,
        kinds[:LONGEST],
        personal[:LONGEST],
    )
