"""Finds what can be counted or measured in a text and brings it to one unit.

60 s, a minute and 1 min come out alike; so do 2 GB and 2048 MB, 9am and nine in the morning,
weekly and every seven days. Knows no calendar: an expression like "last week" is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.compare.moments import MOMENT, read_moment
from holdfast.domain.compare.numerals import NUMBER, read_number

Value = float | str | tuple[int, ...]

_SECOND, _MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = (
    1.0,
    60.0,
    3600.0,
    86400.0,
    604800.0,
    2592000.0,
    31536000.0,
)
_TIME = {
    "millisecond milliseconds ms msec": 0.001,
    "second seconds s sec secs": _SECOND,
    "minute minutes min mins": _MINUTE,
    "hour hours h hr hrs": _HOUR,
    "day days d": _DAY,
    "night nights": _DAY,
    "morning mornings evening evenings": _DAY,
    "week weeks wk wks": _WEEK,
    "fortnight fortnights": 2 * _WEEK,
    "month months": _MONTH,
    "quarter quarters": 3 * _MONTH,
    "year years yr yrs": _YEAR,
    "decade decades": 10 * _YEAR,
}
_SIZE = {"b byte bytes": 1, "kb kib kilobyte kilobytes": 2**10, "mb mib megabyte megabytes": 2**20,
         "gb gib gigabyte gigabytes gig gigs": 2**30, "tb tib terabyte terabytes": 2**40}  # fmt: skip
_LENGTH = {"mm millimetre millimetres": 0.001, "cm centimetre centimetres": 0.01, "m metre metres meter meters": 1,
           "km kilometre kilometres kilometer kilometers": 1000, "mile miles": 1609.34, "foot feet ft": 0.3048,
           "inch inches": 0.0254}  # fmt: skip
_MASS = {
    "g gram grams": 1,
    "kg kilo kilos kilogram kilograms": 1000,
    "lb lbs pound": 453.59,
    "ton tons tonne": 1e6,
}
_SHARE = {"% percent pct per-cent": 1}
_MONEY = {
    "eur euro euros €": "eur",
    "usd dollar dollars $": "usd",
    "gbp pounds quid £": "gbp",
    "chf francs": "chf",
}


def _units() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for kind, units in (
        ("time", _TIME),
        ("size", _SIZE),
        ("length", _LENGTH),
        ("mass", _MASS),
        ("share", _SHARE),
    ):
        table |= {name: (kind, factor) for names, factor in units.items() for name in names.split()}
    return table | {name: (code, 1.0) for names, code in _MONEY.items() for name in names.split()}


_UNITS = _units()
_SPELLED = sorted((unit for unit in _UNITS if len(unit) > 1 or unit in "%€$£"), key=len, reverse=True)
_LETTERS = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_WORDS = "|".join(re.escape(unit) for unit in _SPELLED)
_PERIODS = "|".join(name for names in _TIME for name in names.split() if len(name) > 3)
_ADVERBS = {"hourly": _HOUR, "daily": _DAY, "nightly": _DAY, "overnight": _DAY, "weekly": _WEEK, "fortnightly": 2 * _WEEK,
            "biweekly": 2 * _WEEK, "monthly": _MONTH, "quarterly": 3 * _MONTH, "yearly": _YEAR,
            "annually": _YEAR, "annual": _YEAR}  # fmt: skip
_DURATION = re.compile(
    rf"(?P<half>half an? )(?P<hunit>{_PERIODS})\b"
    rf"|(?P<period>(?:every|each|per|once an?|once per|once every)\s+(?:(?P<other>other|second)\s+|(?P<pnum>{NUMBER})\s*)?"
    rf"(?P<punit>{_PERIODS}|s|h|min))\b"
    rf"|\b(?P<adverb>{'|'.join(_ADVERBS)})\b"
    rf"|(?P<cur>[€$£]|\b(?:eur|usd|gbp|chf)\s)\s?(?P<cnum>{NUMBER})"
    rf"|(?<![\w.])(?P<num>{NUMBER})(?:(?P<tight>{_LETTERS})|[\s-]+(?P<unit>{_WORDS}|[smhdg]|km|kg))(?![\w])"
    rf"|\b(?P<one>an?)\s+(?P<ounit>{_PERIODS})\b"
    rf"|(?<![\w.])v?(?P<version>\d+(?:\.\d+)+)(?![\w])"
    rf"|(?<![\w./])(?P<bare>{NUMBER})(?![\w]|[./]\w)"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One measured or counted value, in the base unit of its kind."""

    kind: str  # time, period, size, length, mass, share, a currency, clock, date, year, version or count
    value: Value
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity and where it stands."""

    start: int
    end: int
    quantity: Quantity


def find_quantities(text: str) -> list[Found]:
    """All quantities of a lower-case text in order, none overlapping."""
    found: list[Found] = []
    for match in MOMENT.finditer(text):
        moment = read_moment(match)
        if moment is not None:
            found.append(Found(match.start(), match.end(), Quantity(moment[0], moment[1], match[0].strip())))
    for start, end in list(_gaps(found, len(text))):
        for match in _DURATION.finditer(text, start, end):
            quantity = _read(match)
            if quantity is not None:
                found.append(Found(match.start(), match.end(), quantity))
    return sorted(found, key=lambda item: item.start)


def equal(left: Quantity, right: Quantity) -> bool:
    """Whether both mean one amount; sizes may count by 1000 or 1024, dates may leave out the year."""
    if left.kind == "date" and right.kind == "date":
        return _same_date(left.value, right.value)
    if isinstance(left.value, float) and isinstance(right.value, float):
        if left.kind != right.kind and {left.kind, right.kind} != {"time", "period"}:
            return False
        return abs(left.value - right.value) <= _slack(left, right) * max(abs(left.value), abs(right.value))
    return left.kind == right.kind and left.value == right.value


def _slack(left: Quantity, right: Quantity) -> float:
    if left.kind == "size":
        return 0.08
    if left.text == right.text or left.kind not in ("time", "period", "length", "mass"):
        return 1e-9
    # A month is 28 to 31 days and a mile 1.6 km to most writers; seconds to weeks are exact.
    rounded = left.kind in ("length", "mass") or any(
        "month" in one.text or "year" in one.text for one in (left, right)
    )
    return 0.04 if rounded else 1e-9


def _same_date(left: Value, right: Value) -> bool:
    assert isinstance(left, tuple) and isinstance(right, tuple)
    return all(a == b or 0 in (a, b) for a, b in zip(left, right, strict=True))


def _gaps(found: list[Found], end: int) -> Iterator[tuple[int, int]]:
    start = 0
    for item in found:
        yield start, item.start
        start = item.end
    yield start, end


def _read(match: re.Match[str]) -> Quantity | None:
    group = match.groupdict()
    text = match[0].strip()
    if group["half"]:
        return Quantity("time", 0.5 * _UNITS[group["hunit"]][1], text)
    if group["period"]:
        count = 2.0 if group["other"] else read_number(group["pnum"]) if group["pnum"] else 1.0
        return Quantity("period", count * _UNITS[group["punit"]][1], text)
    if group["adverb"]:
        return Quantity("period", _ADVERBS[group["adverb"]], text)
    if group["cur"]:
        return Quantity(_UNITS[group["cur"].strip()][0], read_number(group["cnum"]), text)
    if group["num"]:
        kind, factor = _UNITS[group["tight"] or group["unit"]]
        return Quantity(kind, read_number(group["num"]) * factor, text)
    if group["one"]:
        return Quantity("time", _UNITS[group["ounit"]][1], text)
    if group["version"]:
        return Quantity("version", group["version"], text)
    number = read_number(group["bare"])
    if text == "one" and not _counts(match):
        return None
    year = number.is_integer() and 1900 <= number <= 2100 and len(text) == 4
    return Quantity("year" if year else "count", number, text)


_COUNTING = re.compile(r"\s(?!of\b|or\b|and\b|more\b|at\b|in\b|is\b|on\b|to\b)[^\W\d_]{3,}")
_POINTING = re.compile(r"(?:\b(?:the|this|that|new|last|next|no|every|each|which|any|old|other|first)\s|^)$")


def _counts(match: re.Match[str]) -> bool:
    """Whether "one" is a number here and not a pronoun: one sister, but the new one."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    return _COUNTING.match(after) is not None and _POINTING.search(before) is None
