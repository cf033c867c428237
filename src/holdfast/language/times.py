"""Reads clock times and calendar dates.

Knows how they are written, not what day it is today. A day and month in digits is read day
first unless that is impossible; a date without a year agrees with any year.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.language.numerals import read_number

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = {name: number for number, name in enumerate(_MONTHS, start=1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_HOURS = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|1[0-2]|0?[1-9])"
_MINUTES = r"(?:five|ten|twenty(?:[\s-]five)?)"  # "five to ten" without "minutes" is a range
_PART = r"in the (?:morning|afternoon|evening)|at night"

Moment = tuple[str, tuple[int, ...] | float]


@cache
def moments() -> re.Pattern[str]:
    """A pattern for clock times and dates in a lower-case text; compiled at first use."""
    return re.compile(
        rf"\b(?P<d1>{_DAY})\s(?:of\s)?(?P<m1>{_NAMES})\b\.?(?:,?\s(?P<y1>(?:19|20)\d\d)\b)?"
        rf"|\b(?P<m2>{_NAMES})\.?\s(?:the\s)?(?P<d2>{_DAY})\b(?!:)(?:,?\s(?P<y2>(?:19|20)\d\d)\b)?"
        rf"|\b(?P<y3>(?:19|20)\d\d)-(?P<m3>[01]?\d)-(?P<d3>[0-3]?\d)\b"
        rf"|(?<![\w/.])(?P<d4>[0-3]?\d)[/.](?P<m4>[01]?\d)(?:[/.](?P<y4>(?:19|20)\d\d)|(?<=/\d\d)|\.)(?![\w/])"
        rf"|\b(?P<h1>[01]?\d|2[0-3])[:.](?P<n1>[0-5]\d)\s?(?P<half1>[ap]\.?m\b\.?)"
        rf"|\b(?P<h2>[01]?\d|2[0-4]):(?P<n2>[0-5]\d)\b"
        rf"|\b(?P<h3>1[0-2]|0?[1-9])\s?(?P<half3>[ap]\.?m)\b"
        rf"|\b(?P<past>(?:half|quarter|{_MINUTES}) past|(?:quarter|{_MINUTES} minutes) to)"
        rf"\s(?P<h4>{_HOURS})\b(?:\s(?P<part4>{_PART}))?"
        rf"|\b(?P<h5>{_HOURS})\s(?P<part5>{_PART}|o'clock)"
        rf"|\b(?P<name>noon|midday|midnight)\b"
    )


def read_moment(match: re.Match[str]) -> Moment | None:
    """("clock", minutes after midnight) or ("date", (month, day, year or 0)); None if it is neither."""
    group = {name: text for name, text in match.groupdict().items() if text}
    for index in "1234":
        if f"d{index}" in group:
            return _date(group[f"d{index}"], group[f"m{index}"], group.get(f"y{index}", "0"))
    if "name" in group:
        return "clock", 0.0 if group["name"] == "midnight" else 720.0
    return _clock(group)


def _date(day_text: str, month_text: str, year_text: str) -> Moment | None:
    day = int(re.sub(r"\D", "", day_text))
    month = _MONTH[month_text] if month_text in _MONTH else int(month_text)
    if month > 12 >= day:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return "date", (month, day, int(year_text))


def _clock(group: dict[str, str]) -> Moment:
    hour = next(read_number(group[f"h{index}"]) for index in "12345" if f"h{index}" in group)
    minute = float(group.get("n1") or group.get("n2") or 0)
    if "past" in group:
        words, _, way = group["past"].rpartition(" ")
        named = {"half": 30.0, "quarter": 15.0}
        minute = named[words] if words in named else read_number(words.removesuffix(" minutes"))
        if way == "to":
            hour, minute = hour - 1, 60.0 - minute
    half = group.get("half1") or group.get("half3") or ""
    part = group.get("part4") or group.get("part5") or ""
    afternoon = (
        half.startswith("p") or "afternoon" in part or "evening" in part or ("night" in part and hour > 6)
    )
    if afternoon and hour < 12:
        hour += 12
    elif half.startswith("a") and hour == 12:
        hour = 0
    return "clock", hour * 60 + minute
