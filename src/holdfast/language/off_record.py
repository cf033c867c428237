"""Detects what a person does not want stored: off the record, marked as private, a declined offer."""

import re
from dataclasses import dataclass

from holdfast.domain.secrets.regions import find_regions
from holdfast.domain.secrets.spans import PRIVATE
from holdfast.language.injected_text import typed
from holdfast.language.phrases import begins, phrases
from holdfast.language.sentences import MOST_CHARACTERS, Sentence, sentences

# "I don't remember that" asks for nothing.
_OF_SOMEBODY = re.compile(r"\b(?:i|we|they|he|she)(?: \w+)? $", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|that)\b", re.IGNORECASE)
_LITTLE = 2  # further words of a message that is only a request
_END = 1_000  # characters at the end of a long message that are read, too: a request may follow a pasted text


@dataclass(frozen=True, slots=True)
class Wish:
    """Which messages are to be off the record: the message itself, and the one before."""

    this: bool = False
    before: bool = False


def is_private(text: str) -> bool:
    """Whether a part of a text is marked as private."""
    return any(kind == PRIVATE for _, _, kind in filter(None, find_regions(text)))


def wish(text: str, answered: str | None) -> Wish:
    """What a person's message asks for; `answered` is the agent's message right before it."""
    own = typed(text)
    if answered is not None and begins("refused", own) and phrases("offered_to_remember").search(answered):
        return Wish(this=len(sentences(own)) < 2, before=True)
    if not phrases("off_record").search(own):  # nearly always, and quickly checked
        return Wish()
    said = [*sentences(own), *(sentences(own[-_END:]) if len(own) > MOST_CHARACTERS else ())]
    asking = [number for number, each in enumerate(said) if _asks(each)]
    if not asking:
        return Wish()
    # A message that is only a request is about the message before.
    first = said[0].own
    bare = len(re.findall(r"\w+", phrases("off_record").sub("", first))) <= _LITTLE
    points = len(said) == 1 or _POINTS_BACK.search(first) is not None
    return Wish(this=True, before=asking[0] == 0 and bare and points)


def _asks(sentence: Sentence) -> bool:
    found = phrases("off_record").search(sentence.own)
    return found is not None and not sentence.asks and not _OF_SOMEBODY.search(sentence.own[: found.start()])
