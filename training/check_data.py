"""Proves that the written rows are well formed and varied; prints what is wrong, a line each.

No run of five words stands in more than three rows of a file, and an oblique question shares no stem with its
memory. `near` adds that no memory and no conversation lies within a cosine of .95 of another of its kind.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from snowballstemmer import stemmer

from training.rows import KINDS, Row, files, read, rows

MOST_ROWS: Final = 3  # that may share a run of words
RUN: Final = 5  # words
NEAREST: Final = 0.95  # cosine
LEAST: Final = {"same": 3, "contradicts": 3, "distinct": 4, "questions": 3, "oblique": 2}
_WORD: Final = re.compile(r"[^\W_]+")
_STOP: Final = frozenset(
    """a about after again all also am an and any are as at be been before being both but by can could did
    do does doing done down each else every few for from get go going got had has have having he her
    here him his how i if in into is it its just like made make many may me might more most much
    must my need no nor not now of off on once one only or our out over own same shall she should so
    some still t than that the their them then there these they this those to too two under up us
    use used uses using very want was we were what when where which while who whom whose why will
    with without work works would you your s don""".split()
)
_ENGLISH: Final = stemmer("english")


def complaints(part: str) -> Iterator[str]:
    """What is wrong with the rows of a part."""
    for path in files("*", part):
        known = read(path)
        for number, row in enumerate(known, start=1):
            yield from (f"{path.name} {number}: {each}" for each in _of_row(row, known))
        if not path.stem.startswith(
            ("relations", "gate")
        ):  # labelled pairs share their first statement on purpose
            yield from (f"{path.name}: {each}" for each in _of_file(known))


def near(vectors: Callable[[Sequence[str]], np.ndarray[Any, Any]]) -> Iterator[str]:
    """Rows that say almost the same as another; twins among the conversations have opposite labels."""
    for kind, text in (("clusters", lambda row: row["memory"]), ("talks", spoken)):
        known = [row for part in ("all", "test") for row in rows(kind, part)]
        found = vectors([text(row) for row in known])
        for one, other in np.argwhere(np.triu(found @ found.T, 1) > NEAREST):
            if known[one].get("remember") == known[other].get("remember"):
                yield f"{kind}: {text(known[one])!r} and {text(known[other])!r}"


def spoken(row: Row) -> str:
    """All that is said in a conversation."""
    return "\n".join(message["text"] for message in row["messages"])


def _of_row(row: Row, known: Sequence[Row]) -> Iterator[str]:
    if "memory" in row:
        yield from _of_cluster(row)
    elif "turns" in row:
        yield from _of_week(row, known)
    elif "session" in row:
        if len({message["id"] for message in row["messages"]}) < len(row["messages"]):
            yield "an id stands twice"
    elif "messages" in row:
        yield from _of_talk(row)
    elif "question" in row:
        said = {message["id"] for each in known for message in each.get("messages", ())}
        if not row["evidence"] or set(row["evidence"]) - said:
            yield "evidence names no message, or one that is not there"
    elif "memories" in row:
        if row["said"] not in row["message"]["text"]:
            yield f"nobody says {row['said']!r}"
        if set(row["replaces"]) - set(range(len(row["memories"]))):
            yield "replaces names a memory that is not there"
    elif "prompt" in row:
        unknown = set(row["relevant"]) - {each.get("id") for each in known}
        if unknown:
            yield f"names {sorted(unknown)}, which are not there"


def _of_cluster(row: Row) -> Iterator[str]:
    for key, least in LEAST.items():
        if len(row.get(key, ())) < least:
            yield f"{key}: at least {least} texts"
    texts = [row["memory"], *row["same"], *row["contradicts"], *row["distinct"]]
    if len({text.lower() for text in texts}) < len(texts):
        yield "a text stands twice"
    for text in row["oblique"]:
        if shared := stems(text) & stems(row["memory"]):
            yield f"oblique {text!r} shares {sorted(shared)}"


def _of_talk(row: Row) -> Iterator[str]:
    if row["remember"] != bool(row["facts"]):
        yield "remember and facts disagree"
    for fact in row["facts"]:
        if fact["kind"] not in KINDS:
            yield f"kind {fact['kind']!r}"
        if "from" in fact and not any(fact["from"] in message["text"] for message in row["messages"]):
            yield f"nobody says {fact['from']!r}"


def _of_week(row: Row, known: Sequence[Row]) -> Iterator[str]:
    """A session of a fortnight; facts are named by those that come later."""
    before = [each for each in known if each["at"] < row["at"]]
    earlier = {fact["id"] for each in before for turn in each["turns"] for fact in turn.get("facts", ())}
    here: set[str] = set()
    for turn in row["turns"]:
        if unknown := set(turn.get("helps", ())) - earlier:
            yield f"helps names {sorted(unknown)}, which are not said in an earlier session"
        for fact in turn.get("facts", ()):
            if fact["kind"] not in KINDS or fact["from"] not in turn["text"] or turn["role"] == "tool":
                yield f"{fact['id']} is of no kind, by a tool, or nobody says {fact['from']!r}"
            named = {fact[key] for key in ("replaces", "repeats") if key in fact}
            if named - earlier - here:
                yield f"{fact['id']} names {sorted(named)}, not said before"
            here.add(fact["id"])


def _of_file(known: Sequence[Row]) -> Iterator[str]:
    where: dict[str, set[int]] = defaultdict(set)
    for number, row in enumerate(known, start=1):
        for text in _texts(row):
            words = _WORD.findall(text.lower())
            for at in range(len(words) - RUN + 1):
                where[" ".join(words[at : at + RUN])].add(number)
    for run, numbers in where.items():
        if len(numbers) > MOST_ROWS:
            yield f"{run!r} stands in {len(numbers)} rows"


def _texts(row: Row) -> list[str]:
    if said := row.get("messages") or row.get("turns"):
        return [message["text"] for message in said if message["role"] != "tool"]
    keys = ("memory", "content", "prompt", "existing", "new")
    lists = ("same", "contradicts", "distinct", "questions", "oblique")
    return [row[key] for key in keys if key in row] + [text for key in lists for text in row.get(key, ())]


def stems(text: str) -> set[str]:
    """The stems of the telling words of a text."""
    words = [word for word in _WORD.findall(text.lower()) if word not in _STOP and len(word) > 1]
    return set(_ENGLISH.stemWords(words))


def sizes() -> Counter[str]:
    """How many rows there are of each kind, in all and in the test part."""
    found: Counter[str] = Counter()
    for kind in ("clusters", "talks", "gate", "relations", "pools", "weeks"):
        for part in ("all", "test"):
            found[f"{kind}, {part}"] = (
                len(rows(kind, part)) if kind != "pools" else len(list(files(kind, part)))
            )
    return found
