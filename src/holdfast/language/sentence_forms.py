"""Reads from its build what a sentence does: states how things are, orders something, or tells a story.

A lasting state needs no set phrase: "sshd listens on 2222" says what holds, and says it of something by name.
English only; of other languages only names and numbers are seen.
"""

import re
from dataclasses import dataclass

from holdfast.domain.prose import BLANK
from holdfast.domain.terms import stem
from holdfast.language.common_words import verbs, without_opening_capital
from holdfast.language.cues import MACROS, phrases

_WORD = re.compile(r"[^\W_][\w'’/.@+#-]*")
_LEADS = re.compile(
    r"^(?:(?:ok(?:ay)?|now|then|and|but|so|alright|right|great|thanks?|cool|hm+|well|also|next|good|first|just|hey"
    r"|hi|ah|oh|yes|yeah|no|nope|anyway|please|by the way|btw|actually|sorry|correct|exactly|perfect|true)\b"
    r"[,.:;!–-]*\s*)+",
    re.IGNORECASE,
)
_NOT_A_SUBJECT = frozenset(
    (
        "the a an of in on at for with to from by and or no every each all any some my our your his her their"
        " both two three four five six seven eight nine ten many few several other such own same new old last"
    ).split()
)
_WISHES = frozenset("need want go try see think know get have look start wait hope guess".split())
_NOT_PRESENT = ("s", "ed", "ing")
_SELF = frozenset("i i'm i've i'd i'll im".split())
_GROUP = frozenset("we they people everybody everyone".split())
_MODAL = frozenset("should could would might must may".split())
_POINTING = frozenset(
    "it it's this that that's there there's these those mine yours ours hers theirs".split()
)
_POINTING_AT = frozenset("it's that's those they're these it that this they".split())
_A_LABEL = "label"
_NEAR = 7  # words at the beginning of a sentence: later ones belong to something else
_EXPLAINED = 6  # words: what is shorter is a reaction ("that's fine")
_BE = frozenset(
    (
        "is are isn't aren't has have hasn't haven't does doesn't do don't can can't must may will won't"
        " needs"
    ).split()
)
_PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|said|asked|told|tried|took|got|came|saw|sent|made|gave|spent"
    r"|\w{3,}ed)\b",
    re.IGNORECASE,
)
_LASTING = "being|using|missing|going to|running on|during"
_PROGRESS = re.compile(
    rf"\b(?:is|are|am|'m|'re|'s) (?:still |just |now )?(?!{_LASTING})\w{{2,}}ing\b", re.IGNORECASE
)
# camelCase, CAPITALS, snake_case, a/path, file.ext, host01, 1.5, 2222, 40k
_UNIT = "seconds|minutes|hours|days|weeks|months|years"
_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[a-z]+[A-Z]\w*|[A-Z]{2,}[\w-]*|\w+_\w+|(?<!-)[\w-]+/[\w/.-]+|\w+\.\w{2,4}(?=\W|$)"
    r"|[a-z]+-?\d[\w.]*|\d+\.\d[\d.]*|\d{2,}\b|\d+(?:k|m|gb|mb|ms|s|%|h|km|kg|€|\$)"
    rf"|\d+ (?:{_UNIT}))"
)
_SAID_OF_A_NAME = rf"(?:{MACROS['name']}|is|has|does|runs|wants|can|will|only|never|always)"
_NAME = re.compile(rf"(?<=[\w,;:] ){MACROS['name']}|^{MACROS['name']}(?= {_SAID_OF_A_NAME})")
_DAY_NAMES = re.compile(rf"(?:{MACROS['month']}|{MACROS['weekday']})s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Build:
    """What a sentence looks like."""

    orders: bool  # begins with a bare verb: something to be done now
    states: bool  # says in the present tense of some thing or person how it is
    tells: bool  # tells what happened
    goes_on: bool  # what is under way at this moment
    specific: bool  # names, identifiers, figures
    explains: bool  # says of what was just mentioned what it is


def build(own: str) -> Build:
    """The build of a sentence in its writer's own words."""
    text = without_opening_capital(_LEADS.sub("", own.replace(BLANK, " ").replace("’", "'").strip()))
    words = [word.rstrip(".'") for word in _WORD.findall(text)]
    # Behind a word a capital letter is a label: "Gate A has a limit".
    lower = [_A_LABEL if place and word == "A" else word.lower() for place, word in enumerate(words)]
    orders = bool(lower) and bool(phrases("orders").fullmatch(lower[0])) and not _subject_follows(lower)
    states = not orders and _states(lower)
    pointing = len(lower) >= _EXPLAINED and lower[0] in _POINTING_AT
    return Build(
        explains=pointing and not states and not orders,
        orders=orders,
        states=states,
        tells=bool(_PAST.search(text)) and not states,
        goes_on=bool(_PROGRESS.search(text)),
        specific=bool(_IDENTIFIER.search(text))
        or any(not _DAY_NAMES.match(name) for name in _NAME.findall(text)),
    )


def _states(lower: list[str]) -> bool:
    """Whether some thing or person is or does something as a rule."""
    known_verbs = verbs()
    for place, word in enumerate(lower[1:], start=1):
        before = lower[place - 1]
        if before in _NOT_A_SUBJECT or before in _SELF:
            continue
        if word == "have" and before in _MODAL:
            continue  # "you should have seen him" says how it was not
        if (
            word in _BE
            and before not in _POINTING
            and before not in ("you", "what", "how", "who", "why", "if")
        ):
            return True
        if (
            before in _GROUP
            and word not in _WISHES
            and not word.endswith(_NOT_PRESENT)
            and stem(word) in known_verbs
        ):
            return not _PAST.fullmatch(word)
        if (
            word.endswith("s")
            and not word.endswith(("ss", "us"))
            and stem(word) in known_verbs
            and word != stem(word)
        ):
            return before not in ("i", "you", "to")
    if _several_do(lower):
        return True
    return any(
        word.endswith(("'s", "'re"))
        and word not in ("it's", "that's", "there's", "let's", "what's", "here's")
        for word in lower[:3]
    )


def _several_do(lower: list[str]) -> bool:
    """Whether a sentence begins with several things or people and says what they do: "Deliveries come"."""
    if not lower or not lower[0].endswith("s") or lower[0].endswith(("ss", "us", "is", "'s")):
        return False
    for place, word in enumerate(lower[1:_NEAR], start=1):
        if lower[place - 1] not in _NOT_A_SUBJECT and stem(word) == word and word in verbs():
            return word not in _WISHES
    return False


def _subject_follows(lower: list[str]) -> bool:
    """ "Changes go through Kasper" and "open rates doubled" begin like orders and are none."""
    if len(lower) < 3 or lower[1] in _NOT_A_SUBJECT or lower[1] in _POINTING:
        return False
    return lower[1] in _BE or lower[2] in _BE or lower[2].endswith("ed")
