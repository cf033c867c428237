"""Whether a text says when: words like "yesterday" mean another day to every later reader.

English only; what is not understood is taken as dated.
"""

import re

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


def undated(text: str) -> str | None:
    """The words that need a day to be understood, in a text that names none; none, when it is clear."""
    found = _RELATIVE.search(text)
    return found[0] if found is not None and _ABSOLUTE.search(text) is None else None
