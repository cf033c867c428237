"""Parses a question before the search: its terms, and the people and days that it names.

Pure: the speakers of the space and the date are passed in.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from holdfast.domain.terms import asked, stem, words
from holdfast.language.named_days import Days, named_days
from holdfast.language.speaker_forms import Meant, meant

_WHEN = frozenset(("when",))
# "What did I say about the rack?", "Did we discuss it?", "Remind me when she mentioned him". English only.
_ASKING = r"(?:what|when|where|who|which|how|why)(?: else| exactly)?"
_ABOUT_TALK = re.compile(
    rf"(?:^|[.!?,;:]\s+|\b{_ASKING}\s)(?:did|have|has|had|was|were)(?:n['’]t)?\s[^.!?\n]{{1,80}}?"
    r"\b(?:say|said|tell|told|mention(?:ed)?|discuss(?:ed)?|talk(?:ed)?|speak|spoken?|agreed?|decided?)\b"
    rf"|\b(?:{_ASKING}|whether|remind|remember)\b[^.!?\n]{{0,60}}?\b(?:i|we|you|he|she|they)\s+"
    r"(?:\w+\s+)?(?:said|told|mentioned|discussed|talked|spoke|agreed|decided)\b",
    re.IGNORECASE,
)
# Words that refer to earlier messages: "that" and "one" only if no noun follows.
_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|these|those|same|both)\b"
    r"|\b(?:this|that|there|one)(?=\s*(?:$|[.,;:!?)]))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question."""

    text: str
    terms: tuple[str, ...]  # that can find something
    spoken_terms: tuple[str, ...]  # the same without speakers' names, since speakers seldom name themselves
    meant: Meant
    days: tuple[Days, ...]
    asks_when: bool

    @property
    def forms(self) -> tuple[str, ...]:
        """The question as it is, then as each person that it names would have said it or heard it."""
        said = (form for each in self.meant.sayings for form in (each.by_them, each.to_them))
        return (self.text, *said)


def question(text: str, speakers: Iterable[str], asked_on: date) -> ParsedQuestion:
    """Parses a question, given the speakers of the space and the date."""
    plain = words(text)
    who = meant(text, speakers)
    terms = tuple(asked(text))
    name_stems = {stem(name) for name in who.names}
    return ParsedQuestion(
        text=text,
        terms=terms,
        spoken_terms=tuple(term for term in terms if term not in name_stems) or terms,
        meant=who,
        days=named_days(text, asked_on),
        asks_when=not _WHEN.isdisjoint(plain),
    )


def asks_what_was_said(text: str) -> bool:
    """Whether a question is about a conversation, not about a fact in it."""
    return _ABOUT_TALK.search(text) is not None


def refers_back(text: str) -> bool:
    """Whether a question has a pronoun for something said before."""
    return "?" in text and _BACK.search(text) is not None
