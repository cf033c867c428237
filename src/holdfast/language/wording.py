"""Words a part of a message so that it reads alone on another day, without adding anything to it.

Fillers go, "I" becomes the user, relative days get their dates, an answer gets its question and a pronoun the
sentence that it points at. What can't be completed so is no memory: its message can still be found.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from holdfast.language.names import DAY_OR_MONTH, NAME
from holdfast.language.phrases import opening, phrases
from holdfast.language.relative_dates import dated
from holdfast.language.sentences import spans
from holdfast.language.third_person import in_third_person

MOST_CHARACTERS = 480  # of a memory: the strictest profile takes 500
_LONGEST_BEFORE = 25  # words of a sentence that is put before another
_FRAGMENT = 6  # words of an answer that is no sentence
_LEAST = 2  # words: fewer say nothing without a question
_HE = re.compile(r"(?:she|he|they)(?=['’ ]|s\b)", re.IGNORECASE)
_POINTS = re.compile(
    r"(?:it|its|it['’]s|that|that['’]?s|this|(?:s?he|they)(?:['’]?s|['’]re)?|those|these"
    r"|there(?! (?:is|are)\b|['’]s)|so|then|same|both|his|her|their|him|them|neither"
    r"|the (?:first|second|third|former|latter|other)(?: one)?)(?![\w'’-])",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"this (?:project|repo(?:sitory)?|team|company|codebase|machine|workspace)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(
    r"(?:yes|yep|yeah|yup|no|nope|nah|ja|nein|oui|non|sí|always|never|only|not)(?!\w)", re.IGNORECASE
)
_FOLLOWS = re.compile(r"(?:so|then) ", re.IGNORECASE)
_BEGINS_LINE = re.compile(r"(?:^|\n)[^\w\n]*$")
_SAYS = re.compile(r"\w{2}\W+\w{2}")  # more than "ah."
_QUESTION = re.compile(r"[?？][\"'”’)\]]*$")
_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*$|[`}>=/|]$")  # also code, which gets no full stop
_CODE = re.compile(r"[`_/\\=<>{}()\[\]$@#|~^*\d]|\w[.:]\w|[a-z][A-Z]|^-|--")
_BETWEEN = r"(?:\s*[,:;.!–—-]+\s*|\s+)"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said: a person ("user") or an agent ("assistant")."""

    role: str
    text: str
    said_on: date | None = None


@dataclass(frozen=True, slots=True)
class Worded:
    """A sentence or some that read alone, and the words that they were made of.

    Each with how many messages before the last one it was said: 0 in the message itself, 1 right before it.
    """

    content: str
    taken_from: tuple[tuple[int, str], ...]


def worded(before: Sequence[Utterance], turn: Utterance, start: int, end: int) -> Worded | None:
    """The part of a turn between two places as a memory; none, where it can't stand alone."""
    words = turn.text[start:end].strip()
    answered = _answered(before, turn, start, words)
    if answered is not None:
        question, asker = answered
        taken = ((1, question), (0, words))
        return _checked(f"{_finished(question, asker)} {_finished(_bare(words, answer=True), turn)}", taken)
    told = _bare(words)
    if _FOLLOWS.match(told) and _BEGINS_LINE.search(turn.text, 0, start):
        told = told.split(" ", 1)[1]
    if not _POINTS.match(told) or _HERE.match(told):
        return _checked(_finished(told, turn), ((0, words),))
    return _pointing(told, words, before, turn, start)


def _pointing(
    told: str, words: str, before: Sequence[Utterance], turn: Utterance, start: int
) -> Worded | None:
    """A part that points at something: with the name, or with the sentence that it points at."""
    sentence = _last_sentence(turn.text[:start])
    if not _SAYS.search(_bare(sentence)):
        sentence = ""
    if _HE.match(told):
        where, named = (0, sentence) if sentence else (1, _last_sentence(before[-1].text) if before else "")
        if (name := _only_name(named)) is not None:
            told = _HE.sub(name, told, count=1)
            told = re.sub(rf"^({re.escape(name)})s\b", r"\1's", told)
            return _checked(_finished(told, turn), ((where, named), (0, words)))
    if not sentence or len(sentence.split()) > _LONGEST_BEFORE:
        return None
    told = f"{_finished(_bare(sentence), turn)} {_finished(told, turn)}"
    return _checked(told, ((0, sentence), (0, words)))


def _answered(
    before: Sequence[Utterance], turn: Utterance, start: int, words: str
) -> tuple[str, Utterance] | None:
    """The question that a part answers and could not be understood without, and who asked it."""
    if not before or before[-1].role == turn.role or _bare(turn.text[:start]).strip(" ,.!"):
        return None
    question = _last_sentence(before[-1].text)
    if not _QUESTION.search(question) or not _LEAST < len(question.split()) <= 2 * _LONGEST_BEFORE:
        return None
    opens = turn.text[:start] + words
    fragment = len(_first_sentence(_bare(words)).split()) <= _FRAGMENT
    leans = _YES_OR_NO.match(_bare(opens, answer=True)) or _POINTS.match(_bare(words))
    return (question, before[-1]) if fragment or leans else None


def _checked(content: str, taken: tuple[tuple[int, str], ...]) -> Worded | None:
    """A memory of a fit length; what is too long ends with a sentence, or is none."""
    if len(content) > MOST_CHARACTERS:
        ends = [end for _, end in spans(content) if end <= MOST_CHARACTERS]
        content = content[: ends[-1]].strip() if ends else ""
    return Worded(content, taken) if len(content.split()) > _LEAST else None


def _finished(text: str, turn: Utterance) -> str:
    """A text as it is told of its speaker, with its dates, capital letters and a full stop."""
    text = dated(in_third_person(text, turn.role), turn.said_on)
    text = " ".join(_capital(text[start:end].strip()) for start, end in spans(text)).rstrip(" ,;:–—-")
    return text if not text or _ENDS.search(text) else f"{text}."


def _capital(sentence: str) -> str:
    """A sentence with a capital letter, without what only leads out; code stays as it is written."""
    bare = _leads_out().sub("", sentence, count=1)
    sentence = bare + sentence.rstrip()[-1] if bare != sentence and _ENDS.search(sentence) else bare
    first = sentence.split(" ", 1)[0]
    return sentence if _CODE.search(first.strip(",.;:!?'’")) else sentence[:1].upper() + sentence[1:]


def _bare(text: str, *, answer: bool = False) -> str:
    """`text` without what only leads in or out; all of it, when nothing else is left."""
    text = " ".join(text.split())
    bare = _leads_in(answer).sub("", text, count=1)
    bare = _leads_out().sub("", bare, count=1)
    return bare if bare.strip(" .,!?") else text


@cache
def _leads_in(answer: bool) -> re.Pattern[str]:
    """Words that lead in; an answer keeps its yes or no."""
    free = phrases("lead_in").pattern
    parted = rf"{phrases('lead_in_with_comma').pattern}\s*[,:;.!–—-]+\s*"
    kept = r"(?!(?:yes|yep|yeah|no|nope)\b)" if answer else ""
    back = rf"{opening('retracted').pattern}\s*[,:;.!–—-]+\s*"
    return re.compile(rf"\s*(?:{back})?(?:{kept}(?:{free}{_BETWEEN}|{parted}))*", re.IGNORECASE)


@cache
def _leads_out() -> re.Pattern[str]:
    signs = r"[:;]-?[)D]|[\U0001f300-\U0001faff]"
    one = rf"[\s,.!;–—-]{{1,4}}(?:{phrases('trailing').pattern}|{signs})"
    return re.compile(rf"(?:{one}){{1,4}}[\s.!]{{0,4}}$", re.IGNORECASE)


def _last_sentence(text: str) -> str:
    parts = [text[start:end].strip() for start, end in spans(text)]
    return next((part for part in reversed(parts) if part), "")


def _first_sentence(text: str) -> str:
    return next((text[start:end] for start, end in spans(text)), "")


def _only_name(sentence: str) -> str | None:
    """The one person or thing that a sentence names, besides the word that it begins with."""
    found = {name for name in NAME.findall(sentence) if not DAY_OR_MONTH.match(name)}
    inside = found - {sentence.split()[0].strip(",.")} if len(found) > 1 else found
    return inside.pop().removesuffix("'s").removesuffix("’s") if len(inside) == 1 else None
