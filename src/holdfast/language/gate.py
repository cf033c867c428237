"""Says of a conversation whether it holds something worth keeping: yes or no, with the reason.

Reads what people say, sentence by sentence, and weighs the signs that `cues` finds; then takes away what was
taken back, declined, supposed or joked. What agents say is read only as what a person answers to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import groupby, pairwise

from holdfast.language.cues import Cue, Kind, begins, cues_in, is_english, phrases
from holdfast.language.sentence_forms import build
from holdfast.language.sentences import MOST_CHARACTERS, Sentence, sentences

THRESHOLD = 2  # the weight from which on a sentence is kept
_STRONG = 3  # a sign that is enough by itself: then what happened is told for what it means
_REACTION = 3  # words: a statement of so few is a reaction
_SHORT = 6  # words of an answer that gives no more than was asked for
_REASON = 10  # characters of what follows it
_BINDING = ("request", "standing", "decision", "lesson")  # meant for later, whatever is done at the moment
#: What makes more than an errand of an order.
_LASTING = ("request", "standing", "preference", "means", "decision")
_BEFORE, _AFTER = 5, 2  # messages within which a game is still the same game
_ARRANGED = ("until", "since", "recurring", "standing")  # under way, and for longer than this talk
TAKEN_BACK = "it was retracted"
PERSON = "user"
AGENT = "assistant"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said: a person ("user") or an agent ("assistant")."""

    role: str
    text: str
    said_on: date | None = None


@dataclass(slots=True)
class ScoredSentence:
    """A sentence with its signs; `message` counts from 0."""

    message: int
    sentence: Sentence
    cues: list[Cue] = field(default_factory=list)
    weight: int = 0
    dropped: str = ""  # why it is not kept in spite of its weight

    @property
    def reason(self) -> str:
        """Why it is kept."""
        return next((cue.why for cue in self.cues if cue.weight > 0), "it states how something is")

    @property
    def kept(self) -> bool:
        return self.weight >= THRESHOLD and not self.dropped

    @property
    def kind(self) -> Kind | None:
        return next((cue.kind for cue in self.cues if cue.kind and cue.weight > 0), None)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a conversation holds something worth keeping, why, and every sentence of a person, weighed."""

    keep: bool
    reason: str
    weighed: tuple[ScoredSentence, ...]


def gate(said: Sequence[Utterance]) -> GateVerdict:
    """The verdict on a piece of conversation."""
    found = [
        _weigh(number, one, said)
        for number, message in enumerate(said)
        if message.role in (PERSON, AGENT)
        for one in sentences(message.text)
    ]
    people = [each for each in found if said[each.message].role == PERSON]
    _in_their_message(people)
    _in_its_conversation(people, said)
    _informed(people)
    _taken_back(people, said)
    kept = [each for each in found if each.kept]
    if kept:
        best = max(kept, key=lambda each: each.weight)
        return GateVerdict(True, best.reason, tuple(found))
    dropped = next((each.dropped for each in people if each.dropped), "nothing in it matters later")
    return GateVerdict(False, dropped, tuple(found))


def _weigh(message: int, sentence: Sentence, said: Sequence[Utterance]) -> ScoredSentence:
    found = cues_in(sentence.own)
    each = ScoredSentence(message, sentence, found, sum(cue.weight for cue in found))
    if said[message].role == AGENT:
        _weigh_finding(each, said)
        return each
    if is_english(sentence.own):
        _weigh_build(each, said)
    asked_for = any(cue.name in ("request", "standing") for cue in found)
    if sentence.shown > 0.5:
        each.dropped = "it is a quotation"
    elif sentence.asks and not (asked_for and is_english(sentence.own) and begins("asked_to", sentence.own)):
        each.dropped = "it is a question"
    elif each.weight < 4 and phrases("welcome").search(sentence.own):
        each.dropped = "it only reacts to an earlier message"
    elif phrases("about_memory").search(sentence.own):
        each.dropped = "it is about the memory itself"
    return each


def _weigh_build(each: ScoredSentence, said: Sequence[Utterance]) -> None:
    """Adds what the build of a sentence tells: a plain statement on something by name may be all."""
    answers = each.message > 0 and said[each.message - 1].role == AGENT
    seen = build(each.sentence.own)
    strong = any(cue.weight >= _STRONG for cue in each.cues)
    if seen.orders and not any(cue.name in _LASTING for cue in each.cues):
        each.weight = min(each.weight - 3, 0)
    if seen.tells and not strong:
        each.weight -= 2
    under_way = seen.goes_on and not any(cue.name in _ARRANGED for cue in each.cues)
    if under_way:
        each.weight -= 1
    if seen.states and not under_way and len(each.sentence.text.split()) > _REACTION:
        each.weight += 1 + seen.specific + answers
    elif answers and ((seen.explains and not seen.tells) or _settles(each, said, seen.specific)):
        each.weight += 2


def _settles(each: ScoredSentence, said: Sequence[Utterance], specific: bool) -> bool:
    """Whether a short answer to "which" or "should I" comes with a reason: then it holds next time too."""
    if each.sentence.start:
        return False
    message = said[each.message].text
    question = said[each.message - 1].text.rsplit("\n", 1)[-1]
    asked = phrases("how_to" if specific else "which_way").search(question)
    reasoned = len(message) - each.sentence.end >= _REASON
    return bool(asked) and len(each.sentence.text.split()) <= _SHORT and reasoned


def _weigh_finding(each: ScoredSentence, said: Sequence[Utterance]) -> None:
    """What an agent found out counts when a person says so, or when it is a lesson in so many words."""
    each.weight = 0
    if each.sentence.asks or each.sentence.shown > 0.2 or any(cue.weight <= -3 for cue in each.cues):
        return
    if len(each.sentence.text.split()) <= _REACTION:
        return
    seen = build(each.sentence.own)
    lesson = bool(phrases("learnt").search(each.sentence.own))
    after = said[each.message + 1] if each.message + 1 < len(said) else None
    heard = after is not None and after.role == PERSON and not points_back(after.text)
    welcome = heard and after is not None and _welcomes(after.text)
    if (lesson and seen.specific) or (welcome and (lesson or seen.specific)):
        each.weight = THRESHOLD


@lru_cache(maxsize=16)  # asked for every sentence of the message before
def points_back(text: str) -> bool:
    """Whether a message asks to keep what was said before it, and says nothing of it itself."""
    return bool(phrases("keep_that").search(text[:MOST_CHARACTERS]))


@lru_cache(maxsize=16)
def _welcomes(text: str) -> bool:
    return bool(phrases("welcome").search(text[:MOST_CHARACTERS]))


def _in_their_message(found: Sequence[ScoredSentence]) -> None:
    """What is supposed or ironic makes all of its message so, unless something else is asked to be kept."""
    supposed: dict[int, str] = {}
    ironic: dict[int, str] = {}
    for each in found:
        for cue in each.cues:
            if cue.whole:
                supposed[each.message] = cue.why
            if cue.whole and cue.name == "irony":
                ironic[each.message] = cue.why
    for each in found:
        if not each.dropped:
            each.dropped = (ironic if _asked(each) else supposed).get(each.message, "")


def _in_its_conversation(found: Sequence[ScoredSentence], said: Sequence[Utterance]) -> None:
    """Drops what is part of a game, and answers that leave open what was asked."""
    games = [bool(phrases("play").search(message.text[:MOST_CHARACTERS])) for message in said]
    put_off = {number for number in range(1, len(said)) if _puts_off(said[number - 1], said[number])}
    for each in found:
        signs = {cue.name for cue in each.cues}
        near = games[max(0, each.message - _BEFORE) : each.message + _AFTER + 1]
        if any(near) and not each.dropped and "request" not in signs:
            each.dropped = "it is part of a game or role play"
        elif each.message in put_off and not each.dropped and signs.isdisjoint(_BINDING):
            each.dropped = "it does not answer the question"


def _puts_off(before: Utterance, answer: Utterance) -> bool:
    """Whether an answer puts off what an agent asked."""
    asked = before.role == AGENT and before.text.rstrip("\"'”’)] ").endswith("?")
    return asked and bool(phrases("left_open").search(answer.text[:MOST_CHARACTERS]))


def _informed(found: Sequence[ScoredSentence]) -> None:
    """A message that only states how things are, and states two or more, is meant to inform."""
    for _, sentences_of_one in groupby(found, key=lambda each: each.message):
        here = list(sentences_of_one)
        plain = all(each.weight > 0 and build(each.sentence.own).states for each in here)
        if len(here) > 1 and plain and not any(each.sentence.asks for each in here):
            for each in here:
                each.weight += 1


def _asked(each: ScoredSentence) -> bool:
    return any(cue.name == "request" for cue in each.cues) and each.weight >= THRESHOLD


def _taken_back(found: Sequence[ScoredSentence], said: Sequence[Utterance]) -> None:
    """Drops what was taken back after it was said, and what a person did not want to have kept."""
    previous = dict(pairwise(dict.fromkeys(each.message for each in found)))
    before = {message: earlier for earlier, message in previous.items()}
    declined = {message for message in {each.message for each in found} if _declined(message, said)}
    open_to = len(found)  # from the last sentence to the first: what a later one dropped keeps its reason
    for place in reversed(range(len(found))):
        each = found[place]
        retracted = phrases("retracted").search(each.sentence.own)
        if not (retracted or each.message in declined):
            continue
        first = place == 0 or found[place - 1].message != each.message
        # Said at the beginning of a message, it is about the one before.
        back = first or each.message in declined
        reach = before.get(each.message, each.message) if back else each.message
        open_to = min(open_to, place + 1)
        while open_to and found[open_to - 1].message >= reach:
            open_to -= 1
            found[open_to].dropped = TAKEN_BACK if retracted else "the user declined to keep it"


def _declined(message: int, said: Sequence[Utterance]) -> bool:
    if message == 0 or not begins("refused", said[message].text):
        return False
    before = said[message - 1]
    return before.role == AGENT and bool(phrases("offered").search(before.text))
