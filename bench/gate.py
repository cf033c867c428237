"""How well conversations are turned into memories, measured on conversations with known facts.

Knows labelled rows and figures; whoever extracts is handed in. An expected fact counts as captured when one
memory holds every name and number of it that was said, and at least 60% of its telling words. Where the talk
is not in English, its words can't be compared with the English label: there names and numbers decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.relations import TEST
from holdfast.domain.terms import STOP_WORDS, stem, words
from holdfast.language.names import DAY_OR_MONTH, NAME
from holdfast.language.numerals import NUMBER, read_number
from holdfast.language.sentences import sentences
from holdfast.language.third_person import is_english

ENOUGH_WORDS = 0.6
_LEAST_SHARED = 5  # letters that forms of one word share: allergy, allergic
_UNTOLD = frozenset(("user", "asked", "their", "themselves"))  # what the wording itself adds
_TOKEN = re.compile(r"[^\W_][\w'’/.-]*")
_NUMBER = re.compile(rf"(?<![\w.])({NUMBER})(?!\w)")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_DATE = re.compile(r"\((?:the week of )?\d{4}(?:-\d\d){0,2}\)")
_WEEKDAYS = re.compile(r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?$")

Extract = Callable[[Sequence[tuple[str, str]]], Sequence[str]]  # (role, text) pairs to memories' texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A conversation, and what a reader would keep of it."""

    id: str
    messages: tuple[tuple[str, str], ...]
    remember: bool
    facts: tuple[str, ...]
    carried_by: tuple[str, ...]  # of each fact the words that carry it; empty where nobody marked them
    why: str

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.messages)

    @property
    def english(self) -> bool:
        """Whether all that people say in it is."""
        said = [one.own for role, text in self.messages if role == "user" for one in sentences(text)]
        return all(map(is_english, said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was made of one row."""

    row: Row
    memories: tuple[str, ...]
    captured: tuple[str | None, ...]  # for each fact the memory that holds it
    invented: tuple[str, ...]  # memories with a name or number that nobody said

    @property
    def right(self) -> bool:
        return bool(self.memories) == self.row.remember


@dataclass(frozen=True, slots=True)
class GateReport:
    """Shares from 0 to 1 over all rows, and what was made of each."""

    found: tuple[Found, ...]

    def metrics(self) -> dict[str, float]:
        kept = [one for one in self.found if one.memories]
        wanted = [one for one in self.found if one.row.remember]
        facts = [memory is not None for one in self.found for memory in one.captured]
        memories = sum(len(one.memories) for one in self.found)
        return {
            "accuracy": _share(sum(one.right for one in self.found), len(self.found)),
            "precision": _share(sum(one.row.remember for one in kept), len(kept)),
            "recall": _share(sum(bool(one.memories) for one in wanted), len(wanted)),
            "captured": _share(sum(facts), len(facts)),
            "invented": _share(sum(len(one.invented) for one in self.found), memories),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": "gate",
            "conversations": len(self.found),
            "facts": sum(len(one.row.facts) for one in self.found),
            "metrics": self.metrics(),
            "pairs": [
                {
                    "id": one.row.id,
                    "expected": list(one.row.facts),
                    "captured": [memory is not None for memory in one.captured],
                    "memories": list(one.memories),
                    "invented": list(one.invented),
                }
                for one in self.found
            ],
        }


def load(path: Path | None = None) -> list[Row]:
    """The labelled conversations of a file, by default of the test part.

    Raises: ValueError, naming the line, for data of another form.
    """
    sources = [path] if path is not None else sorted(TEST.glob("talks_*.jsonl"))
    return [
        _row(line, number)
        for source in sources
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip()
    ]


def measure(extract: Extract, rows: Sequence[Row]) -> GateReport:
    """What `extract` makes of the rows, and how good that is."""
    return GateReport(tuple(_found(row, tuple(extract(row.messages))) for row in rows))


def _found(row: Row, memories: tuple[str, ...]) -> Found:
    return Found(
        row=row,
        memories=memories,
        captured=tuple(next((one for one in memories if holds(one, fact, row)), None) for fact in row.facts),
        invented=tuple(one for one in memories if invents(one, row.text)),
    )


def holds(memory: str, fact: str, row: Row) -> bool:
    """Whether a memory says what the fact says, by names, numbers and words."""
    said = _names(fact) & {_day(word) for word in words(row.text)}
    numbers = _numbers(row.text) & _numbers(fact)
    if not said <= {_day(word) for word in words(memory)} or not numbers <= _numbers(memory):
        return False
    if not row.english:
        return True
    wanted, there = _telling(fact), _telling(memory)
    covered = sum(any(_alike(word, other) for other in there) for word in wanted)
    return covered >= ENOUGH_WORDS * len(wanted)


def invents(memory: str, said: str) -> bool:
    """Whether a memory holds a name or a number that nobody said; dates of relative days excepted."""
    plain = _DATE.sub("", memory)
    known = {_day(word) for word in words(said)}
    strange = {name for name in _names(plain) if not {_day(word) for word in words(name)} <= known}
    digits = set(_DIGITS.findall(plain)) - set(_DIGITS.findall(said))
    return bool(strange or digits)


def _names(text: str) -> set[str]:
    """The words with a capital letter in a text, and its days of the week, folded."""
    days = {token.lower() for token in _TOKEN.findall(text) if _WEEKDAYS.match(token.lower())}
    capital = (name.removesuffix("'s").removesuffix("’s") for name in NAME.findall(text))
    names = {name.lower() for name in capital if not DAY_OR_MONTH.match(name)} - STOP_WORDS
    return {_day(name) for name in names | days} - _UNTOLD


def _day(word: str) -> str:
    """Days of the week by their first letters: Tue is Tuesdays."""
    return word[:3] if _WEEKDAYS.match(word) else word


def _numbers(text: str) -> set[float]:
    """The numbers of a text; of a time of day without minutes the hour alone."""
    plain = re.sub(r"\b0?(\d{1,2}):00\b", r"\1", text.lower())
    return {read_number(found) for found in _NUMBER.findall(plain)}


def _telling(text: str) -> set[str]:
    found = {stem(word) for word in words(text) if word not in STOP_WORDS and not word.isdigit()}
    return found - _UNTOLD


def _alike(one: str, other: str) -> bool:
    return one == other or (len(one) > _LEAST_SHARED and one[:_LEAST_SHARED] == other[:_LEAST_SHARED])


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _row(line: str, number: int) -> Row:
    try:
        fields = json.loads(line)
        messages = tuple((str(one["role"]), str(one["text"])) for one in fields["messages"])
        facts = tuple(str(one["content"]) for one in fields["facts"])
        carried_by = tuple(str(one.get("from", "")) for one in fields["facts"])
        remember, row_id = fields["remember"], str(fields.get("id", number))
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}: not JSON ({error.msg})") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"line {number}: needs id, messages (role, text), remember and facts (content): {error!r}"
        ) from None
    if not isinstance(remember, bool):
        raise ValueError(f"line {number}: remember must be true or false")
    return Row(
        id=row_id,
        messages=messages,
        remember=remember,
        facts=facts,
        carried_by=carried_by,
        why=str(fields.get("why", "")),
    )
