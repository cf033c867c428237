"""Finds names in a text: words with a capital letter that does not come from the beginning of a sentence.

At the beginning a word counts when our word lists do not know it as an ordinary one. Knows nothing of people.
"""

import re

from holdfast.language.common_words import is_ordinary
from holdfast.language.cues import MACROS

NAME = re.compile(MACROS["name"])
#: Written with a capital letter too, and no names.
DAY_OR_MONTH = re.compile(
    rf"(?:{MACROS['month']}|{MACROS['weekday']}|{MACROS['weekdays']}|user)$", re.IGNORECASE
)
_BEGINS = ("", *'.!?…:;"“„‘(\n—–-')


def names(text: str) -> list[str]:
    """The names in a text, each once."""
    found = []
    for name in NAME.finditer(text):
        begins = text[: name.start()].rstrip(" \t")[-1:] in _BEGINS
        if not DAY_OR_MONTH.match(name[0]) and not (begins and is_ordinary(name[0])):
            found.append(name[0].removesuffix("'s").removesuffix("’s"))
    return list(dict.fromkeys(found))
