"""Whom a question is about, and how those people would have said it themselves.

Questions name people ("When did Caroline move?"), people say "I moved" or "you moved". The question is
converted to both forms, and a message is compared with the form that its speaker would have used. English
only.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from holdfast.domain.memory import Message
from holdfast.domain.terms import STOP_WORDS, folded

_NAME = re.compile(r"([^\W\d_]+)(['’]s)?")
_SHORTEST_NAME = 3  # letters of a short form: "Mel" for Melanie
_MOST_PEOPLE = 3  # people whose forms of a question are searched; each costs two vectors
#: "I" in a conversation with an assistant, and the speaker of a message without a speaker's name.
ASKER = "user"
_ROLES = frozenset((ASKER, "assistant", "system", "tool"))
_FIRST_PERSON = frozenset("i me my mine we us our ours myself".split())
#: First names that are ordinary words too.
_ALSO_WORDS = STOP_WORDS | frozenset(
    (
        "abby amber angel april art ash august autumn basil ben bill blake bob brook carol chase"
        " christian clay cliff crystal daisy dale dawn dean dick don drew duke earl ed faith fern flora"
        " forest frank gene glen grace grant guy hank harry hazel heath heather holly hope hunter iris ivy"
        " jack jade jasmine jay jean jewel jo john joy june kay ken kit lance lark laurel lee lily linden"
        " lou mark mason matt max may mike miles nick norm olive otto pat pearl peg penny pierce poppy ray"
        " red reed rich river rob robin rose ruby rusty sage sally sandy skip sky sol stone storm sue"
        " summer terry tom tony trudy van victor viola violet wade ward will winter woody"
    ).split()
)
_AS_FIRST = {
    "she": "I",
    "he": "I",
    "her": "my",
    "his": "my",
    "him": "me",
    "hers": "mine",
    "herself": "myself",
    "himself": "myself",
}
_AS_SECOND = {
    "she": "you",
    "he": "you",
    "her": "your",
    "his": "your",
    "him": "you",
    "hers": "yours",
    "herself": "yourself",
    "himself": "yourself",
}


@dataclass(frozen=True, slots=True)
class Saying:
    """The question as `person` would say it, or as it would be said to them."""

    person: str
    by_them: str
    to_them: str


@dataclass(frozen=True, slots=True)
class Meant:
    """The people that a question names, and whose messages are likelier to answer it."""

    sayings: tuple[Saying, ...] = ()
    about: frozenset[str] = frozenset()  # empty if all are named
    asker: bool = False  # it asks what the asker said
    names: frozenset[str] = frozenset()  # the folded words that only name a speaker

    def said_by(self, message: Message) -> bool:
        """Whether the person in question said it."""
        return message.speaker in self.about or (self.asker and message.role == ASKER)


def meant(question: str, speakers: Iterable[str]) -> Meant:
    """The known speakers that a question is about."""
    people = [speaker for speaker in speakers if speaker.strip() and speaker.casefold() not in _ROLES]
    found = [match[1] for match in _NAME.finditer(question)]
    named = [speaker for speaker in people if any(_means(word, speaker) for word in found)]
    if not named:
        asks_for_self = not _FIRST_PERSON.isdisjoint(word.lower() for word in found)
        return Meant(asker=asks_for_self)
    return Meant(
        sayings=tuple(
            Saying(person, _said(question, person, named, True), _said(question, person, named, False))
            for person in named[:_MOST_PEOPLE]
        ),
        about=frozenset(named) if len(named) < len(people) else frozenset(),
        names=frozenset(folded(word) for word in found if any(_means(word, person) for person in named)),
    )


def _said(question: str, person: str, named: Collection[str], by_them: bool) -> str:
    pronouns = _AS_FIRST if by_them else _AS_SECOND

    def replaced(match: re.Match[str]) -> str:
        word, possessive = match.groups()
        for other in named:
            if _means(word, other):
                first = (other == person) == by_them
                return ("my" if first else "your") if possessive else ("I" if first else "you")
        return match[0] if possessive else pronouns.get(word.lower(), match[0])

    return _NAME.sub(replaced, question)


def _means(word: str, speaker: str) -> bool:
    first = speaker.split()[0]
    if word == first:
        return True
    if word[0].isupper():
        return len(word) >= _SHORTEST_NAME and first.startswith(word)
    # Typed in a hurry, "caroline" is Caroline; but "will" and "grace" are words before they are names.
    return word == first.lower() and len(word) > _SHORTEST_NAME and word not in _ALSO_WORDS
