"""Converts the first person to the third: "I prefer tea" becomes "The user prefers tea".

English only, by closed classes of words: pronouns, auxiliaries, adverbs. Code and quotations stay.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from holdfast.domain.terms import stem

_HELPING = frozenset(
    (
        "can can't cant cannot could couldn't couldnt will won't wont would wouldn't wouldnt must mustn't"
        " shall shan't should shouldn't shouldnt may might had hadn't did didn't didnt was wasn't wasnt"
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
_NO_VERB = frozenset("and or but nor too with without for to from in on at of by as if when than".split())
_UNCHANGED = frozenset("set put cut let read hit".split())
#: Verbs whose "you" is their subject wherever it stands.
_OF_SUBJECTS = frozenset("need want prefer own owe have haven't are aren't do don't".split())
_SHORT: Mapping[str, str] = {"m": " is", "re": " is", "ve": " has", "ll": " will", "d": " would"}
_ADVERBS = (
    "never|always|only|also|really|usually|just|still|hardly|even|already|no longer|now|often|mostly|actually"
    r"|almost|ever|once|both|all|too|(?!(?:app|rep?|supp|multip|comp|imp|f|ral|tal)ly\b)[a-z]{2,}ly"
)
# Before a pronoun that is no subject, or the subject of an auxiliary before it.
_INVERTED = re.compile(
    r"\b(?:shall|should|do|did|can|could|will|would|may|might|must|let|have|had|helps?|lets|makes?)\s$", re.I
)
# Before "I": another subject of the same verb.
_NEAR = 80  # characters before it
_JOINED = re.compile(
    r"(?:^|[,;:(]\s*|\b(?:that|because|when|if|where)\s)(?:(?:my|our|his|her|their|the)\s)?[\w-]+ and $", re.I
)
# Around "mine": what shows that it is a place that is dug.
_THE_MINE = re.compile(
    r"\b(?:the|our|his|its|a|this|that|each|every|any|old|new|\w+ing|coal|gold|salt)\s$", re.I
)
_OF_MINE = re.compile(
    r"\W*$|[^\w\s]|\s(?:is|are|was|were|has|had|have|and|or|but|too|also|as|from|for|than|in|on)\b"
)
_ASKED = re.compile(r"(?<![\w'])(do|don't|are)( the (?:user|assistant)\b(?! and\b|'s))", re.IGNORECASE)
_BEGINS = re.compile(r"^(\W*)([td])(?=he (?:user|assistant)\b|oes the )")
# After this, "you" is the subject.
_CLAUSE = re.compile(
    r"(?:^|[,;:(]|\b(?:and|but|if|when|that|because|so|where|while|unless|until|what|which))\s*$", re.I
)
_KEPT = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
_SENTENCE = re.compile(r".+?(?:[.!?…](?=\s)\s*|$)", re.DOTALL)
_PERSON = {
    "user": r"i|me|my|mine|myself",
    "assistant": r"i|me|my|mine|myself|you|your|yours|yourself",
}
_OWN = frozenset(("my", "mine", "your", "yours"))
_SELF = frozenset(("myself", "yourself"))
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    (
        "a about after all also an and any are as at be been but by can could did do does don for from get"
        " had has have he her his how i if in into is isn it its just like ll m me my never no not now of on"
        " one only or our out please re s say she should so some t than that the their them then there they"
        " this to up us use was we were what when where which who will with would you your"
    ).split()
)
#: Short words of other European languages, none of them an English word.
_OTHERS = frozenset(
    (
        "der die das und ist nicht ein eine einen einem einer mit für auf von zu im den dem des sich auch"
        " wir ich du sie es hat haben sind wird bitte nur noch mehr aber wenn dass oder bei nach aus über"
        " unser mein übrigens le la les un une et est pas que qui dans pour sur avec nous vous je tu il elle"
        " sont était au aux ce cette ne se plus mais ou où notre mon ma être fait déjà quoi el los las y en"
        " por con para una del lo su al como más pero sus ya hay muy está esta este nos mi mis o os um uma"
        " não em na da dos com mas foi ao ele ela já eu meu minha gli e di che è per non sono si della nel"
        " alla come più anche questo questa ci noi abbiamo de het een van ik te dat niet op aan met voor er"
        " maar om hem dan zou wat mijn ons deze naar och att det som på är av för med till har inte ett men"
        " jag vi så kan från eller ikke jeg og af til w z że się nie jest za jak po od ale już ten ta nigdy"
        " tym są dla przez mnie hej v že jsem není jako pro tak už jsme и в не на что с по это как а но из у"
        " за к я мы он она они для от до был была так же если только ещё ve bir bu için ile çok ben var ama"
        " daha gibi vor dir mir uns euch wie toujours jamais chez très siempre nunca"
    ).split()
)


def in_third_person(text: str, role: str) -> str:
    """`text`, said by the user or the assistant, in the third person.

    A user's "you" is any agent that reads it, and stays.
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
    """One sentence; after the first mention the person is "their"."""
    people: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        word = found["word"].lower()
        if word == "mine" and _is_place(sentence, *found.span("word")):
            return found[0]
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
        verb = found["verb"] or ""
        joined = bare == "i" and _JOINED.search(sentence, max(found.start() - _NEAR, 0), found.start())
        subject = bare == "i" or verb.strip() in _OF_SUBJECTS or _CLAUSE.search(sentence, 0, found.start())
        acts = subject and not asked and not joined
        return f"{who}{found['adverbs']}{f' {_third(verb.strip(), role)}' if acts and verb else verb}"

    told = _pattern(role).sub(replaced, sentence)
    if told == sentence:
        return told
    told = _ASKED.sub(lambda found: f"{_FORMS[found[1].lower()]}{found[2]}", told)
    return re.sub(
        r"^(\W*)([td])(he (?:user|assistant)|oes)\b", lambda one: f"{one[1]}{one[2].upper()}{one[3]}", told
    )


def _is_place(sentence: str, start: int, end: int) -> bool:
    """Whether "mine" is where something is dug, and not what somebody owns."""
    if sentence[:start].endswith("of "):
        return False
    return bool(_THE_MINE.search(sentence, 0, start)) or _OF_MINE.match(sentence, end) is None


def _named(pronoun: str, role: str) -> str:
    """Whom a pronoun of this speaker means."""
    himself = pronoun in ("i", "me", "my", "mine", "myself")
    return "the user" if himself == (role == "user") else "the assistant"


@cache
def _pattern(role: str) -> re.Pattern[str]:
    pronouns = f"{_PERSON[role]}|im|ive"
    return re.compile(
        rf"(?<![\w'.@/-])(?P<word>{pronouns})(?:'(?P<short>m|re|ve|ll|d))?(?![\w'-]|\.\w)"
        rf"(?P<adverbs>(?: (?:{_ADVERBS})(?![\w'-]))*)(?P<verb> [a-z]+(?:'t)?(?![\w'-]))?",
        re.IGNORECASE,
    )


def _third(verb: str, role: str) -> str:
    """A verb in the third person; one in the past, and other words, stay."""
    if verb[:1].isupper():  # a name
        return verb
    plain = verb.lower()
    if role == "assistant" and plain in _UNCHANGED:  # agents report what they did
        return verb
    if plain in _FORMS:
        return _FORMS[plain]
    if plain in _HELPING or plain in _NO_VERB or stem(plain) not in (plain, plain.removesuffix("e")):
        return verb
    if plain.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if plain.endswith("y") and plain[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


@lru_cache(maxsize=1_000)
def is_english(text: str) -> bool:
    """Whether a text is in English, or too short to tell."""
    letters = [letter for letter in text if letter.isalpha()]
    if 3 * sum(not letter.isascii() for letter in letters) > len(letters):
        return False
    found = [word.casefold() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in found)
    others = sum(word in _OTHERS for word in found)
    # "im" is German unless there are English words, too.
    return others <= english or (others < 2 and "im" not in found)
