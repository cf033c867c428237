"""Splits a message into sentences, and finds the parts that are the writer's own words.

Shown text (code, logs, quotations, forwarded text) is blanked out; positions stay valid. Does not decide what
is worth storing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.prose import BLANK, own_words

MOST_CHARACTERS = 8_000  # of one message; a longer one was pasted, and its end is not read
SHOWN = "[…]"  # replaces what is left out
_MOST_SENTENCE = 2_000  # characters; nobody says longer ones
_TERM = 5  # words: a shorter quotation is a name, a longer one is speech
_TERM_CHARACTERS = 60
_NEAR = 40  # characters that tell whether a full stop ends a sentence
_OUTPUT = 2  # lines of a program's output in one paragraph: then it is a log
_QUOTED = re.compile(
    r'"([^"\n]*)"|“([^“”\n]*)”|„([^„“”\n]*)[“”]|«([^«»\n]*)»|»([^«»\n]*)«|「([^「」\n]*)」|『([^『』\n]*)』'
    r"|(?<!\w)'([^'\n][^' \n]*+ [^'\n]+)'(?!\w)"
)
_UNCLOSED = re.compile(r':\s*["“„«「][^"”“»」]*$', re.DOTALL)
_TERM_UNSPACED = 8  # characters of a name in a script that puts no spaces between words
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# Output of programs: a time or a level first, a prompt, a frame of a traceback, an assignment, many signs,
# a comment in code; all of it also as a line of a diff.
_MACHINE_LINE = re.compile(
    r"\s*+(?:\+\s++)?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|TRACE)\b"
    r"|Traceback \(|File \"|at [\w.$]+\(|[$>#] \S|[+-]{3} |//|/\*|@@ |={4,}|-{4,}|\w+\s*=\s*\S+;?$|<[^>]+>"
    r"|(?!\s*+(?:[-*•]|\d{1,2}[.)])\s[^(){}=<>$]*;\s*$).*(?:[{}\[\];]|\(\)|=>)\s*$"
    r"|(?:[a-z][\w.-]* )?(?:WARN|ERR!|ERROR|INFO|NOTICE|FATAL)\b"
    r"|(?:SELECT|INSERT|UPDATE|DELETE)\b.*\b(?:FROM|INTO|SET|WHERE)\b"
    r"|(?:def|class|import|from|return|const|let|var|function|SELECT|INSERT|UPDATE)\b.*[:;(){}=]\s*$)"
)
# Forms that people use, too, but seldom line by line: lower-case levels, versions, file positions, durations.
_MACHINE_LIKE = re.compile(
    r"\s*+(?:(?:warning|error|fatal|success|hint|notice|failed|passed|Warning|Error|Note)(?:: | [A-Z])"
    r"|\[\d+/\d+\]|[✓✔✗✘×•]|[\w-]+(?: [a-z-]+)? v?\d+\.\d+\.\d+\S*$"
    r"|.*(?:\b(?:PASSED|FAILED|SKIPPED|OK)$|\bin \d+(?:\.\d+)?m?s\.?$|\w@\d+\.\d|\w==\d|\.\w{1,4}:\d+\b))"
)
_SPEAKER = re.compile(r"\b(?:I|we|you|my|our|your|me|us|please)\b", re.IGNORECASE)
# A file's name, and its content up to the next empty line.
_FILE = re.compile(r"^[ \t]*[\w./-]+\.\w{1,5}:[ \t]*\n(?:[^\n]*\S[^\n]*(?:\n|$))+", re.MULTILINE)
# What follows these is material to work on, not the writer's own statement.
_HAND_OVER = (
    r"\b(?:translat\w*|summari[sz]e\w*|proofread|paraphrase|rephrase|reword|polish|shorten"
    r"|übersetz\w*|wie sagt man|tradui\w*|traduc\w*|traduz\w*|comment dit-on|cómo se dice|come si dice"
    r"|vertaal|översätt|oversæt\w*|przetłumacz\w*|přelož\w*|перевед\w*|çevir\w*|resum\w*)\b"
)
_TO_BE_WRITTEN = (
    r"^(?:please |can you |could you |now )?"
    r"(?:rewrite|rework|make up|invent|populate|compose|fill (?!(?:in|out) (?:my|our)))\b"
)
_HANDED_OVER = re.compile(
    rf"(?:{_HAND_OVER}|{_TO_BE_WRITTEN})[^.?!\n]{{0,60}}:\s*(?=\S)|(?:翻译|翻譯|译成|訳|번역)[^。？！\n]{{0,40}}[:：]\s*(?=\S)",
    re.IGNORECASE,
)
# A line that asks for work on a text, and the lines below it, unless the writer continues there.
_WORKED_ON = re.compile(
    r"\A(?=[^\n]*\b(?:please|can you|could you|would you|look|check|review|proofread|fix|read|explain|what"
    r"|is|does|why|how)\b)[^\n]*\b(?:diff|patch|commit|read ?me|e-?mail|mail|letter|text|draft|logs?|page"
    r"|paragraph|snippet|output|poem|essay|translation)\b[^\n]*\n"
    r"(?=\S)(?!(?:also|and|but|btw|by the way|oh|ps|p\.s\.|anyway|i|we)\b)",
    re.IGNORECASE,
)
_PASTED = re.compile(r"\n[^\S\n]*+(?:-{3,}|={3,}|from:|subject:|dear\b)", re.IGNORECASE)
_END = re.compile(r"[.!?…]+[\"'”’)\]*]*(?=\s|$)|[。！？]+[」』）]*|\n+")
# "I'm pregnant, remember?" tells.
_TAG = re.compile(r"(?<!\w)\w++ \w++, (?:remember|you know|as you know|see)\?$", re.IGNORECASE)
# Many leave out the question mark.
_ASKING = re.compile(
    r"(?:where|what|who|why|how|which|when)(?:'s| (?:do|does|did|is|are|was|were|can|could|should|would)\b)",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|approx|mr|mrs|ms|dr|prof|st|vs|no|nr|inc|ltd|dept|z\.b|bzw|ca|usw|np|al)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)

_LABEL = re.compile(r"\b[a-z]+ [A-Z]\.$")  # "gate C." is over, "Martin K." is not


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: as written, and with shown text replaced by `BLANK`."""

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
        """The share of it that is shown text."""
        return self.own.count(BLANK) / max(len(self.own), 1)


def sentences(text: str) -> list[Sentence]:
    """The sentences of a message in order, without those that are only shown text."""
    text = text[:MOST_CHARACTERS]
    own = blanked(text)
    found = []
    for start, end in spans(own):
        while start < end and text[start].isspace():
            start += 1
        here = own[start:end].rstrip()
        if len(here) <= _MOST_SENTENCE and re.search(r"\w", here.replace(BLANK, "")):
            end = start + len(here)
            found.append(Sentence(text[start:end], here, start, end))
    return found


def own_voice(text: str) -> str:
    """The writer's own words; a sign replaces each shown passage."""
    own = re.sub(rf"{BLANK}[{BLANK}\s]*{BLANK}|{BLANK}", SHOWN, blanked(text[:MOST_CHARACTERS]))
    return re.sub(rf"(?:{re.escape(SHOWN)}\s*)+{re.escape(SHOWN)}", SHOWN, own).strip()


def blanked(text: str) -> str:
    """`text` with all shown text blanked out, of the same length."""
    own = own_words(text)
    own = "\n\n".join(map(_without_output, own.split("\n\n")))
    own = _FILE.sub(lambda found: _blank(found[0]), own)
    own = _QUOTED.sub(_speech, own)
    own = _UNCLOSED.sub(lambda found: _blank(found[0]), own)
    if worked := _WORKED_ON.match(own):
        own = _blanked_to(own, worked.end(), own.find("\n\n", worked.end()))
    if handed := _HANDED_OVER.search(own):
        pasted = _PASTED.search(own, handed.end())
        own = _blanked_to(own, handed.end(), -1 if pasted else own.find("\n\n", handed.end()))
    return own


def _blanked_to(own: str, start: int, stop: int) -> str:
    """`own` blanked out between two positions; a negative one is the end."""
    stop = len(own) if stop < 0 else stop
    return own[:start] + _blank(own[start:stop]) + own[stop:]


def _without_output(paragraph: str) -> str:
    """A paragraph without the output of programs.

    After two lines of output, or one if nobody speaks, the rest of the paragraph is output, too.
    """
    lines = paragraph.split("\n")
    output = {place for place, line in enumerate(lines) if _MACHINE_LINE.match(line)}
    like = output | {place for place, line in enumerate(lines) if _MACHINE_LIKE.match(line)}
    rest = lines[min(like) :] if like else []
    if {line[:1] for line in lines if line[1:2] in (" ", "\t")} >= {"+", "-"}:
        output = {place for place, line in enumerate(lines) if line[:1] in ("+", "-")}
    elif len(like) >= _OUTPUT or (len(rest) >= _OUTPUT and not any(map(_SPEAKER.search, rest))):
        output = set(range(min(like), len(lines)))
    return "\n".join(BLANK * len(line) if place in output else line for place, line in enumerate(lines))


def _speech(quoted: re.Match[str]) -> str:
    inside = next((part for part in quoted.groups() if part is not None), "")
    longest = _TERM_UNSPACED if _UNSPACED.search(inside) else _TERM_CHARACTERS
    names = len(inside.split()) < _TERM and len(inside) <= longest and inside[-1:] not in tuple(".!?。！？")
    return quoted[0] if names else _blank(quoted[0])


def _blank(text: str) -> str:
    return "".join("\n" if letter == "\n" else BLANK for letter in text)


def spans(own: str) -> Iterator[tuple[int, int]]:
    """The start and end of the sentences and lines of a text."""
    start = 0
    for end in _END.finditer(own):
        stop = end.start() + 1
        near = max(start, stop - _NEAR)  # of a long sentence only its end is looked at again
        abbreviated = end[0] == "." and _ABBREVIATED.search(own, near, stop)
        if abbreviated and not _LABEL.search(own, near, stop):
            continue
        if end.end() > start:
            yield start, end.end()
        start = end.end()
    if start < len(own):
        yield start, len(own)
