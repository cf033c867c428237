"""Searches messages, and computes the evidence for each from itself and its neighbours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import nlargest

from holdfast.domain.memory import Message
from holdfast.domain.query import Filter, admits_message, of_memories_only
from holdfast.domain.ranking import Telling
from holdfast.domain.terms import held
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery
from holdfast.engine.quote_rules import Quotations
from holdfast.language import message_ranking
from holdfast.language.message_ranking import Place, ScoredMessage

CANDIDATES = 100  # by words, and by meaning for each form of a query; twice as many for a single form
WIDER = 4  # times as many, if too few match
FEW = 2_000  # matches that are ranked one by one
WITH_NEIGHBOURS = 100  # of the candidates, the best without neighbours


@dataclass(slots=True)
class FoundMessage:
    """A candidate with its evidence."""

    message: Message
    relevance: float
    evidence: Mapping[str, float]
    own: float  # the message's own part of the relevance, which is compared with the floor
    floor: float

    @property
    def by_meaning(self) -> bool:
        return "meaning" in self.evidence

    def answers(self, weight: float = 1.0) -> bool:
        return weight * self.own >= self.floor


@dataclass(frozen=True, slots=True)
class Within:
    """Which messages may be found."""

    where: Filter
    until: datetime | None = None  # later messages are excluded
    not_in: str | None = None  # a session whose agent already has its messages

    @property
    def said_in_time(self) -> Filter:
        """The filter, with the limits of time added."""
        if self.until is None:
            return self.where
        end = self.until + timedelta(microseconds=1)
        before = self.where.created_before
        return replace(self.where, created_before=min(end, before) if before else end)

    def admits(self, message: Message, project: str | None) -> bool:
        return (
            message.findable
            and message.session != self.not_in
            and (self.until is None or message.said_at <= self.until)
            and admits_message(self.where, message, project)
        )


@dataclass(frozen=True, slots=True)
class _Candidates:
    messages: Sequence[Message]
    projects: Mapping[str, str | None]  # by session
    cosines: Mapping[str, Sequence[float]] | None


def search(
    asked: PreparedQuery,
    within: Within,
    tx: Transaction,
    enough: int,
    quotations: Quotations,
    *,
    given: Callable[[FoundMessage], bool],
    most: int,
) -> list[FoundMessage]:
    """The candidates that match, at least `enough` if there are as many.

    Withheld text is no evidence for the best `most` of those that may be `given`: else a neighbour would be
    returned for what it does not say.
    """
    if of_memories_only(within.where) or not (total := tx.message_words.total()):
        return []
    question = asked.question
    counts = tx.message_words.frequencies(question.spoken_terms)
    found = _candidates(asked, [term for term in question.spoken_terms if counts[term]], within, tx, enough)
    telling = Telling.of(question.spoken_terms, counts, total)
    told, wanted = _told(asked, found, within, telling, tx, enough)
    while True:
        answers = _weighed(told, wanted, telling, within, found)
        best = nlargest(most, filter(given, answers), key=lambda each: each.relevance)
        places = [(each.message.session, each.message.number) for each in best]
        lenders = message_ranking.lenders(told, places, telling)
        quotations.look_up(told[place].message for place in lenders)
        out = {place for place in lenders if not quotations.answers(told[place].message, question.terms)}
        if not out:
            return answers
        told = {place: each for place, each in told.items() if place not in out}
        wanted = [place for place in wanted if place not in out]


def _weighed(
    told: Mapping[Place, ScoredMessage],
    wanted: Sequence[Place],
    telling: Telling,
    within: Within,
    found: _Candidates,
) -> list[FoundMessage]:
    by_meaning = found.cosines is not None
    weighed = message_ranking.weighed(told, wanted, telling, by_meaning=by_meaning)
    answers = []
    for place, each in weighed.items():
        message = told[place].message
        least = message_ranking.floor(by_meaning=by_meaning)
        if (relevance := sum(each.evidence.values())) > 0 and within.admits(
            message, found.projects.get(place[0])
        ):
            answers.append(FoundMessage(message, relevance, each.evidence, each.own, least))
    more = message_ranking.to_begin_with(by_meaning=by_meaning)
    if not any(answer.own >= answer.floor + more for answer in answers):
        for answer in answers:
            answer.floor += more
    return answers


def _candidates(
    asked: PreparedQuery, words: Sequence[str], within: Within, tx: Transaction, enough: int
) -> _Candidates:
    """Candidates by meaning and by words; more of them, or all matches, if few of the first match."""
    found: dict[str, Message] = {}
    projects: dict[str, str | None] = {}
    seen: set[str] = set()
    size = CANDIDATES
    near = 2 if len(asked.question.forms) == 1 else 1
    while True:
        by_words = tx.message_words.matching(words, size)
        cosines = asked.cosines(tx.message_vectors, near * size, by_words)
        fresh = [one for one in dict.fromkeys([*by_words, *(cosines or ())]) if one not in seen]
        seen.update(fresh)
        messages = tx.sessions.messages_by_id(fresh)
        projects |= _projects(messages, projects, tx)
        admitted = (each for each in messages if within.admits(each, projects.get(each.session)))
        found |= {message.id: message for message in admitted}
        all_seen = len(by_words) < size and (cosines is None or len(cosines) < near * size)
        if len(found) >= enough or all_seen:
            return _Candidates(list(found.values()), projects, cosines)
        if size == CANDIDATES:
            few = tx.sessions.find_messages(within.said_in_time, FEW + 1)
            if len(few) <= FEW:
                return _of_few(asked, few, within, tx)
        size *= WIDER


def _of_few(asked: PreparedQuery, few: Sequence[Message], within: Within, tx: Transaction) -> _Candidates:
    projects = _projects(few, {}, tx)
    admitted = [each for each in few if within.admits(each, projects.get(each.session))]
    cosines = asked.cosines(tx.message_vectors, 0, [message.id for message in admitted])
    return _Candidates(admitted, projects, cosines)


def _projects(
    messages: Sequence[Message], known: Mapping[str, str | None], tx: Transaction
) -> dict[str, str | None]:
    missing = {message.session for message in messages if message.session not in known}
    return tx.sessions.projects(missing) if missing else {}


def _told(
    asked: PreparedQuery, found: _Candidates, within: Within, telling: Telling, tx: Transaction, enough: int
) -> tuple[dict[Place, ScoredMessage], list[Place]]:
    """The candidates with the messages right before and after the best; and which of all may be found."""
    cosines = found.cosines or {}
    told = message_ranking.heard(found.messages, cosines, asked.question, telling)
    best = message_ranking.promising(told, max(WITH_NEIGHBOURS, enough))
    places = message_ranking.neighbours(best) - told.keys()
    around = [message for message in tx.sessions.around(list(places)) if message.findable]
    if within.until is not None:
        around = [message for message in around if message.said_at <= within.until]
    if found.cosines is not None:
        cosines = asked.cosines(tx.message_vectors, 0, [message.id for message in around]) or {}
    near = message_ranking.heard(around, cosines, asked.question, telling)
    both = told | near
    # An earlier question in the same words is no answer.
    same = held(asked.question.text).stems
    return both, [place for place in (*best, *near) if both[place].holds.stems != same]
