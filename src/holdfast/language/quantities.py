"""Finds counted and measured values in a text and converts them to one unit per kind.

60 s, a minute and 1 min are equal; so are 2 GB and 2048 MB, 9am and nine in the morning, weekly and every
seven days. Knows no calendar: "last week" is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from holdfast.language.numerals import FRACTION, NUMBER, PORTION, read_fraction, read_number
from holdfast.language.times import moments, read_moment
from holdfast.language.units import ADVERBS, MINUTE, SPANS, UNITS

Value = float | str | tuple[int, ...]


def _either(names: Iterator[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_TIGHT = _either(name for name in UNITS)  # right behind the digits: 60s
_LOOSE = _either(name for name in UNITS if len(name) > 1 or not name.isalpha() or name in "smhdg")
_SPANS = "|".join(SPANS)
_WRITTEN = _either(name for name in UNITS if len(name) > 3 or name == "day")
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
_FOREVER = 1e12  # seconds; longer than any duration
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|some|nearly|almost|under|over)|~)\s*$"
)
# These vary with each measurement; what is counted, dated or set in days does not.
_JITTER = {"time": 0.1, "rate": 0.1, "power": 0.1, "size": 0.03}
_LONGEST_MEASURED = 86_400.0  # seconds
_LINKS = frozenset({"", " ", " and "})
_LAST_WORD = re.compile(r"[a-z]+$")
_COUNTING = re.compile(r"\s(?!(?:of|or|and|more|at|in|is|on|to)\b)[^\W\d_]{3,}")
_POINTING = re.compile(r"(?:\b(?:the|this|that|new|last|next|no|every|each|which|any|old|other|first)\s|^)$")


@cache
def _amounts() -> re.Pattern[str]:
    """Compiled at first use: most commands never compare a text."""
    return re.compile(
        rf"\b(?P<whole>an?|{NUMBER})\s+(?:and\s(?P<more>{FRACTION})\s+(?P<wunit>{_SPANS})"
        rf"|(?P<wspan>{_SPANS})\s+and\s(?P<wmore>{FRACTION}))\b"
        rf"|\b(?P<often>every\s+)?(?:(?P<part>{FRACTION}|{PORTION})\sof\san?\s|half[\s-](?:an?\s)?)(?P<pspan>{_WRITTEN})\b"
        rf"|\b(?P<share>{FRACTION}|half)(?=\s(?:of|full|empty|done|used|charged|finished|complete)\b)"
        rf"|\b(?P<times>{_TIMES})\s+(?:(?:an?|per|each|every)\s+(?P<tunit>{_SPANS})"
        rf"|(?P<tadverb>{'|'.join(ADVERBS)}))\b"
        rf"|\b(?:a few|several|some|a couple of|many)\s+(?P<vague>{_SPANS})\b"
        rf"|\b(?P<forever>forever|indefinitely|permanently|for good|without end)\b"
        rf"|\b(?:day\s(?P<dayth>\d\d?)|(?P<nth>\d\d?)(?:st|nd|rd|th)|(?P<nthword>{'|'.join(_ORDINALS)})"
        rf"|(?P<early>first|second)(?=\sof\s(?:the|each|every)\smonth))(?:\sof\s(?:the|each|every)\smonth)?\b"
        rf"|\b(?P<every>every|each|per)\s+(?:(?P<other>other|second)\s+|(?P<pnum>{NUMBER})\s*)?"
        rf"(?P<punit>{_SPANS}|s|h|min)\b"
        rf"|\b(?P<adverb>{'|'.join(ADVERBS)})\b"
        rf"|(?P<money>[€$£]|\b(?:eur|usd|gbp|chf)\s)\s?(?P<mnum>{NUMBER})"
        rf"|(?P<between>\bbetween\s)?(?<![\w.])(?<!from\s)(?P<low>{NUMBER})(?:\s?(?P<lunit>{_TIGHT}))?"
        rf"(?:\s?[-\u2013]\s?|\sto\s|(?(between)\sand\s|(?!)))(?P<high>{NUMBER})\s?(?P<runit>{_TIGHT})(?!\w)"
        rf"|(?<![\w.])(?P<num>{NUMBER})(?:(?P<tight>{_TIGHT})|[\s-]+(?P<loose>{_LOOSE}))(?!\w)"
        rf"|\b(?P<one>an?)\s+(?:(?:full|whole|single)\s+)?(?P<ounit>{_SPANS})\b"
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
    within: float = 0.0  # for a range: the distance from the value in its middle to its ends


@dataclass(frozen=True, slots=True)
class FoundQuantity:
    """A quantity and its position."""

    start: int
    end: int
    quantity: Quantity


@lru_cache(maxsize=256)
def find_quantities(text: str) -> Sequence[FoundQuantity]:
    """All quantities of a lower-case text in order, none overlapping."""
    found: list[FoundQuantity] = []
    for match in moments().finditer(text):
        moment = read_moment(match)
        if moment is not None:
            found.append(
                FoundQuantity(match.start(), match.end(), Quantity(moment[0], moment[1], match[0].strip()))
            )
    for start, end in list(_gaps(found, len(text))):
        for match in _amounts().finditer(text, start, end):
            measured = _read(match)
            if measured is not None:
                about = _ABOUT.search(text, max(start, match.start() - 16), match.start()) is not None
                quantity = Quantity(*measured, match[0].strip(), about, _reach(match))
                found.append(FoundQuantity(match.start(), match.end(), quantity))
    return _joined(sorted(found, key=lambda item: item.start), text)


def _joined(found: list[FoundQuantity], text: str) -> list[FoundQuantity]:
    """The quantities, with an hour and twenty minutes as one."""
    joined: list[FoundQuantity] = []
    for item in found:
        before = joined[-1] if joined else None
        more = _going_on(before, item, text) if before is not None else None
        if before is not None and more is not None and isinstance(before.quantity.value, float):
            written = text[before.start : item.end]
            whole = Quantity("time", before.quantity.value + more, written, before.quantity.about)
            joined[-1] = FoundQuantity(before.start, item.end, whole)
        else:
            joined.append(item)
    return joined


def _going_on(before: FoundQuantity, item: FoundQuantity, text: str) -> float | None:
    """The seconds of a smaller unit that continues a time: 2 h 15 min."""
    one, other = before.quantity, item.quantity
    linked = text[before.end : item.start] in _LINKS
    if one.kind != "time" or not linked or not isinstance(other.value, float):
        return None
    minutes = other.kind == "length" and other.text.endswith("m") and other.text[:-1].isdigit()  # 1h 30m
    more = other.value * MINUTE if minutes else other.value
    written = _LAST_WORD.search(one.text)
    unit = UNITS.get(written[0] if written else "", ("", 0.0))
    if not (minutes or other.kind == "time") or unit[0] != "time":
        return None
    return more if more < unit[1] else None


def equal(left: Quantity, right: Quantity) -> bool:
    """Whether both are the same amount; a date without a year equals that date in any year."""
    if isinstance(left.value, tuple) and isinstance(right.value, tuple):
        return all(a == b or 0 in (a, b) for a, b in zip(left.value, right.value, strict=True))
    if isinstance(left.value, float) and isinstance(right.value, float):
        if left.kind != right.kind and {left.kind, right.kind} != {"time", "period"}:
            return False
        slack = _slack(left, right) * max(abs(left.value), abs(right.value))
        return abs(left.value - right.value) <= slack + left.within + right.within
    return left.kind == right.kind and left.value == right.value


def _slack(left: Quantity, right: Quantity) -> float:
    """The relative difference within which two amounts are equal."""
    if left.kind in ("clock", "year", "count", "version", "ordinal", "vague"):
        return 1e-9
    if left.about or right.about:
        return 0.2
    if measured(left) and measured(right):
        return _JITTER[left.kind]
    if _unit(left) == _unit(right):
        return 1e-9
    if left.kind == "size":  # gigabytes are counted by 1000 and by 1024
        return 0.08
    # A month is 28 to 31 days, and a mile 1.6 km to most writers; seconds to weeks are exact.
    rounded = left.kind in ("length", "mass") or any(
        "month" in one.text or "year" in one.text or "quarter" in one.text for one in (left, right)
    )
    return 0.04 if rounded else 1e-9


def measured(quantity: Quantity) -> bool:
    """Whether values of this kind vary with each measurement; dates and counts don't."""
    value = quantity.value
    return quantity.kind in _JITTER and (quantity.kind != "time" or value < _LONGEST_MEASURED)  # type: ignore[operator]


def _unit(quantity: Quantity) -> str:
    return re.sub(r"[\d\s.,]+", "", quantity.text)


def _gaps(found: list[FoundQuantity], end: int) -> Iterator[tuple[int, int]]:
    start = 0
    for item in found:
        yield start, item.start
        start = item.end
    yield start, end


def _read(match: re.Match[str]) -> tuple[str, Value] | None:
    """Kind and value of a match, or None if it is no quantity."""
    group = match.groupdict()
    if group["vague"]:
        return "vague", UNITS[group["vague"]][1]
    if group["forever"]:
        return "time", _FOREVER
    nth = _nth(group)
    if nth is not None:
        return "ordinal", nth
    if group["whole"]:  # two and a half hours, an hour and a half
        count = 1.0 if group["whole"] in ("a", "an") else read_number(group["whole"])
        count += read_fraction(group["more"] or group["wmore"])
        return "time", count * UNITS[group["wunit"] or group["wspan"]][1]
    if group["pspan"]:  # half an hour, three quarters of an hour, every quarter of a minute
        fraction = read_fraction(group["part"] or "half")
        kind, size = UNITS[group["pspan"]]
        return "period" if group["often"] and kind == "time" else kind, fraction * size
    if group["share"]:  # two thirds full
        return "share", 100 * read_fraction(group["share"])
    period = _period(group)
    if period is not None:
        return "period", period
    if group["money"]:
        return UNITS[group["money"].strip()][0], read_number(group["mnum"])
    if group["low"]:
        return UNITS[group["runit"]][0], sum(_ends(match)) / 2
    if group["num"]:
        kind, size = UNITS[group["tight"] or group["loose"]]
        return kind, read_number(group["num"]) * size
    if group["one"]:
        return "time", UNITS[group["ounit"]][1]
    if group["version"]:
        return "version", group["version"]
    return _count(match)


def _reach(match: re.Match[str]) -> float:
    """The distance from the middle of a range to its ends."""
    if not match["low"]:
        return 0.0
    low, high = _ends(match)
    return abs(high - low) / 2


def _ends(match: re.Match[str]) -> tuple[float, float]:
    kind, size = UNITS[match["runit"]]
    own = UNITS.get(match["lunit"] or "", ("", 0.0))
    return read_number(match["low"]) * (own[1] if own[0] == kind else size), read_number(match["high"]) * size


def _period(group: dict[str, str]) -> float | None:
    """The seconds after which it recurs, if it says so."""
    if group["times"]:
        count = {"once": 1.0, "twice": 2.0}.get(group["times"]) or read_number(
            group["times"].rsplit(None, 1)[0]
        )
        span = UNITS[group["tunit"]][1] if group["tunit"] else ADVERBS[group["tadverb"]]
        return span / max(count, 1e-9)
    if group["every"]:
        count = 2.0 if group["other"] else read_number(group["pnum"]) if group["pnum"] else 1.0
        return count * UNITS[group["punit"]][1]
    return ADVERBS[group["adverb"]] if group["adverb"] else None


def _nth(group: dict[str, str]) -> float | None:
    """The position in a sequence, if it says so."""
    if group["dayth"] or group["nth"]:
        return float(group["dayth"] or group["nth"])
    if group["early"]:
        return 1.0 if group["early"] == "first" else 2.0
    return 3.0 + _ORDINALS.index(group["nthword"]) if group["nthword"] else None


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
