"""Finds what can be counted or measured in a text and brings it to one unit.

60 s, a minute and 1 min come out alike; so do 2 GB and 2048 MB, 9am and nine in the morning,
weekly and every seven days. Knows no calendar: an expression like "last week" is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from holdfast.domain.compare.moments import moments, read_moment
from holdfast.domain.compare.numerals import NUMBER, read_number
from holdfast.domain.compare.units import ADVERBS, MINUTE, SPANS, UNITS

Value = float | str | tuple[int, ...]


def _either(names: Iterator[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_TIGHT = _either(name for name in UNITS)  # right behind the digits: 60s
_LOOSE = _either(name for name in UNITS if len(name) > 1 or not name.isalpha() or name in "smhdg")
_SPANS = "|".join(SPANS)
_TIMES = rf"(?:once|twice|(?:{NUMBER})\s+times)"
_ORDINALS = (
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
)
_FOREVER = 1e12  # seconds; longer than anything that ends
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|some|nearly|almost|under|over)|~)\s*$"
)
_COUNTING = re.compile(r"\s(?!(?:of|or|and|more|at|in|is|on|to)\b)[^\W\d_]{3,}")
_POINTING = re.compile(r"(?:\b(?:the|this|that|new|last|next|no|every|each|which|any|old|other|first)\s|^)$")


@cache
def _amounts() -> re.Pattern[str]:
    """Compiled when first needed: most commands of the product never compare a text."""
    return re.compile(
        rf"\b(?P<whole>an?|{NUMBER})\s+"
        rf"(?:and a half\s+(?P<wunit>{_SPANS})|(?P<wspan>{_SPANS})\s+and a half)\b"
        rf"|\bhalf an? (?P<half>{_SPANS})\b"
        rf"|\b(?P<quarters>a |three )quarters? of an hour\b"
        rf"|\b(?P<times>{_TIMES})\s+(?:(?:an?|per|each|every)\s+(?P<tunit>{_SPANS})"
        rf"|(?P<tadverb>{'|'.join(ADVERBS)}))\b"
        rf"|\b(?:a few|several|some|a couple of|many)\s+(?P<vague>{_SPANS})\b"
        rf"|\b(?P<forever>forever|indefinitely|permanently|for good|without end)\b"
        rf"|\b(?:day\s(?P<dayth>\d\d?)|(?P<nth>\d\d?)(?:st|nd|rd|th)|(?P<nthword>{'|'.join(_ORDINALS)}))\b"
        rf"|\b(?P<every>every|each|per)\s+(?:(?P<other>other|second)\s+|(?P<pnum>{NUMBER})\s*)?"
        rf"(?P<punit>{_SPANS}|s|h|min)\b"
        rf"|\b(?P<adverb>{'|'.join(ADVERBS)})\b"
        rf"|(?P<money>[€$£]|\b(?:eur|usd|gbp|chf)\s)\s?(?P<mnum>{NUMBER})"
        rf"|(?<![\w.])(?P<num>{NUMBER})(?:(?P<tight>{_TIGHT})|[\s-]+(?P<loose>{_LOOSE}))(?!\w)"
        rf"|\b(?P<one>an?)\s+(?P<ounit>{_SPANS})\b"
        rf"|(?<![\w.])v?(?P<version>\d+(?:\.\d+)+)(?!\w)"
        rf"|(?<![\w./])(?P<bare>{NUMBER})(?!\w|[./]\w)"
    )


@dataclass(frozen=True, slots=True)
class Quantity:
    """One measured or counted value, in the base unit of its kind."""

    kind: (
        str  # time, period, size, length, mass, share, a currency, clock, date, year, version, ordinal, count
    )
    value: Value
    text: str
    about: bool = False  # said to be a rough figure


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity and where it stands."""

    start: int
    end: int
    quantity: Quantity


def find_quantities(text: str) -> list[Found]:
    """All quantities of a lower-case text in order, none overlapping."""
    found: list[Found] = []
    for match in moments().finditer(text):
        moment = read_moment(match)
        if moment is not None:
            found.append(Found(match.start(), match.end(), Quantity(moment[0], moment[1], match[0].strip())))
    for start, end in list(_gaps(found, len(text))):
        for match in _amounts().finditer(text, start, end):
            measured = _read(match)
            if measured is not None:
                about = _ABOUT.search(text, max(start, match.start() - 16), match.start()) is not None
                quantity = Quantity(*measured, match[0].strip(), about)
                found.append(Found(match.start(), match.end(), quantity))
    return sorted(found, key=lambda item: item.start)


def equal(left: Quantity, right: Quantity) -> bool:
    """Whether both mean one amount; a date without a year agrees with any year."""
    if isinstance(left.value, tuple) and isinstance(right.value, tuple):
        return all(a == b or 0 in (a, b) for a, b in zip(left.value, right.value, strict=True))
    if isinstance(left.value, float) and isinstance(right.value, float):
        if left.kind != right.kind and {left.kind, right.kind} != {"time", "period"}:
            return False
        return abs(left.value - right.value) <= _slack(left, right) * max(abs(left.value), abs(right.value))
    return left.kind == right.kind and left.value == right.value


def _slack(left: Quantity, right: Quantity) -> float:
    """By which share two amounts may differ and still be one."""
    if left.kind in ("clock", "year", "count", "version", "ordinal", "vague"):
        return 1e-9
    if left.about or right.about:
        return 0.2
    if _unit(left) == _unit(right):
        return 1e-9
    if left.kind == "size":  # gigabytes are counted by 1000 and by 1024
        return 0.08
    # A month is 28 to 31 days, and a mile 1.6 km to most writers; seconds to weeks are exact.
    rounded = left.kind in ("length", "mass") or any(
        "month" in one.text or "year" in one.text or "quarter" in one.text for one in (left, right)
    )
    return 0.04 if rounded else 1e-9


def _unit(quantity: Quantity) -> str:
    return re.sub(r"[\d\s.,]+", "", quantity.text)


def _gaps(found: list[Found], end: int) -> Iterator[tuple[int, int]]:
    start = 0
    for item in found:
        yield start, item.start
        start = item.end
    yield start, end


def _read(match: re.Match[str]) -> tuple[str, Value] | None:
    """Kind and value of what was found, or None if it is no quantity after all."""
    group = match.groupdict()
    if group["vague"]:
        return "vague", UNITS[group["vague"]][1]
    if group["forever"]:
        return "time", _FOREVER
    if group["dayth"] or group["nth"]:
        return "ordinal", float(group["dayth"] or group["nth"])
    if group["nthword"]:
        return "ordinal", 3.0 + _ORDINALS.index(group["nthword"])
    if group["whole"]:  # two and a half hours, an hour and a half
        count = 1.0 if group["whole"] in ("a", "an") else read_number(group["whole"])
        return "time", (count + 0.5) * UNITS[group["wunit"] or group["wspan"]][1]
    if group["half"]:
        return "time", 0.5 * UNITS[group["half"]][1]
    if group["quarters"]:
        return "time", 15 * MINUTE * (3 if group["quarters"] == "three " else 1)
    if group["times"]:
        count = {"once": 1.0, "twice": 2.0}.get(group["times"]) or read_number(
            group["times"].rsplit(None, 1)[0]
        )
        span = UNITS[group["tunit"]][1] if group["tunit"] else ADVERBS[group["tadverb"]]
        return "period", span / max(count, 1e-9)
    if group["every"]:
        count = 2.0 if group["other"] else read_number(group["pnum"]) if group["pnum"] else 1.0
        return "period", count * UNITS[group["punit"]][1]
    if group["adverb"]:
        return "period", ADVERBS[group["adverb"]]
    if group["money"]:
        return UNITS[group["money"].strip()][0], read_number(group["mnum"])
    if group["num"]:
        kind, size = UNITS[group["tight"] or group["loose"]]
        return kind, read_number(group["num"]) * size
    if group["one"]:
        return "time", UNITS[group["ounit"]][1]
    if group["version"]:
        return "version", group["version"]
    return _count(match)


def _count(match: re.Match[str]) -> tuple[str, Value] | None:
    text = match[0].strip()
    if text == "one":  # a number in "one sister", a pronoun in "the new one"
        counting = _COUNTING.match(match.string, match.end())
        pointing = _POINTING.search(match.string[max(0, match.start() - 16) : match.start()])
        if counting is None or pointing is not None:
            return None
    number = read_number(text)
    year = number.is_integer() and 1900 <= number <= 2100 and len(text) == 4
    return "year" if year else "count", number
