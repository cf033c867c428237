"""What a question asks for, before anything is searched: its terms, whom and which days it names.

Pure: who has spoken in the space and what day it is are passed in.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from holdfast.domain.compare.words import stem
from holdfast.domain.named_days import Days, named_days
from holdfast.domain.sayings import Meant, meant
from holdfast.domain.terms import Term, asked
from holdfast.domain.words import words

_QUESTION_WORDS = frozenset(
    "what when where which who whom whose why how is are was were do does did can could will would".split()
)
_CHORES = frozenset(
    "tell sort convert translate summarise summarize explain define calculate spell count".split()
)
_POINTING = frozenset(
    "i me my mine we us our ours you your here this that today tonight tomorrow now again".split()
)
_WHEN = frozenset(("when",))


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read."""

    text: str
    terms: tuple[Term, ...]  # that can find something
    spoken_terms: tuple[Term, ...]  # the same without names of speakers, who seldom name themselves
    meant: Meant
    days: tuple[Days, ...]
    asks_when: bool
    general: bool  # about the world at large, as it seems

    @property
    def forms(self) -> tuple[str, ...]:
        """As it is asked, then as it would be said by and to each person that it names."""
        said = (form for each in self.meant.sayings for form in (each.by_them, each.to_them))
        return (self.text, *said)


def question(text: str, speakers: Iterable[str], asked_on: date) -> Question:
    """`text`, read by somebody who knows the speakers of the space and the day."""
    plain = words(text)
    who = meant(text, speakers)
    terms = tuple(asked(text))
    name_stems = {stem(name) for name in who.names}
    return Question(
        text=text,
        terms=terms,
        spoken_terms=tuple(term for term in terms if name_stems.isdisjoint(term.stems)) or terms,
        meant=who,
        days=named_days(text, asked_on),
        asks_when=not _WHEN.isdisjoint(plain),
        general=not who.sayings and is_general(text),
    )


def is_general(text: str) -> bool:
    """Whether this is a question or a chore in which no word points at the asker's own world."""
    first = words(text)[:1]
    asks = bool(first) and (first[0] in _QUESTION_WORDS or first[0] in _CHORES)
    return asks and _POINTING.isdisjoint(words(text))
