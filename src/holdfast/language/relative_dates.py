"""Replaces words like "yesterday", which mean another day to later readers, by dates.

English only; what is not understood counts as dated.
"""

import re
from datetime import date, timedelta

from holdfast.language.named_days import named_days

_UNIT = r"(?:minute|hour|day|night|week|weekend|month|quarter|year)s?"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of)"
_RELATIVE = re.compile(
    rf"\b(?:yesterday|tomorrow|tonight|today|recently|lately|currently|nowadays|right now|just now|these days"
    rf"|at the moment|for now|(?:last|next|this|coming|past) (?:{_UNIT}|{_DAY}|morning|afternoon|evening)"
    rf"|{_COUNT} {_UNIT} (?:ago|from now|earlier)|in {_COUNT} {_UNIT}(?= ?[.,;!]?$)|soon)\b",
    re.IGNORECASE | re.MULTILINE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ABSOLUTE = re.compile(
    rf"\b(?:(?:19|20)\d\d\b|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b"
    rf"|{_MONTH}\.? \d{{1,2}}\b)",
    re.IGNORECASE,
)

_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
# Not "next Friday": said on a Monday it may mean this week's or the one after.
_RESOLVABLE = re.compile(
    r"\b(?:the day before yesterday|yesterday|last night|tomorrow|today|tonight"
    rf"|last (?:week|month|year|{_WEEKDAY})|next (?:week|month|year)|this (?:month|year)"
    r"|\d{1,3} (?:days|weeks) ago|in \d{1,3} (?:days|weeks))\b(?:['’]s\b)?(?! of\b)",
    re.IGNORECASE,
)


def undated(text: str) -> str | None:
    """The words of a text that need a date to be understood; None if there are none."""
    found = _RELATIVE.search(text)
    return found[0] if found is not None and _ABSOLUTE.search(text) is None else None


def dated(text: str, said_on: date | None) -> str:
    """`text` with the date after each relative day, counted from `said_on`."""
    if said_on is None:
        return text

    def with_date(found: re.Match[str]) -> str:
        day = _resolved(found[0].lower().removesuffix("'s").removesuffix("’s"), said_on)
        return f"{found[0]} ({day})" if day else found[0]

    return _RESOLVABLE.sub(with_date, text)


def _resolved(phrase: str, today: date) -> str | None:
    if phrase.startswith(("this month", "next month")):
        month = today.replace(day=1) + timedelta(31 * phrase.startswith("next"))
        return f"{month:%Y-%m}"
    if phrase.startswith(("this year", "next year")):
        return str(today.year + phrase.startswith("next"))
    if phrase.startswith(("today", "tonight")):
        return today.isoformat()
    if phrase.startswith("tomorrow"):
        return _plus(today, 1)
    if phrase.startswith("in "):
        count, unit = phrase.split()[1:3]
        return _plus(today, int(count) * (7 if unit.startswith("week") else 1))
    if phrase.startswith("next week"):
        return f"the week of {_plus(today, 7 - today.weekday())}"
    return _past(phrase, today)


def _plus(day: date, days: int) -> str:
    return (day + timedelta(min(days, (date.max - day).days))).isoformat()


def _past(phrase: str, today: date) -> str | None:
    found = named_days(phrase, today)
    if not found:
        return None
    first, last = found[0].first, found[0].last
    if first == last:
        return first.isoformat()
    match phrase.split()[-1]:
        case "year":
            return str(first.year)
        case "month":
            return f"{first:%Y-%m}"
        case "week":
            return f"the week of {first.isoformat()}"
    return None
