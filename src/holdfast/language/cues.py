"""Finds the signs by which a sentence is worth keeping or not; what they are stands in `data/`.

Knows single sentences. What follows from the signs of a whole conversation is the gate's business.
"""

import calendar
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from holdfast.domain.prose import BLANK
from holdfast.language.common_words import without_opening_capital

Kind = str  # decision, insight, fact, preference, project, person, context or feedback

_MONTH = "|".join(name.lower() for name in calendar.month_name if name)
_WEEKDAY = "|".join(name.lower() for name in calendar.day_name)
_SHORT_MONTH = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_SHORT_DAY = "mon|tues?|wed|thu(?:rs)?|fri|sat|sun"
_NUMBER = (
    r"(?:(?<!\d[.,])\d[\d.,]*+k?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|ninety|a hundred|a dozen|half a dozen)"
)
_ANY_MONTH = rf"(?:{_MONTH}|{_SHORT_MONTH})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)"
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_ANY_MONTH}|{_ANY_MONTH}\.? (?:{_NTH}|\d{{1,2}}\b)"
    rf"|\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d\d)|the {_NTH})"
)
_KIN = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fiancée?|son|daughter|kid|child|baby|mother|father|mum|mom"
    "|dad|sister|brother|twin|twins|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|grandma|grandpa"
    "|mother-in-law|father-in-law|in-laws|parents|kids|children"
)
#: A name begins with a capital letter; the patterns around it do not care for case.
_CAPITALS = "".join(letter for letter in map(chr, range(0x41, 0x530)) if letter.isupper())
_NO_NAME = "I|The|This|That|It|We|They|He|She|You|And|But|So|If|When|What|My|Our|No|Yes|Ok|Please"
_NAME = rf"(?-i:(?!(?:{_NO_NAME})\b)(?<!\w)[{_CAPITALS}][\w’'-]*\w)"
_PERSON = rf"(?:{_NAME}(?: {_NAME})?|\b(?:she|he)|my (?:{_KIN}|boss|manager))"
_CLOCK = r"\d{1,2}[:.]\d\d(?: ?[ap]\.?m\b)?|\d{1,2} ?(?:[ap]\.?m\b|o'?clock|uhr)"
_NO_CLOCK = (
    r"%|[a-z]*\d|km|kg|eur|usd|gb|mb|s\b|ms|min|hour|day|week|month|year|people|such|items?|times|percent|of"
)
_INSIDE = r"(?<!-)\w[\w-]*+\.(?:local|internal|lan|corp)\b"
_IP = r"\d{1,3}(?:\.\d{1,3}){3}\b"
#: What may stand in a pattern in curly brackets.
MACROS: Mapping[str, str] = {
    "name": _NAME,
    "person": _PERSON,
    "kin": _KIN,
    "thing": r"[\w-]+",
    "month": rf"(?:{_MONTH})",
    "weekday": rf"(?:{_WEEKDAY}|{_SHORT_DAY})\b",
    "weekdays": rf"(?:{_WEEKDAY})s\b",
    "day": rf"(?:{_WEEKDAY}|today|tomorrow)",
    "number": _NUMBER,
    "date": _DATE,
    "time": rf"(?:{_CLOCK}|noon|midnight|(?:[1-9]|1\d|2[0-4])(?! ?(?:{_NO_CLOCK})))(?![\w%])",
    "address": rf"(?:{_IP}|https?://\S+|port \d{{2,5}}|{_INSIDE})",
}
_LEADING = "ok|yes|no|yeah|nope|right|correct|exactly|perfect|actually|well|hm+|ah|oh"
_WORD = re.compile(r"[^\W\d_]+")
_LITTLE = frozenset(
    (
        "a about after all also an and any are as at be been but by can could did do does don for from get"
        " had has have he her his how i if in into is isn it its just like ll m me my never no not now of on"
        " one only or our out please re s say she should so some t than that the their them then there they"
        " this to up us use was we were what when where which who will with would you your"
    ).split()
)
_MACRO = re.compile(r"\{([a-z]+)\}")
_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "–": "-", "—": "-", BLANK: " "})


@dataclass(frozen=True, slots=True)
class Cue:
    """One sign, as the data describe it."""

    name: str
    weight: int
    pattern: re.Pattern[str]
    kind: Kind | None
    importance: int
    unless: frozenset[str]  # other signs beside which it does not count
    whole: bool  # holds for the whole message, not for its sentence alone
    why: str


def cues_in(text: str) -> list[Cue]:
    """The signs that a sentence shows, heaviest first."""
    plain = without_opening_capital(text.translate(_TYPOGRAPHY))
    known = _cues("cues.toml") if is_english(text) else _cues("other_languages.toml")
    found = [cue for cue in known if cue.pattern.search(plain)]
    there = {cue.name for cue in found}
    return [cue for cue in found if cue.unless.isdisjoint(there)]


@lru_cache(maxsize=1_000)
def is_english(text: str) -> bool:
    """Whether a sentence is written in English, or too short to tell."""
    found = [word.casefold() for word in _WORD.findall(text)]
    unknown_letters = sum(not letter.isascii() for letter in text if letter.isalpha())
    if unknown_letters * 3 > sum(map(str.isalpha, text)):
        return False
    english = sum(word in _LITTLE for word in found)
    other = sum(word in _little_words() for word in found)
    return other <= english or other < 2


@cache
def _little_words() -> frozenset[str]:
    listed = read("other_languages.toml")["little_words"]
    return frozenset(str(listed).split()) - _LITTLE


@cache
def phrases(name: str) -> re.Pattern[str]:
    """The set phrases of one kind, as a pattern between word bounds."""
    listed = _listed(read("phrases.toml")[name])
    return _compiled(rf"(?<![\w'])(?:{'|'.join(map(str, listed))})(?![\w'])")


def begins(name: str, text: str) -> bool:
    """Whether a text begins with a phrase of this kind, whatever leads in."""
    return bool(_compiled(rf"\s*(?:(?:{_LEADING})\b[,.!]*\s*)*(?:{phrases(name).pattern})").match(text))


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return pattern(source)


def pattern(source: str) -> re.Pattern[str]:
    """A pattern of the data, ready for use."""
    return re.compile(_MACRO.sub(lambda found: MACROS[found[1]], source), re.IGNORECASE)


@cache
def _cues(name: str) -> tuple[Cue, ...]:
    rows = [row for row in _listed(read(name)["cue"]) if isinstance(row, dict)]
    return tuple(sorted(map(_cue, rows), key=lambda cue: -cue.weight))


def _cue(row: Mapping[str, object]) -> Cue:
    joined = "|".join(f"(?:{one})" for one in _listed(row["patterns"]))
    kind = row.get("kind")
    return Cue(
        name=str(row["name"]),
        weight=int(str(row["weight"])),
        pattern=pattern(joined if row.get("unspaced") else rf"(?<!\w)(?:{joined})(?:(?<!\w)|(?!\w))"),
        kind=str(kind) if kind else None,
        importance=int(str(row.get("importance", 0))),
        unless=frozenset(map(str, _listed(row.get("unless", [])))),
        whole=bool(row.get("whole", False)),
        why=str(row["why"]),
    )


def _listed(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


@cache
def read(name: str) -> dict[str, object]:
    """A data file of this package."""
    source = files("holdfast.language").joinpath("data", name)
    return tomllib.loads(source.read_text(encoding="utf-8"))
