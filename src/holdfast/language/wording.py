"""Words a passage so that it stands alone: lead-ins off, "I" as the user, relative days with their dates.

Rewrites only what is safe to rewrite by a table; where anything of the speaker would be left, the passage is
quoted instead. Adds no name, number or day that was not said, except the date of a relative day.
"""

import re
from datetime import date, timedelta
from functools import cache

from holdfast.domain.terms import stem
from holdfast.language.common_words import verbs
from holdfast.language.cues import phrases
from holdfast.language.named_days import named_days

_BEHIND_LEAD_IN = r"(?:\s*[,:;.!–—-]+\s+|\s+(?=(?:that|i|i'm|my|we|our|the)\b|(?-i:[A-ZÀ-Þ])))(?:that\s+)?"
_FIRST_PERSON = re.compile(
    r"(?<![\w'’.-])(?:i|i'm|i've|i'd|i'll|me|my|mine|myself)(?![\w'’-])", re.IGNORECASE
)
_AMONG_OTHERS = re.compile(r"\b(?:and|or|nor|than|neither) i\b(?!')|\bi (?:and|or)\b", re.IGNORECASE)
_WITH_VERB = {
    "i'm": "the user is",
    "i am": "the user is",
    "i've": "the user has",
    "i have": "the user has",
    "i'll": "the user will",
    "i'd": "the user would",
    "i was": "the user was",
    "i don't": "the user does not",
    "i do not": "the user does not",
    "i haven't": "the user has not",
    "i do": "the user does",
    "am i": "is the user",
}
_HELPING = (
    "can|can't|cannot|could|couldn't|will|won't|would|wouldn't|must|mustn't|should|shouldn't|may|might|had|did"
    "|didn't"
)
_SAME_VERB = f"{_HELPING}|never|always|only|also|really|usually|just|still|hardly|even|already|no longer"
_PLAIN = {"me": "the user", "my": "the user's", "mine": "the user's", "myself": "themselves"}
_VERB_PHRASE = re.compile(
    rf"(?<![\w'’.-])(?:({'|'.join(re.escape(one) for one in _WITH_VERB)})(?![\w'’-])"
    rf"|i((?: (?:{_SAME_VERB}))*) ([a-z]+(?:'t)?)\b|(me|my|mine|myself)(?![\w'’-]))",
    re.IGNORECASE,
)
_SPECIAL = {"have": "has", "be": "is", "do": "does", "go": "goes"}
_AUXILIARY = frozenset(_HELPING.split("|"))
_DAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
# Not "next Friday": said on a Monday it may mean this week's or the one after.
_RELATIVE = re.compile(
    r"\b(?:the day before yesterday|yesterday|last night|tomorrow|today|tonight"
    rf"|last (?:week|month|year|{_DAY})|next (?:week|month|year)|this (?:month|year)"
    r"|\d{1,3} (?:days|weeks) ago|in \d{1,3} (?:days|weeks))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?…]*(?:[.!?…]+\s*|$)")


@cache
def _lead_in() -> re.Pattern[str]:
    return re.compile(rf"^(?:{phrases('lead_in').pattern}{_BEHIND_LEAD_IN})+", re.IGNORECASE)


def without_lead_in(text: str) -> str:
    """`text` without the words that only lead in; all of it when hardly anything else is left."""
    bare = _lead_in().sub("", text.strip(), count=1)
    return bare if len(bare.split()) >= 3 else text.strip()


def in_third_person(text: str) -> str | None:
    """The passage as somebody else would say it of the user; none where that can't be done safely."""
    plain = text.replace("’", "'")
    if not _FIRST_PERSON.search(plain):
        return text
    if _AMONG_OTHERS.search(plain):
        return None
    told = "".join(_VERB_PHRASE.sub(_told, part) for part in _SENTENCE.findall(plain))
    told = "".join(map(_their, _SENTENCE.findall(told)))
    return None if _FIRST_PERSON.search(told) else _capital(told)


def _their(sentence: str) -> str:
    """Named once in a sentence is enough where no verb depends on it."""
    first = sentence.find("the user")
    head, rest = sentence[: first + 8], sentence[first + 8 :]
    return sentence if first < 0 else head + rest.replace("the user's", "their")


def _told(found: re.Match[str]) -> str:
    if found[1]:
        return _WITH_VERB[found[1].lower()]
    if found[4]:
        return _PLAIN[found[4].lower()]
    adverbs, verb = found[2].lower(), found[3].lower()
    helping = verb in _AUXILIARY or any(word in _AUXILIARY for word in adverbs.split())
    if not helping and _is_base(verb):
        verb = _SPECIAL.get(verb) or _third(verb)
    return f"the user{adverbs} {verb}"


def _is_base(verb: str) -> bool:
    """Whether a verb stands in its present form: "prefer", not "preferred"."""
    return stem(verb) in verbs() and stem(verb) in (verb, verb.removesuffix("e"))


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _capital(text: str) -> str:
    """Sentences that now begin with "the user" begin with a capital letter."""
    return re.sub(r"(^|[.!?…]\s+)the user", lambda found: f"{found[1]}The user", text)


def dated(text: str, said_on: date | None) -> str:
    """`text` with the date behind each relative day, counted from the day it was said on."""
    if said_on is None:
        return text

    def with_date(found: re.Match[str]) -> str:
        day = _resolved(found[0].lower(), said_on)
        return f"{found[0]} ({day})" if day else found[0]

    return _RELATIVE.sub(with_date, text)


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
