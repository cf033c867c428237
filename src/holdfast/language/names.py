"""Finds names in a text: words that are capitalised, not only because they begin a sentence.

The first word of a sentence counts only if something else shows that it is a name: a capitalised word after
it, a capital or digit inside, or the same word later on. Knows nothing of people.
"""

import re

from holdfast.domain.terms import STOP_WORDS

_CAPITALS = "".join(letter for letter in map(chr, range(0x41, 0x530)) if letter.isupper())
_NO_NAME = "I|The|This|That|It|We|They|He|She|You|And|But|So|If|When|What|My|Our|No|Yes|Ok|Please"
NAME = re.compile(rf"(?!(?:{_NO_NAME})\b)(?<!\w)[{_CAPITALS}][\w’'-]*\w")
#: Capitalised, but no names.
DAY_OR_MONTH = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?|user)$",
    re.IGNORECASE,
)
_BEGINS = ("", *'.!?…:;"“„‘(\n—–-')
_MARKED = re.compile(r".+[A-Z\d]")
_NAME_BEHIND = re.compile(rf" [{_CAPITALS}]\w")


def names(text: str) -> list[str]:
    """The names in a text, each once."""
    found = [name for name in NAME.finditer(text) if not DAY_OR_MONTH.match(name[0])]
    inside = {name[0] for name in found if not _begins(name, text)}
    kept = [name[0] for name in found if name[0] in inside or _is_name(name, text)]
    return list(dict.fromkeys(name.removesuffix("'s").removesuffix("’s") for name in kept))


def _begins(name: re.Match[str], text: str) -> bool:
    return text[max(name.start() - 10, 0) : name.start()].rstrip(" \t")[-1:] in _BEGINS


def _is_name(name: re.Match[str], text: str) -> bool:
    """Whether the first word of a sentence is certainly a name."""
    if name[0].lower() in STOP_WORDS:
        return False
    return bool(_MARKED.match(name[0]) or _NAME_BEHIND.match(text, name.end()))
