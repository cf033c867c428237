"""Words a part of a message so that it can be understood alone, without adding anything.

Fillers are removed, "I" becomes the user, relative days get dates, an answer gets its question, and a pronoun
the sentence that it refers to. What can't be completed is not stored; its message can still be found.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from holdfast.language.names import NAME, names
from holdfast.language.phrases import opening, phrases
from holdfast.language.relative_dates import dated
from holdfast.language.sentences import spans
from holdfast.language.third_person import in_third_person

MOST_CHARACTERS = 480  # of a memory: the strictest profile takes 500
_LONGEST_BEFORE = 40  # words of a sentence that is put before another
_FRAGMENT = 6  # words of an answer that is no sentence
_NEAR = 2_000  # characters before a part that are read, such as a list between its heading and an item
_LEAST = 2  # words: fewer can't be understood without a question
_SHORT = 3  # words of a message that can't be understood alone
_HE = re.compile(r"(?:she|he)(?=['’ ]|s\b)", re.IGNORECASE)
_HE_OR_HER = re.compile(r"(?:\S+ ){0,3}(?:she|he|her|him|his|hers)(?![\w-])", re.IGNORECASE)
_POINTS = re.compile(
    r"(?:it|its|it['’]s|that|that['’]?s|this|(?:s?he|they)(?:['’]?s|['’]re)?|those|these"
    r"|there(?! (?:is|are)\b|['’]s)|so|then|same|both|his|her|their|him|them|neither"
    r"|the (?:first|second|third|former|latter|other|rest)(?: one| way)?"
    r"|except|unless|otherwise|instead|likewise|either|others?|another|mine|hers|ours|theirs|yours|none"
    r"|from (?:then|there)|(?:after|before|besides?|with|without|for|until|by) (?:that|it|them|him|her))"
    r"(?![\w'’-])",
    re.IGNORECASE,
)
# A pronoun near the beginning, with nothing before it that it may refer to.
_SOON = re.compile(
    r"(?-i:[a-z]|^\w)[\w'’-]*(?: (?-i:[a-z])[\w'’-]*)? "
    r"(?P<pronoun>it|them|him|her|he|she|they|those|these|that one|this one)(?![\w'’-])",
    re.IGNORECASE,
)
_LEANS = re.compile(r"(?:and|but|or|nor|yet|except|though|although|unless|plus)(?!\w)", re.IGNORECASE)
_HERE = re.compile(
    r"this (?:project|repo(?:sitory)?|team|company|codebase|machine|workspace)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(
    r"(?:yes|yep|yeah|yup|no|nope|nah|ja|nein|oui|non|sí|always|never|only|not)(?!\w)", re.IGNORECASE
)
_HANGS = re.compile(r"(?<![\s,;])[\s,;]*\b(?:and|but|or|so|because|then)[\s,;]*$", re.IGNORECASE)
_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|hers?|that|this|those|these|both"
    r"|which(?: ones?)?(?=[?,]| of\b)"
    r"|the (?:two|same)|(?<!is )(?<!are )(?<!was )(?<!over )there(?! (?:is|are)\b))(?![\w'’])",
    re.IGNORECASE,
)
_DANGLES = re.compile(r"[\s,;]+(?:and|but|or|because)[\s,;]*$|[,;]\s*(?:so|then)[\s,;]*$", re.IGNORECASE)
_OPEN = re.compile(r"\w[^\S\n]*\Z")  # the sentence continues
# The line before a list, if an item begins here.
_ITEM = re.compile(
    r"(?:^|\n)([^\n]{2,120}:)[^\S\n]*\n+(?:[^\S\n]*(?:[-*•]|\d{1,2}[.)])[^\n]*\n)*"
    r"[^\S\n]*(?:[-*•]|\d{1,2}[.)])[^\S\n]*\Z"
)
_NUMBER = re.compile(r"(?:^|\n)[^\S\n]*(\d{1,2})[.)][^\S\n]*\Z")
_BULLET = re.compile(r"(?:[-*•·–]|\d{1,2}[.)])\s+")
_FOLLOWS = re.compile(r"(?:so|then) ", re.IGNORECASE)
_BEGINS_LINE = re.compile(r"(?:^|\n)[^\w\n]*$")
_SAYS = re.compile(r"\w{2}\W+\w{2}")  # more than "ah."
_ANYTHING = re.compile(r"\b(?:anything|else|next)\b", re.IGNORECASE)  # asks for nothing in particular
_QUESTION = re.compile(r"[?？][\"'”’)\]]*$")
_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*$|[`}>=/|]$")  # also code, which gets no full stop
_CODE = re.compile(r"[`_/\\=<>{}()\[\]$@#|~^*\d]|\w[.:]\w|[a-z][A-Z]|^-|--")
_BETWEEN = r"(?:\s*[,:;.!–—-]+\s*|\s+)"


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message of a person ("user") or an agent ("assistant")."""

    role: str
    text: str
    said_on: date | None = None


@dataclass(frozen=True, slots=True)
class Worded:
    """One or more self-contained sentences, and the parts that they were made of.

    Each part with the number of messages before the last one: 0 is the message itself.
    """

    content: str
    taken_from: tuple[tuple[int, str], ...]


def worded(before: Sequence[Utterance], turn: Utterance, start: int, end: int) -> Worded | None:
    """The part of a turn between two positions as a memory; None if it can't stand alone."""
    words = turn.text[start:end].strip()
    asked = _asked(before, turn, start, words)
    told = f"{_finished(asked, before[-1])} {_finished(_bare(words, answer=True), turn)}" if asked else ""
    if asked and len(told) <= MOST_CHARACTERS:
        return _checked(told, ((1, asked), (0, words)))
    told = _bare(words)
    if _FOLLOWS.match(told) and _BEGINS_LINE.search(turn.text, max(start - _NEAR, 0), start):
        told = told.split(" ", 1)[1]
    few = len(told.split()) <= _FRAGMENT
    if few and (item := _ITEM.search(turn.text, max(start - _NEAR, 0), start)):
        return _listed(told, item[1], before, turn, words)
    if not _points(words, told) and not _scrap(told, turn, start):
        return _checked(_finished(told, turn), ((0, words),))
    return _pointing(told, before, turn, start, words)


def _listed(told: str, line: str, before: Sequence[Utterance], turn: Utterance, words: str) -> Worded | None:
    """An item of a list with the line before the list, or with the question that this line answers."""
    heading = _last_sentence(line)
    agrees = _YES_OR_NO.search(heading) and len(_bare(heading).split()) <= _SHORT
    if before and agrees and (asked := _question(before[-1].text[-_NEAR:])):
        return _checked(f"{_finished(asked, before[-1])} {_finished(told, turn)}", ((1, asked), (0, words)))
    return _checked(_finished(f"{_bare(heading)} {told}", turn), ((0, heading), (0, words)))


def _scrap(told: str, turn: Utterance, start: int) -> bool:
    """Whether a few words in the middle of a message continue the sentence before."""
    return len(told.split()) <= _LEAST and bool(_SAYS.search(_bare(_last_sentence(turn.text[:start]))))


def _points(words: str, told: str) -> bool:
    """Whether a part refers to something said before it."""
    if _HERE.match(told):
        return False
    return bool(_POINTS.match(told) or _LEANS.match(words) or _SOON.match(told))


def _pointing(
    told: str, before: Sequence[Utterance], turn: Utterance, start: int, words: str
) -> Worded | None:
    """A part that refers to something, completed with the name or the sentence that it refers to."""
    where, by, sentence = 0, turn, _last_sentence(turn.text[:start])
    if len(_bare(sentence).split()) <= _SHORT and (before or not _SAYS.search(_bare(sentence))):
        where, by = 1, before[-1] if before else turn
        sentence = _question(by.text.rstrip()[-_NEAR:]) or _last_sentence(by.text) if before else ""
    elif _OPEN.search(turn.text, max(start - _LEAST, 0), start) and len(sentence.split()) <= _LONGEST_BEFORE:
        whole = f"{sentence} {words}"
        return _checked(_finished(_bare(whole), turn), ((0, whole),))
    said = "\n".join([*(one.text[-_NEAR:] for one in before), turn.text[:_NEAR]])
    named = _named(sentence, said)
    if not named and _HE_OR_HER.match(told) and (found := _naming(before, turn, start, said)):
        where, sentence = found
        by = before[-where] if where else turn
    taken = ((where, sentence), (0, words))
    if len(named) == 1 and _HE.match(told):
        name = named[0]
        told = _HE.sub(name, told, count=1)
        told = re.sub(rf"^({re.escape(name)})s\b", r"\1's", told)
        return _checked(_finished(told, turn), taken)
    if len(sentence.split()) > _LONGEST_BEFORE or not _SAYS.search(sentence):
        needed = _POINTS.match(told)
        return None if needed else _checked(_finished(told, turn), ((0, words),))
    context = _HANGS.sub("", _bare(sentence))
    return _checked(f"{_finished(context, by)} {_finished(told, turn)}", taken)


def _asked(before: Sequence[Utterance], turn: Utterance, start: int, words: str) -> str:
    """The question without which a part can't be understood; empty if none."""
    if not before or before[-1].role == turn.role or start > _NEAR:
        return ""
    if answered := _numbered(before[-1].text, turn.text, start):
        return answered
    lead = _bare(turn.text[:start]).strip(" ,.!")
    fragment = len(_first_sentence(_bare(words)).split()) <= _FRAGMENT
    if len(lead.split()) > _FRAGMENT or (lead and not fragment):
        return ""
    question = _question(before[-1].text.rstrip()[-_NEAR:])
    if not question:
        sentence = _last_sentence(before[-1].text) if len(_bare(turn.text[:_NEAR]).split()) <= _SHORT else ""
        return sentence if _SAYS.search(sentence) else ""
    opens = turn.text[:start] + words
    leans = _YES_OR_NO.match(_bare(opens, answer=True)) or _points(words, _bare(words))
    answers = not lead and not _ANYTHING.search(question)
    return question if answers or fragment or leans else ""


def _numbered(asked: str, text: str, start: int) -> str:
    """The question of a list that an item with the same number answers."""
    item = _NUMBER.search(text, max(start - _NEAR, 0), start)
    line = (
        re.search(rf"^[^\S\n]*{item[1]}[.)] +([^\n]+[?？])[^\S\n]*$", asked, re.MULTILINE) if item else None
    )
    return line[1] if line else ""


def _question(text: str) -> str:
    """The last question of a message, with the sentence before it if it refers to that."""
    parts = [(start, end) for start, end in spans(text) if text[start:end].strip()]
    at = next((at for at in range(len(parts) - 1, -1, -1) if _asks(text, parts[at])), -1)
    if at < 0 or at < len(parts) - 2:
        return ""
    asked = text[slice(*parts[at])]
    if at and (len(asked.split()) <= _SHORT or _REFERS.search(asked)):
        wider = text[parts[at - 1][0] :].strip()
        told = text[slice(*parts[at - 1])].split()
        if len(told) > _LEAST and len(wider.split()) <= 2 * _LONGEST_BEFORE:
            return wider
    asked = text[parts[at][0] :].strip()
    return asked if _LEAST < len(asked.split()) <= 2 * _LONGEST_BEFORE else ""


def _asks(text: str, part: tuple[int, int]) -> bool:
    return _QUESTION.search(text[slice(*part)].strip()) is not None


def _checked(content: str, taken: tuple[tuple[int, str], ...]) -> Worded | None:
    """The memory, if its length is valid; a longer one is cut after a sentence."""
    if len(content) > MOST_CHARACTERS:
        ends = [end for _, end in spans(content) if end <= MOST_CHARACTERS]
        content = content[: ends[-1]].strip() if ends else ""
    return Worded(content, taken) if len(content.split()) > _LEAST else None


def _finished(text: str, turn: Utterance) -> str:
    """A text in the third person, with dates, capital letters and a full stop."""
    text = dated(in_third_person(text, turn.role), turn.said_on)
    told = [_capital(text[start:end].strip()) for start, end in spans(text)]
    text = " ".join(f"{one}." if one[-1:].isalnum() else one for one in told[:-1])
    text = " ".join([text, *told[-1:]]).strip(" ").rstrip(" ,;:–—-")
    return text if not text or _ENDS.search(text) else f"{text}."


def _capital(sentence: str) -> str:
    """A sentence with a capital letter, without introductory words; code stays."""
    sentence = _BULLET.sub("", sentence, count=1) if _BULLET.match(sentence) else sentence
    bare = _leads_out().sub("", sentence, count=1)
    sentence = bare + sentence.rstrip()[-1] if bare != sentence and _ENDS.search(sentence) else bare
    first = sentence.split(" ", 1)[0]
    return sentence if _CODE.search(first.strip(",.;:!?'’")) else sentence[:1].upper() + sentence[1:]


def _bare(text: str, *, answer: bool = False) -> str:
    """`text` without introductory and closing words; all of it if nothing else is left."""
    text = " ".join(text.split())
    bare = _leads_in(answer).sub("", text, count=1)
    bare = _DANGLES.sub("", _leads_out().sub("", bare, count=1))
    return bare if bare.strip(" .,!?") else text


@cache
def _leads_in(answer: bool) -> re.Pattern[str]:
    """A pattern for introductory words; an answer keeps its yes or no."""
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
    line = text.rstrip()[-_NEAR:].rpartition("\n")[2]
    return next((line[start:end].strip() for start, end in reversed([*spans(line)])), "")


def _first_sentence(text: str) -> str:
    return next((text[start:end] for start, end in spans(text)), "")


def _naming(before: Sequence[Utterance], turn: Utterance, start: int, said: str) -> tuple[int, str] | None:
    """The last sentence that names somebody, and how many messages before it was said."""
    for where, text in enumerate([turn.text[:start], *(one.text for one in reversed(before))]):
        for first, last in reversed([*spans(text[-_NEAR:])]):
            sentence = text[-_NEAR:][first:last].strip()
            if _named(sentence, said) and len(sentence.split()) <= _LONGEST_BEFORE:
                return where, sentence
    return None


def _named(sentence: str, said: str) -> list[str]:
    """The names in a sentence; `said`, which holds the sentence, shows what is a name."""
    found = {name.removesuffix("'s").removesuffix("’s") for name in NAME.findall(sentence)}
    return [name for name in names(said) if name in found and not name.isupper()]
