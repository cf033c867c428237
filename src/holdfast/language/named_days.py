"""Days that a question names, as ranges, and how near a time is to them.

Relative ones ("last week", "yesterday", "in July") count from the day of the question. English only; what is
not understood names no day.
"""

import calendar
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_SHORT = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # by their first months
_NUMBERS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten".split())
} | {"a": 1, "an": 1, "few": 3, "a few": 3, "couple of": 2, "a couple of": 2}
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH = "|".join(_MONTHS)
_ANY_MONTH = "|".join((*_MONTHS, *_SHORT))
_COUNT = rf"\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_ANY_MONTH})\b\.?,?(?: (\d{{4}}))?")
_MONTH_DAY = re.compile(rf"\b({_ANY_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b,?(?: (\d{{4}}))?")
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_MONTH_YEAR = re.compile(rf"\b({_ANY_MONTH})\.?,? (\d{{4}})\b")
# "May" and "march" are verbs, too; as a month they follow such a word or come with a year.
_IN_MONTH = re.compile(rf"\b(?:in|of|during|since|until|by|late|early|mid|this|last|next) ({_MONTH})\b")
_IN_YEAR = re.compile(r"\b(?:in|during|of|since|late|early) ((?:19|20)\d\d)\b(?!-)")
_AGO = re.compile(rf"\b({_COUNT}) (day|week|month|year)s? ago\b")
_WITHIN = re.compile(rf"\b(?:last|past|previous) ({_COUNT}) (day|week|month|year)s\b")
_LAST = re.compile(rf"\b(?:last|previous) (week|weekend|month|year|{'|'.join((*_WEEKDAYS, *_SEASONS))})\b")
_PAST = re.compile(r"\bpast (week|month|year)\b")
_WEEKDAY = re.compile(rf"\b(?:on|since) ({'|'.join(_WEEKDAYS)})\b")

_EARLIEST, _LATEST = date(1000, 1, 1), date(9000, 1, 1)  # a question's date, so that dates around it exist
_TOLD_LATER = 14  # days after an event in which people tell of it
_TOLD_BEFORE = 7  # days before an event in which people mention it
_NEXT_MONTH = 0.4  # the value in the month after the named one
_OTHER_YEAR = 0.5  # the right month of another year: people confuse years
_EARLIER = 0.8  # of an earlier year, if no year was named


@dataclass(frozen=True, slots=True)
class Days:
    """From `first` to `last`."""

    first: date
    last: date
    whole_month: bool = False
    yearless: bool = False  # no year was named: the latest before the question


def named_days(question: str, asked_on: date) -> tuple[Days, ...]:
    """The days that the question names."""
    text = question.lower()
    asked_on = min(max(asked_on, _EARLIEST), _LATEST)
    found = [_day(year, month, day, asked_on) for day, month, year in _DAY_MONTH.findall(text)]
    found += [_day(year, month, day, asked_on) for month, day, year in _MONTH_DAY.findall(text)]
    found += [_day(year, month, day, asked_on) for year, month, day in _ISO.findall(text)]
    if not any(found):
        found = [_month(int(year), _number_of(month)) for month, year in _MONTH_YEAR.findall(text)]
    if not any(found):
        found = [_latest_month(_MONTHS[month], asked_on) for month in _IN_MONTH.findall(text)]
    if not any(found):
        found = [_span(date(int(year), 1, 1), date(int(year), 12, 31)) for year in _IN_YEAR.findall(text)]
    found += _relative(text, asked_on)
    return tuple(days for days in found if days)


def nearness(at: date, named: Iterable[Days]) -> float:
    """1 on the named days, falling to 0 around them."""
    return max((_nearness(at, days) for days in named), default=0.0)


def _nearness(at: date, days: Days) -> float:
    if days.whole_month:
        return _nearness_to_month(at, days)
    if not days.yearless:
        return _faded(at, days.first, days.last)
    near = _faded(at, days.first, days.last)
    there = _date(at.year, days.first.month, days.first.day)
    return max(near, _EARLIER * _faded(at, there, there) if there else 0.0)


def _nearness_to_month(at: date, days: Days) -> float:
    if days.first <= at <= days.last:
        return 1.0
    gap = (at.year - days.first.year) * 12 + at.month - days.first.month
    if days.yearless:
        return _EARLIER * {0: 1.0, 1: _NEXT_MONTH}.get(gap % 12, 0.0) if gap != 1 else _NEXT_MONTH
    if gap == 1:
        return _NEXT_MONTH
    return _OTHER_YEAR if gap % 12 == 0 else 0.0


def _faded(at: date, first: date, last: date) -> float:
    if at < first:
        return max(0.0, 1 - (first - at).days / _TOLD_BEFORE)
    return max(0.0, 1 - max((at - last).days, 0) / _TOLD_LATER)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day(year: str, month: str, day: str, asked_on: date) -> Days | None:
    number = int(month) if month.isdigit() else _number_of(month)
    if year:
        there = _date(int(year), number, int(day))
        return Days(there, there) if there else None
    there = _date(asked_on.year, number, int(day))
    if there and there > asked_on:
        there = _date(asked_on.year - 1, number, int(day))
    return Days(there, there, yearless=True) if there else None


def _number_of(month: str) -> int:
    return _MONTHS.get(month) or _SHORT[month]


def _month(year: int, month: int) -> Days | None:
    if not 1 <= year <= 9998:
        return None
    return Days(
        date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]), whole_month=True
    )


def _latest_month(month: int, asked_on: date) -> Days | None:
    found = _month(asked_on.year - (month > asked_on.month), month)
    return Days(found.first, found.last, whole_month=True, yearless=True) if found else None


def _span(first: date, last: date) -> Days:
    return Days(first, last)


def _relative(text: str, today: date) -> list[Days | None]:
    found: list[Days | None] = []
    for pattern, days_ago in _NEAR_DAYS:
        if pattern.search(text):
            there = _before(today, days_ago)
            found.append(_span(there, there))
            break
    for count, unit in _AGO.findall(text):
        there = _before(today, _number(count) * _LENGTHS[unit])
        slack = _LENGTHS[unit] // 2
        found.append(_span(_before(there, slack), there + timedelta(slack)))
    found += [
        _span(_before(today, _number(count) * _LENGTHS[unit]), today) for count, unit in _WITHIN.findall(text)
    ]
    found += [_span(_before(today, _LENGTHS[unit]), today) for unit in _PAST.findall(text)]
    found += [_last(unit, today) for unit in _LAST.findall(text)]
    found += [_last(weekday, today) for weekday in _WEEKDAY.findall(text)]
    return found


_NEAR_DAYS: Sequence[tuple[re.Pattern[str], int]] = (
    (re.compile(r"\bday before yesterday\b"), 2),
    (re.compile(r"\byesterday\b|\blast night\b"), 1),
    (re.compile(r"\bthis morning\b|\bearlier today\b"), 0),
)


def _last(unit: str, today: date) -> Days:
    match unit:
        case "week":
            monday = _before(today, today.weekday() + 7)
            return _span(monday, monday + timedelta(6))
        case "month":
            end = _before(today.replace(day=1), 1)
            return _span(end.replace(day=1), end)
        case "year":
            return _span(date(today.year - 1, 1, 1), date(today.year - 1, 12, 31))
        case "spring" | "summer" | "autumn" | "fall" | "winter":
            return _season(unit, today)
    weekday = _WEEKDAYS.get(unit, 5)  # a weekend begins on Saturday
    there = _before(today, (today.weekday() - weekday - 1) % 7 + 1)
    return _span(there, there + timedelta(unit == "weekend"))


def _season(name: str, today: date) -> Days:
    """The latest one that has begun; seasons of the northern hemisphere."""
    begin = today.replace(month=_SEASONS[name], day=1)
    begin = begin if begin <= today else begin.replace(year=begin.year - 1)
    return _span(begin, begin + timedelta(91))


def _before(day: date, days: int) -> date:
    return day - timedelta(min(days, (day - date.min).days))


def _number(count: str) -> int:
    return int(count) if count.isdigit() else _NUMBERS[count]
