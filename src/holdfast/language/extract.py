"""Makes memories of what the gate kept: one passage each, with kind, subject, importance and tags.

A passage is the sentence that was kept, with the reason that follows it and the question that it answers.
Every name, number and day in it stands in the conversation. How memories are stored is not known here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.language.cues import MACROS, begins, is_english
from holdfast.language.gate import AGENT, PERSON, GateVerdict, ScoredSentence, Utterance, points_back
from holdfast.language.names import DAY_OR_MONTH, NAME, names
from holdfast.language.sentence_forms import build
from holdfast.language.wording import dated, in_third_person, without_lead_in

MOST_CHARACTERS = 480  # of a memory: the strictest profile takes 500
_PASSAGE = 340  # characters to which reasons are added
_INTRODUCTION = 80  # characters of a sentence that only says whom the next one is about
_CONTEXT = 240  # characters of what was asked or reported before
_MOST_TAGS = 5
_LEAST = -1  # the weight of a sentence that may still go on with a passage
_PASSING = -3  # the weight of what is true for a moment only
_QUESTION = 4  # words: a shorter question is about what was said before it
_SHORT = 14  # words: too few to be understood alone
#: The wish to have something kept, which says nothing itself.
KEEP_IT = re.compile(
    r"\s*(?:and |so |please |but )*(?:keep|save|store|note|remember|write|put) (?:it|that|this|them)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"^(She|He|she|he)(?=['’ ])")
_POINTS = re.compile(r"\b(?:it|that|this|them|those|these|so)\b[^?]{0,20}\?$", re.IGNORECASE)
_SUBJECT = re.compile(rf"^({MACROS['name']}(?: {MACROS['name']})?)(?:'s|’s)? (?=[a-z])")
_THING = re.compile(
    r"(?<![\w'])(?:[a-z]+[_/.-]?\d[\w.]*|(?<!-)[\w-]+[_/][\w/.-]+|\d+(?:\.\d+){3}|[A-Z]{2,}\w*)(?![\w'])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A memory in the making; `message` is the number of the one that it cites, from 0."""

    content: str
    kind: str
    subject: str | None
    importance: int
    tags: tuple[str, ...]
    message: int
    said_by: str  # the role of whoever said it
    why: str
    #: The words that it was made of, each with the number of its message; none: all of the message.
    passages: tuple[tuple[int, str | None], ...] = ()


def extract(said: Sequence[Utterance], verdict: GateVerdict) -> list[Extracted]:
    """What is worth keeping of a conversation, in the order in which it was said."""
    made = [_made(passage, said) for passage in _passages(verdict, said)]
    return list({one.content: one for one in made}.values())


def _passages(verdict: GateVerdict, said: Sequence[Utterance]) -> Iterator[list[ScoredSentence]]:
    """Runs of sentences of one message: what was kept, and what belongs to it."""
    found = verdict.weighed
    runs: list[list[ScoredSentence]] = []
    for place, each in enumerate(found):
        last = runs[-1] if runs else None
        if last and last[0].message == each.message and each.kept and KEEP_IT.match(each.sentence.own):
            last.append(each)  # "keep it in mind": what was said before, whatever was asked between
        elif last and place and found[place - 1] is last[-1] and _belongs(each, last, said):
            last.append(each)
        elif each.kept:
            before = found[place - 1] if place else None
            free = before is not None and not (last and before is last[-1])
            runs.append([before, each] if before and free and _introduces(before, each) else [each])
    yield from runs


def _belongs(each: ScoredSentence, run: Sequence[ScoredSentence], said: Sequence[Utterance]) -> bool:
    """Whether a sentence goes on with the passage before it: a reason, a consequence, a detail."""
    first = run[0]
    if each.message != first.message or each.dropped or each.sentence.asks:
        return False
    if each.weight < _LEAST and not (len(run) == 1 and _tells_why(each)):
        return False
    if said[first.message].role == AGENT and not build(each.sentence.own).specific:
        return False
    return each.sentence.end - first.sentence.start <= _PASSAGE


def _tells_why(each: ScoredSentence) -> bool:
    """Whether what happened is told right behind a statement, and nothing else speaks against it."""
    return all(cue.weight > 0 for cue in each.cues) and build(each.sentence.own).tells


def _introduces(before: ScoredSentence, each: ScoredSentence) -> bool:
    """Whether the sentence before says what this one is about."""
    if before.message != each.message or before.dropped or before.sentence.asks:
        return False
    if each.sentence.end - before.sentence.start > _PASSAGE:
        return False
    if _PRONOUN.match(each.sentence.text):
        return before.weight >= 0 and len(before.sentence.text) <= _INTRODUCTION
    if KEEP_IT.match(each.sentence.own):
        return True
    if any(cue.name == "reason" for cue in before.cues):
        return before.weight >= _LEAST  # "it failed because ...", and what follows from it
    leans = before.weight > _PASSING and begins("leaning", each.sentence.own)
    return leans or before.weight > 0 or (before.weight == 0 and not build(before.sentence.own).tells)


def _made(run: Sequence[ScoredSentence], said: Sequence[Utterance]) -> Extracted:
    first = run[0]
    role = said[first.message].role
    text = _joined(run, said[first.message].text)
    kept = [each for each in run if each.kept]
    context = _context(run, said)
    english = all(is_english(each.sentence.own) for each in run)
    if not english and len(said[first.message].text) <= _PASSAGE:
        text = " ".join(said[first.message].text.split())  # not understood well enough to be taken apart
    content = _worded(text, context, said[first.message], _named_before(run, said), english)
    kind = _kind(kept, text)
    if role == AGENT:
        kind = "insight"
    return Extracted(
        content=content,
        kind=kind,
        subject=_subject(content, kind),
        importance=max((cue.importance for each in kept for cue in each.cues if cue.weight > 0), default=0)
        or 3,
        tags=_tags(content),
        message=first.message,
        said_by=role,
        why=max(kept, key=lambda each: each.weight).reason,
        passages=_taken_from(run, context, said),
    )


def _taken_from(
    run: Sequence[ScoredSentence], context: str, said: Sequence[Utterance]
) -> tuple[tuple[int, str | None], ...]:
    """The passage as it stands in its message, and the messages before it that its context quotes."""
    first = run[0].message
    words = said[first].text[run[0].sentence.start : run[-1].sentence.end]
    before = [number for number in (first - 1, first - 2) if context and number >= 0]
    quoted = [number for number in before if _clipped(said[number].text) in context]
    asked = [(first - 1, _last(said[first - 1].text))] if context and first - 1 not in quoted else []
    return ((first, words), *asked, *((number, None) for number in quoted))


def _joined(run: Sequence[ScoredSentence], text: str) -> str:
    """The passage as it was written, without what it shows of others."""
    return " ".join(" ".join(text[each.sentence.start : each.sentence.end].split()) for each in run)


def _worded(text: str, context: str, spoken: Utterance, person: str | None, english: bool) -> str:
    if not english:
        return _cut(f"{context} {text}".strip())
    bare = dated(without_lead_in(text), spoken.said_on)
    if person is not None:
        bare = _PRONOUN.sub(person, bare)
    told = in_third_person(bare) if spoken.role == PERSON else bare
    if told is None:
        return _cut(f'{context} The user said: "{bare}"'.strip())
    if context:
        return _cut(f"{context} {told}")
    return _cut(told[:1].upper() + told[1:] if told[:1].isalpha() and not _keeps_its_case(told) else told)


def _keeps_its_case(text: str) -> bool:
    """Names of machines and commands are written as they are written."""
    return any(sign in text.split()[0] for sign in "_/.0123456789")


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[: MOST_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"


def _context(run: Sequence[ScoredSentence], said: Sequence[Utterance]) -> str:
    """What the passage answers, quoted, when it does not make sense without."""
    first = run[0]
    if first.message == 0 or first.sentence.start > 40 or said[first.message].role == AGENT:
        return ""
    before = said[first.message - 1]
    back = points_back(said[first.message].text)
    if before.role != AGENT or not (back or _leans(first, before)):
        return ""
    asked = _last(before.text).endswith("?")
    question = _last(before.text)
    alone = asked and not back and not _POINTS.search(question) and len(question.split()) >= _QUESTION
    answered = _clipped(_last(before.text) if alone else before.text)
    if back and first.message > 1 and said[first.message - 2].role == PERSON:
        return f'Asked "{_clipped(said[first.message - 2].text)}", the assistant said: "{answered}"'
    return f'Asked "{answered}":' if answered.endswith("?") else f'On "{answered}":'


def _leans(first: ScoredSentence, before: Utterance) -> bool:
    """Whether a passage is only understood with what it answers."""
    short = len(first.sentence.text.split()) <= _SHORT
    return short or begins("leaning", first.sentence.own) or _last(before.text).endswith("?")


def _last(text: str) -> str:
    parts = [part for part in re.split(r"(?<=[.!?…])\s+|\n+", text.strip()) if part]
    return parts[-1] if parts else ""


def _clipped(text: str) -> str:
    text = " ".join(text.replace('"', "'").split())
    if len(text) <= _CONTEXT:
        return text
    sentence = re.search(r"(?<=[.!?…] )\S", text[-_CONTEXT:])
    return text[-_CONTEXT:][sentence.start() :] if sentence else "…" + text[-_CONTEXT:].split(" ", 1)[-1]


def _named_before(run: Sequence[ScoredSentence], said: Sequence[Utterance]) -> str | None:
    """Whom "she" or "he" at the beginning means: the only person named right before."""
    first = run[0]
    earlier = said[first.message].text[: first.sentence.start].strip()
    before = earlier or (said[first.message - 1].text if first.message else "")
    parts = re.split(r"(?<=[.!?…])\s+|\n+", before)
    names = {name for name in NAME.findall(parts[-1]) if not DAY_OR_MONTH.match(name)} if parts else set()
    names -= {part.split()[0] for part in parts if part.split()}
    return names.pop() if len(names) == 1 else None


def _kind(kept: Sequence[ScoredSentence], text: str) -> str:
    cues = sorted((cue for each in kept for cue in each.cues if cue.kind), key=lambda cue: -cue.weight)
    kind = cues[0].kind if cues else None
    if kind == "feedback" and re.search(r"\b(?:i|me|my)\b", text, re.IGNORECASE):
        return "preference"
    return kind or "fact"


def _subject(content: str, kind: str) -> str | None:
    """The name with which the memory begins; of a person, the only one in it."""
    if content.startswith("The user") or not is_english(content):
        return None
    named = names(content)
    found = _SUBJECT.match(content)
    if found and found[1].split()[0] in named:
        return found[1]
    return named[0] if kind == "person" and len(named) == 1 else None


def _tags(content: str) -> tuple[str, ...]:
    """What the memory names, in lower case."""
    things = [*names(content), *_THING.findall(content)] if is_english(content) else _THING.findall(content)
    found = (one.strip(".-/").lower() for one in things)
    return tuple(dict.fromkeys(one for one in found if len(one) > 1))[:_MOST_TAGS]
