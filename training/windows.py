"""Messages as the finder meets them: each behind the few before it, with the marks of whoever wrote it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from training.network import Vocabulary
from training.rows import FOUND_KINDS, RETRACTION, Row, dialogues, pools, rows

BEFORE: Final = 2  # messages
CLIPPED: Final = 400  # characters that are left of each of them
LONGEST: Final = 382  # tokens
OUTSIDE, INSIDE, BEGINS = range(3)
UNKNOWN: Final = -1
SINGLE: Final = 900  # memories that are statements without any context
ASKED: Final = 900  # prompts that state nothing


@dataclass(frozen=True)
class Window:
    """The tokens of a message behind those before it, and what its author marked."""

    ids: list[int]
    first: int  # token of the message itself
    marks: list[int] | None  # OUTSIDE, INSIDE or BEGINS; none where nobody marked
    kinds: list[int]  # of the tokens that carry a fact, else UNKNOWN
    personal: list[int]  # whether it holds in every project, of the same tokens
    weight: float = 1.0


def windows(part: str, words: Vocabulary) -> list[Window]:
    """Every message of the fortnights and of the shorter conversations, and statements and prompts alone."""
    chance = random.Random(11)
    found: list[Window] = []
    for row in rows("weeks", part):
        found += of_session(row["turns"], words)
        alone = [turn for turn in row["turns"] if turn["role"] != "tool" and chance.random() < 0.12]
        found += [_window([], turn, words, True) for turn in alone if not _leans(turn)]
    for row in rows("talks", part):
        marked = not row["remember"] or all(fact.get("from") for fact in row["facts"])
        found += of_session(with_facts(row), words, marked=marked)
    for row in chance.sample(rows("clusters", part), min(SINGLE, len(rows("clusters", part)))):
        found.append(_single(row, words, "assistant" if chance.random() < 0.2 else "user"))
    prompts = [row["prompt"] for _, asked in pools(part) for row in asked]
    for prompt in chance.sample(prompts, min(ASKED, len(prompts))):
        found.append(_window([], {"role": "user", "text": prompt}, words, True, 0.5))
    return found


def unmarked(part: str, words: Vocabulary) -> list[Window]:
    """Messages that nobody marked, for what teachers say of them: of sessions over months, and prompts."""
    chance = random.Random(12)
    found: list[Window] = []
    for sessions, _ in dialogues(part):
        for row in sessions:
            said = [{"role": _role(each["role"]), "text": each["text"]} for each in row["messages"]]
            found += of_session(said, words, marked=False)
    for row in rows("gate", part):
        found += of_session(row["messages"], words, marked=False)
    prompts = [row["prompt"] for _, asked in pools(part) for row in asked]
    for prompt in chance.sample(prompts, min(2_000, len(prompts))):
        found.append(_window([], {"role": "user", "text": prompt}, words, False))
    for row in rows("clusters", part):
        text = chance.choice([*row["same"], *row["distinct"]])
        found.append(_window([], {"role": "user", "text": text}, words, False))
    return found


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


def _role(role: str) -> str:
    return role if role == "assistant" else "user"


def _leans(turn: Row) -> bool:
    """Whether a turn can't be understood without another."""
    return any("needs" in fact for fact in turn.get("facts", ()))


def _single(cluster: Row, words: Vocabulary, role: str) -> Window:
    subject, text = cluster.get("subject"), str(cluster["memory"])
    if subject and subject.casefold() not in text.casefold():
        text = f"{subject}: {text}"
    return _window(
        [], {"role": role, "text": text, "facts": [{"from": text, "content": text}]}, words, True, 0.5
    )


def _window(before: list[int], turn: Row, words: Vocabulary, marked: bool, weight: float = 1.0) -> Window:
    text = f"{turn['role']}: {turn['text']}"
    encoded = words.tokens.encode(text, add_special_tokens=False)
    spans = [
        (text.find(fact["from"]), text.find(fact["from"]) + len(fact["from"]), fact)
        for fact in turn.get("facts", ())
        if fact.get("from")
    ]
    marks, kinds, personal = ([kind] * len(before) for kind in (OUTSIDE, UNKNOWN, UNKNOWN))
    begun: set[int] = set()
    for start, end in encoded.offsets:
        at = next((at for at, (first, last, _) in enumerate(spans) if start >= first and end <= last), None)
        fact = spans[at][2] if at is not None else {}
        marks.append(OUTSIDE if at is None else INSIDE if at in begun else BEGINS)
        kinds.append(_kind(fact))
        personal.append(int(fact["about"] == "person") if "about" in fact else UNKNOWN)
        begun |= {at} if at is not None else set()
    ids = [*before, *encoded.ids]
    return Window(
        ids[:LONGEST],
        len(before),
        marks[:LONGEST] if marked else None,
        kinds[:LONGEST],
        personal[:LONGEST],
        weight,
    )


def _kind(fact: Row) -> int:
    if "kind" not in fact and fact.get("content", "") is not None:
        return UNKNOWN
    return FOUND_KINDS.index(RETRACTION if fact.get("content", "") is None else fact["kind"])
