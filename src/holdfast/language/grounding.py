"""Checks that a text adds nothing to a conversation: names, numbers and dates that no message contains.

A date is known if a message names it, also in other words ("tomorrow", "May 3"). Other words are free, since
a summary needs its own.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from holdfast.domain.terms import STOP_WORDS, stem, words
from holdfast.language.named_days import named_days
from holdfast.language.names import names
from holdfast.language.numerals import NUMBER, read_number
from holdfast.language.relative_dates import dated

_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_NUMBER = re.compile(rf"(?<![\w.])({NUMBER})(?!\w)")
_DATE = re.compile(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b")
_IN_BRACKETS = re.compile(r"\((?:the week of )?(\d{4}(?:-\d\d){0,2})\)")
_UNTOLD = frozenset(("user", "user's"))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIRST_WORD = re.compile(r"(?:^|[.!?:;]\s+)[\"'“(]*([^\W\d_][\w'’-]*)")
_OPENERS = frozenset(
    "user users asked team teams project company decision deadline preference meeting rule everybody"
    " everyone nobody people releases work".split()
)
#: Words of German, where every noun is capitalised: there a capital letter makes no name.
_GERMAN = re.compile(
    r"\b(?:der|die|das|den|dem|ein|eine|einen|einem|einer|und|ist|sind|nicht|wir|mit|auf|für|von|zum|zur|weil)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?<=[.!?…])\s+|;\s+|,? (?:and|but) ")
#: The question that capture puts before an answer.
_ASKED = re.compile(r"[^.!?…]*\?\s+")
#: The request to remember something, which is no statement itself.
_KEEP_IT = re.compile(
    r"\s*(?:and |so |please |but )*(?:keep|save|store|note|remember|write|put) (?:it|that|this|them)\b",
    re.IGNORECASE,
)
_ALIKE = 4  # letters that the forms of one word share
_OTHER_YEARS = 1  # a day without its year may be of the year before or after


@dataclass(frozen=True)
class Grounds:
    """The messages, each with its date."""

    said: Sequence[tuple[str, date | None]]

    def strange(self, text: str, *, first_words: bool = True) -> list[str]:
        """The names, numbers and dates in `text` that no message contains.

        The `first_words` of sentences are capitalised whatever they are: they are checked if nothing gets
        lost by it.
        """
        dates = [found for found in _DATE.finditer(text) if not self._is_day(found)]
        bare = _DATE.sub(" ", text)
        named = [] if len(_GERMAN.findall(bare)) > 1 else names(bare)
        unknown = [name for name in named if not self._named(name)]
        if first_words:
            unknown += [name for name in _first_words(bare) if name not in unknown and not self._opens(name)]
        unknown += [digits for digits in _DIGITS.findall(bare) if not self._counted(digits)]
        return [*unknown, *(found[0] for found in dates)]

    def _named(self, name: str) -> bool:
        parts = [word for word in words(name) if word not in _UNTOLD]
        return all(part in self._words for part in parts)

    def _opens(self, word: str) -> bool:
        """Whether this capitalised word also begins sentences, so that it need not be a name."""
        found = words(word)[:1]
        plain = found[0] if found else ""
        if plain in STOP_WORDS or plain in _OPENERS:
            return True
        return any(other.startswith(plain[:_ALIKE]) for other in self._words)

    def _counted(self, digits: str) -> bool:
        if digits in self._digits:
            return True
        try:
            return float(digits.replace(",", "")) in self._numbers
        except ValueError:  # a time of day, a version
            return re.sub(r"^0?(\d{1,2}):00$", r"\1", digits) in self._digits

    def _is_day(self, found: re.Match[str]) -> bool:
        """Whether a message names this date, also in other words."""
        if found[0] in self._days or found[0] in self._text:
            return True
        year, month, day = int(found[1]), int(found[2]), found[3]
        if not 1 <= month <= 12:
            return False
        years = {said_on.year for _, said_on in self.said if said_on is not None}
        near = any(abs(year - other) <= _OTHER_YEARS for other in years)
        if not (near or str(year) in self._digits):
            return False
        named = rf"{_MONTHS[month - 1]}[a-z]*\.?"
        if day is None:
            return re.search(rf"\b{named}(?![a-z])", self._text.lower()) is not None
        number = rf"0?{int(day)}(?:st|nd|rd|th)?"
        in_words = rf"{number}\.?(?: of)? {named}|{named} {number}"
        in_digits = rf"{number}[./-]0?{month}|0?{month}[./-]{number}"
        return re.search(rf"\b(?:{in_words}|{in_digits})(?![a-z0-9])", self._text.lower()) is not None

    @cached_property
    def _text(self) -> str:
        return "\n".join(text for text, _ in self.said)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(words(self._text))

    @cached_property
    def _digits(self) -> frozenset[str]:
        found = _DIGITS.findall(self._text)
        return frozenset([*found, *(part for digits in found for part in re.split(r"[.,:]", digits))])

    @cached_property
    def _numbers(self) -> frozenset[float]:
        return frozenset(read_number(found) for found in _NUMBER.findall(self._text.lower()))

    @cached_property
    def _days(self) -> frozenset[str]:
        """The dates of all named days, as far as the rules can tell."""
        found: set[str] = set()
        for text, said_on in self.said:
            if said_on is None:
                continue
            found.update(_IN_BRACKETS.findall(dated(text, said_on)))
            for named in named_days(text, said_on):
                if named.first == named.last:
                    found.add(named.first.isoformat())
        return frozenset(found)


def _first_words(text: str) -> list[str]:
    """The capitalised words at the beginnings of sentences."""
    return [word for word in _FIRST_WORD.findall(text) if word[:1].isupper()]


def answers(text: str) -> bool:
    """Whether a text begins with the question that it answers."""
    return _ASKED.match(text) is not None


def parts(text: str) -> list[str]:
    """The statements of a text, without a question before them and a request to remember them."""
    asked = _ASKED.match(text)
    told = text[asked.end() :] if asked else text
    return [part for part in _PARTS.split(told) if part.strip() and not _KEEP_IT.match(part)]


def statements(text: str) -> list[str]:
    """As `parts`, including an answer that may be just "yes"."""
    found = parts(text)
    return [*found, text] if len(found) == 1 and answers(text) else found


def within(part: Sequence[str], saved: Collection[str]) -> bool:
    """Whether the saved text contains all content words of a few words, in any form."""
    telling = [stem(word) for word in part if word not in STOP_WORDS and word != "user"]
    known = {stem(word)[:_ALIKE] for word in saved}
    return all(word[:_ALIKE] in known for word in telling)
