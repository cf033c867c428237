"""Tells what somebody says of himself as another would: "I prefer tea" is "The user prefers tea".

English only, by closed classes of words: pronouns, auxiliaries, adverbs. Code and quotations stay as they
are.
"""

import re
from collections.abc import Mapping
from functools import cache

from holdfast.domain.terms import stem
from holdfast.language.english import is_english

_HELPING = frozenset(
    (
        "can can't cant cannot could couldn't couldnt will won't wont would wouldn't wouldnt must mustn't"
        " should shouldn't shouldnt may might had hadn't did didn't didnt was wasn't wasnt"
    ).split()
)
_FORMS: Mapping[str, str] = {
    "am": "is",
    "are": "is",
    "aren't": "isn't",
    "arent": "isn't",
    "have": "has",
    "haven't": "hasn't",
    "havent": "hasn't",
    "do": "does",
    "don't": "doesn't",
    "dont": "doesn't",
    "were": "was",
    "weren't": "wasn't",
    "go": "goes",
    "be": "is",
}
_UNCHANGED = frozenset("set put cut let read hit".split())
_SHORT: Mapping[str, str] = {"m": " is", "re": " is", "ve": " has", "ll": " will", "d": " would"}
_ADVERBS = (
    "never|always|only|also|really|usually|just|still|hardly|even|already|no longer|now|often|mostly|actually"
    "|personally|mainly|currently|normally|generally"
)
_INVERTED = re.compile(r"\b(?:shall|should|do|did|can|could|will|would|may|might|must|let|have|had)\s$", re.I)
# Behind this "you" is the one who acts.
_CLAUSE = re.compile(
    r"(?:^|[,;:(]|\b(?:and|but|if|when|that|because|so|where|while|unless|until|what|which))\s*$", re.I
)
_KEPT = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
_SENTENCE = re.compile(r"[^.!?…]*(?:[.!?…]+\s*|$)")
_PERSON = {
    "user": r"i|me|my|mine|myself",
    "assistant": r"i|me|my|mine|myself|you|your|yours|yourself",
}
_OWN = frozenset(("my", "mine", "your", "yours"))
_SELF = frozenset(("myself", "yourself"))


def in_third_person(text: str, role: str) -> str:
    """`text`, said by the user or the assistant, as somebody else would tell it.

    What a user says to "you" is said to whichever agent reads it, and stays.
    """
    if not is_english(text):
        return text
    kept: list[str] = []

    def put_away(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    plain = _KEPT.sub(put_away, text.replace("’", "'"))
    told = "".join(_told(sentence, role) for sentence in _SENTENCE.findall(plain))
    return re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], told)


def _told(sentence: str, role: str) -> str:
    """One sentence; whoever is named in it once is "their" from then on."""
    people: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        if found["joined"]:
            return f"{found['joined']} {_named('i', role)}"
        word = found["word"].lower()
        bare = "i" if word in ("im", "ive") else word
        who = _named(bare, role)
        again = who in people
        people.append(who)
        if bare in _SELF:
            return f"themselves{found['adverbs']}{found['verb'] or ''}"
        if bare in _OWN:
            return f"{'their' if again else who + chr(39) + 's'}{found['adverbs']}{found['verb'] or ''}"
        short = {"im": "m", "ive": "ve"}.get(word) or found["short"]
        if short:
            return f"{who}{_SHORT[short.lower()]}{found['adverbs']}{found['verb'] or ''}"
        asked = _INVERTED.search(sentence, 0, found.start())
        acts = not asked and (bare == "i" or _CLAUSE.search(sentence, 0, found.start()))
        verb = found["verb"] or ""
        return f"{who}{found['adverbs']}{f' {_third(verb.strip(), role)}' if acts and verb else verb}"

    told = _pattern(role).sub(replaced, sentence)
    return re.sub(r"^(\W*)the (user|assistant)\b", r"\1The \2", told) if told != sentence else told


def _named(pronoun: str, role: str) -> str:
    """Who a pronoun means in the mouth of one of the two."""
    himself = pronoun in ("i", "me", "my", "mine", "myself")
    return "the user" if himself == (role == "user") else "the assistant"


@cache
def _pattern(role: str) -> re.Pattern[str]:
    pronouns = f"{_PERSON[role]}|im|ive"
    return re.compile(
        rf"(?<![\w'.@/-])(?:(?P<joined>^(?-i:[A-Z][\w-]+) and) i(?![\w'-])"
        rf"|(?P<word>{pronouns})(?:'(?P<short>m|re|ve|ll|d))?(?![\w'-]|\.\w)"
        rf"(?P<adverbs>(?: (?:{_ADVERBS})(?![\w'-]))*)(?P<verb> [a-z]+(?:'t)?(?![\w'-]))?)",
        re.IGNORECASE,
    )


def _third(verb: str, role: str) -> str:
    """A verb as it stands behind "the user"; one in the past, or one that is none, stays."""
    plain = verb.lower()
    if role == "assistant" and plain in _UNCHANGED:  # agents tell what they did
        return verb
    if plain in _FORMS:
        return _FORMS[plain]
    if plain in _HELPING or stem(plain) not in (plain, plain.removesuffix("e")):
        return verb
    if plain.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if plain.endswith("y") and plain[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
