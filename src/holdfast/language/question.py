"""What a question asks for, before anything is searched: its terms, whom and which days it names.

Pure: who has spoken in the space and what day it is are passed in.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from holdfast.domain.terms import asked, stem, words
from holdfast.language.named_days import Days, named_days
from holdfast.language.speaker_forms import Meant, meant

_WHEN = frozenset(("when",))


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read."""

    text: str
    terms: tuple[str, ...]  # that can find something
    spoken_terms: tuple[str, ...]  # the same without names of speakers, who seldom name themselves
    meant: Meant
    days: tuple[Days, ...]
    asks_when: bool

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
        spoken_terms=tuple(term for term in terms if term not in name_stems) or terms,
        meant=who,
        days=named_days(text, asked_on),
        asks_when=not _WHEN.isdisjoint(plain),
    )
