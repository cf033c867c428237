"""Cuts a message into the sentences that its writer says in his own voice.

What is merely shown (code, logs, quotations, forwarded text) is blanked out and says nothing; every sentence
keeps the place at which it stands. Knows nothing of what is worth keeping.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.prose import BLANK, own_words

MOST_CHARACTERS = 20_000  # of one message; what is longer was pasted, and its end is not read
SHOWN = "[…]"  # stands for what is left out
_MOST_SENTENCE = 2_000  # characters; nobody says longer ones
_TERM = 5  # words: a shorter quotation names something, a longer one is somebody else's speech
_TERM_CHARACTERS = 60
_QUOTED = re.compile(
    r'"([^"\n]*)"|“([^”\n]*)”|„([^“”\n]*)[“”]|«([^»\n]*)»|»([^«\n]*)«|「([^」\n]*)」|『([^』\n]*)』'
    r"|(?<!\w)'([^'\n]+ [^'\n]+)'(?!\w)"
)
_UNCLOSED = re.compile(r':\s*["“„«「][^"”“»」]*$', re.DOTALL)
# Output of programs: a time or a level first, a prompt, a frame of a traceback, an assignment, many signs.
_MACHINE_LINE = re.compile(
    r"\s*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|TRACE)\b"
    r"|Traceback \(|File \"|at [\w.$]+\(|[$>#] \S|[+-]{3} |@@ |={4,}|-{4,}|\w+\s*=\s*\S+;?$|<[^>]+>"
    r"|.*(?:[{}\[\];]|\(\)|=>)\s*$"
    r"|(?:SELECT|INSERT|UPDATE|DELETE)\b.*\b(?:FROM|INTO|SET|WHERE)\b"
    r"|(?:def|class|import|from|return|const|let|var|function|SELECT|INSERT|UPDATE)\b.*[:;(){}=]\s*$)"
)
# A file's name, and its content up to the next empty line.
_FILE = re.compile(r"^[ \t]*[\w./-]+\.\w{1,5}:[ \t]*\n(?:[^\n]*\S[^\n]*(?:\n|$))+", re.MULTILINE)
# What stands behind these is handed over to be worked on, and is not the writer's own claim.
_HANDED_OVER = re.compile(
    r"\b(?:translat\w*|summari[sz]e\w*|proofread|paraphrase|rephrase|reword|polish|shorten"
    r"|übersetz\w*|tradui\w*|traduc\w*|przetłumacz\w*|resum\w*)\b[^.?!\n]{0,60}:\s*(?=\S)",
    re.IGNORECASE,
)
_PASTED = re.compile(r"\n\s*(?:-{3,}|={3,}|from:|subject:|dear\b)", re.IGNORECASE)
_END = re.compile(r"[.!?…]+[\"'”’)\]*]*(?=\s|$)|[。！？]+[」』）]*|\n+")
# "I'm pregnant, remember?" tells.
_TAG = re.compile(r"\w+ \w+, (?:remember|you know|as you know|see)\?$", re.IGNORECASE)
# Many leave out the question mark.
_ASKING = re.compile(
    r"(?:where|what|who|why|how|which|when)(?:'s| (?:do|does|did|is|are|was|were|can|could|should|would)\b)",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|approx|mr|mrs|ms|dr|prof|st|vs|no|nr|inc|ltd|dept|z\.b|bzw|ca|usw|np|al)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: as written, and in the writer's own voice alone (`BLANK` where something is shown)."""

    text: str
    own: str
    start: int
    end: int

    @property
    def asks(self) -> bool:
        if _TAG.search(self.own):
            return False
        return self.text.rstrip("\"'”’)] ").endswith(("?", "？")) or bool(_ASKING.match(self.own))

    @property
    def shown(self) -> float:
        """The share of it that is somebody else's."""
        return self.own.count(BLANK) / max(len(self.own), 1)


def sentences(text: str) -> list[Sentence]:
    """The sentences of a message in order; those that only show something are left out."""
    text = text[:MOST_CHARACTERS]
    own = _own(text)
    found = []
    for start, end in _spans(own):
        while start < end and text[start].isspace():
            start += 1
        here = own[start:end].rstrip()
        if len(here) <= _MOST_SENTENCE and re.search(r"\w", here.replace(BLANK, "")):
            end = start + len(here)
            found.append(Sentence(text[start:end], here, start, end))
    return found


def own_voice(text: str) -> str:
    """What the writer says himself; a sign stands for each passage that he merely shows."""
    own = re.sub(rf"{BLANK}[{BLANK}\s]*{BLANK}|{BLANK}", SHOWN, _own(text[:MOST_CHARACTERS]))
    return re.sub(rf"(?:{re.escape(SHOWN)}\s*)+{re.escape(SHOWN)}", SHOWN, own).strip()


def _own(text: str) -> str:
    """`text` with everything blanked out that is not the writer's own; as long as the text."""
    own = own_words(text)
    own = "\n".join(BLANK * len(line) if _MACHINE_LINE.match(line) else line for line in own.split("\n"))
    own = _FILE.sub(lambda found: _blank(found[0]), own)
    own = _QUOTED.sub(_speech, own)
    own = _UNCLOSED.sub(lambda found: _blank(found[0]), own)
    if handed := _HANDED_OVER.search(own):
        rest = _PASTED.search(own, handed.end()) or handed
        stop = own.find("\n\n", handed.end())
        stop = len(own) if stop < 0 or rest is not handed else stop
        own = own[: handed.end()] + _blank(own[handed.end() : stop]) + own[stop:]
    return own


def _speech(quoted: re.Match[str]) -> str:
    inside = next((part for part in quoted.groups() if part is not None), "")
    names = (
        len(inside.split()) < _TERM and len(inside) <= _TERM_CHARACTERS and inside[-1:] not in tuple(".!?")
    )
    return quoted[0] if names else _blank(quoted[0])


def _blank(text: str) -> str:
    return "".join("\n" if letter == "\n" else BLANK for letter in text)


def _spans(own: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _END.finditer(own):
        if _ABBREVIATED.search(own[start : end.start() + 1]) and end[0] == ".":
            continue
        if end.end() > start:
            yield start, end.end()
        start = end.end()
    if start < len(own):
        yield start, len(own)
