r"""Stored text as one line that can't be mistaken for markup or instructions.

Headings, closing tags, fences, ids, markers and links stay readable, and `plain` restores the original of
`inline`. Line breaks become `\n`; a character that could begin a structure becomes an HTML entity, only where
it could begin one.
"""

import re
from urllib.parse import quote

from holdfast.domain.memory import UNTRUSTED
from holdfast.domain.text import clean

_ENTITIES = {
    "&": "&amp;",
    "<": "&lt;",
    "#": "&#35;",
    "(": "&#40;",
    ":": "&#58;",
    "[": "&#91;",
    "]": "&#93;",
    "`": "&#96;",
}
_CHARACTERS = {entity: character for character, entity in _ENTITIES.items()}
_ENTITY = "|".join(map(re.escape, _CHARACTERS))

# Blanks, and the invisible characters that `clean` keeps because scripts and emoji need them: `<` + joiner +
# `/system>` reads like a tag.
_BLANK = "[\\s\u034f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_ORIGINS = "|".join(sorted(UNTRUSTED))
# Turns a bracket into an id or a marker.
_MARKER = rf"{_BLANK}*(?:[iI][dD]|[A-Z][\w-]*){_BLANK}*(?=:)"

_DANGEROUS = re.compile(
    rf"""
      \n
    | \\ (?= [\\n\n] | \Z )                     # would read as an escape, or escape what follows the text
    | (?= {_ENTITY} ) &                         # would read as one of our entities
    | < (?= {_BLANK}* [/!?] )                   # a closing tag, a comment, a declaration
    | < (?! [\s\d=<>-] | \Z )                   # an opening tag; `< 5`, `<=` and `<-` are none
    | \[ (?= {_MARKER} )
    | (?<= \] ) \(                              # a link's target
    | \( (?= {_BLANK}* (?i: from \s+ (?:{_ORIGINS}) \b | confidence \s* : ) )      # one of our labels
    | `{{3,}}                                   # a fence
    """,
    re.VERBOSE,
)
_MAYBE_DANGEROUS = re.compile(r"[\n\\&<\[(`]")  # the first character of all of these
_FIRST_BRACKET = re.compile(rf"\A((?:\\n|{_BLANK})*)\[(?=.*\])")
_FIRST_COLON = re.compile(rf"\A({_MARKER}):")
_OUR_COLON = re.compile(rf"\A({_BLANK}*(?i:id|memory|event|cooldown){_BLANK}*):")
_ESCAPED = re.compile(rf"\\[\\n]|{_ENTITY}")


def inline(text: str) -> str:
    """`text`, cleaned, on one line, without anything that could begin a structure."""
    line = clean(text)
    if not _MAYBE_DANGEROUS.search(line):
        return line
    line = _DANGEROUS.sub(lambda found: _escape(found[0]), line)
    # Bullets start with tags in brackets: a text that begins with a bracket would forge another.
    return _FIRST_BRACKET.sub(r"\1&#91;", line)


def plain(line: str) -> str:
    """The cleaned text that `inline`, `label` or `heading` made `line` from."""
    return _ESCAPED.sub(lambda found: _unescape(found[0]), line)


def label(text: str) -> str:
    """`text` for use between brackets: without brackets, and not readable as an id or marker."""
    return _bracketed(text, _FIRST_COLON)


def heading(text: str) -> str:
    """`text` for use after a heading's number signs; blank text gives the empty string."""
    line = inline(clean(text, one_line=True).strip())
    return _ENTITIES["#"] + line[1:] if line.startswith("#") else line


def link_text(text: str) -> str:
    """`text` for use as the text of a Markdown link, unchanged unless it reads as a marker."""
    return _bracketed(text, _OUR_COLON)


def link_target(name: str) -> str:
    """`name` for use as the target of a link: letters and digits unchanged, the rest percent-encoded."""
    return re.sub(r"[^\w.-]", lambda found: quote(found[0], safe=""), clean(name, one_line=True).strip())


def _bracketed(text: str, marker: re.Pattern[str]) -> str:
    line = marker.sub(rf"\1{_ENTITIES[':']}", inline(clean(text, one_line=True).strip()))
    return line.replace("[", _ENTITIES["["]).replace("]", _ENTITIES["]"])


def _escape(found: str) -> str:
    if found == "\n":
        return r"\n"
    if found == "\\":
        return r"\\"
    return "".join(_ENTITIES[character] for character in found)


def _unescape(found: str) -> str:
    if found == r"\n":
        return "\n"
    return "\\" if found == r"\\" else _CHARACTERS[found]
