"""Clean Unicode for stored text, and a normal form for comparison."""

import re
import unicodedata
from collections.abc import Iterator

# Characters that only hide or reorder text. The joiners U+200C and U+200D stay: emoji and Persian need them.
# A variation selector stays only behind the ideograph that it varies: a run of them spells hidden text.
_HIDDEN = re.compile(
    "(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]|"
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")
_MAX_MARKS = 8  # on one letter: no script needs more, and a pile of them hides the lines around it
_MAY_BE_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")
# What shows nothing: controls, joiners, blanks, marks without a letter. And what only looks like a letter to
# a program: fillers, an empty Braille cell, what stands for half a character.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Mc", "Me"))
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffd")
_PART = re.compile(r"[\s\S]{0,16383}[\n \u3002]|[\s\S]+?(?:[\n \u3002]|\Z)")
# What ASCII has of all these.
_ODD_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
# A sign before a word may be part of it: -5 is not 5, .env is not env.
_PUNCTUATION = re.compile(r"[^\w\s%+#.:/@-]|(?<!\w):|(?<!\w)-(?!\d)|[.:/-](?!\w)")


def clean(text: str, *, one_line: bool = False) -> str:
    """Removes characters that can't be stored or only deceive; line breaks become newlines, or spaces."""
    if text.isascii() and not _ODD_ASCII.search(text):  # as most texts are: nothing to remove
        return _SPACES.sub(" ", text) if one_line else text
    text = _SURROGATES.sub("\ufffd", text)
    text = _HIDDEN.sub("", _CONTROLS.sub("", _BREAKS.sub("\n", text)))
    # Before they are normalized as well, for that takes by squares of their number.
    text = _MAY_BE_MARKS.sub(_without_piles, text)
    text = unicodedata.normalize("NFC", text)  # last: what was hidden between a letter and its accent is gone
    text = _MAY_BE_MARKS.sub(_without_piles, text)
    return _SPACES.sub(" ", text) if one_line else text


def parts(text: str) -> Iterator[str]:
    """Splits `text` after breaks between words, into parts of at most 16,384 characters if possible."""
    return (found[0] for found in _PART.finditer(text))


def is_visible(text: str) -> bool:
    """Whether a reader sees anything of `text`."""
    return any(letter not in _FILLERS and unicodedata.category(letter) not in _UNSEEN for letter in text)


def normal_form(text: str) -> str:
    """The form shared by spellings of one sentence: no case, no punctuation at word ends, single spaces."""
    folded = unicodedata.normalize("NFKC", clean(text)).casefold()
    return _SPACES.sub(" ", _PUNCTUATION.sub(" ", folded)).strip()


def _without_piles(found: re.Match[str]) -> str:
    kept: list[str] = []
    row = 0
    for letter in found[0]:
        row = row + 1 if unicodedata.category(letter).startswith("M") else 0
        if row <= _MAX_MARKS:
            kept.append(letter)
    return "".join(kept)
