"""Which memories a message makes untrue: pairs of a memory and what was said, from the written data."""

import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from holdfast.language.news import News
from holdfast.language.wording import Utterance, worded
from training.rows import Row, files, read, rows

NEAREST: Final = 6  # memories that sound near what was said, and stay
CHANCE: Final = 2  # and others
Vectors = Callable[[Sequence[str]], "np.ndarray[Any, Any]"]


@dataclass(frozen=True, slots=True)
class NewsPair:
    """A memory, what was said, and whether that makes the memory untrue."""

    memory: str
    said: str
    replaced: int
    weight: float = 1.0


@dataclass
class _Known:
    """A fact that holds at some time of a fortnight."""

    id: str
    content: str
    others: list[str]  # wordings, as the product makes them
    project: str | None  # none: of the person


@dataclass
class Case:
    """What was said, and all the memories that it may concern."""

    said: str
    content: str  # what is looked up by
    known: list[_Known]
    replaced: list[str] = field(default_factory=list)


def cases(path: Path) -> Iterator[Case]:
    """Every fact of a fortnight beside the ones that hold then in its project."""
    known: dict[str, _Known] = {}
    for session in read(path):
        turns = [turn for turn in session["turns"] if turn["role"] != "tool"]
        for number, turn in enumerate(turns):
            before = [Utterance(each["role"], each["text"]) for each in turns[max(0, number - 2) : number]]
            for fact in turn.get("facts", ()):
                project = None if fact.get("about") == "person" else session["project"]
                start = turn["text"].find(fact["from"])
                here = [
                    each for each in known.values() if each.project in (None, project or session["project"])
                ]
                news = News(
                    role=turn["role"],
                    text=turn["text"],
                    start=start,
                    end=start + len(fact["from"]),
                    before=before[-1].text if before else "",
                )
                replaced = [fact["replaces"]] if fact.get("replaces") in known else []
                if here:
                    yield Case(news.told(), fact.get("content") or fact["from"], here, replaced)
                for gone in replaced:
                    del known[gone]
                if fact.get("content") and not fact.get("repeats"):
                    said = Utterance(turn["role"], turn["text"])
                    made = worded(before, said, start, start + len(fact["from"]))
                    others = [made.content] if made else []
                    known[fact["id"]] = _Known(fact["id"], fact["content"], others, project)


def news_pairs(part: str, vectors: Vectors) -> list[NewsPair]:
    """The pairs of a part: of fortnights, of corrections, and of clusters."""
    chance = random.Random(7)
    every = [case for path in files("weeks", part) for case in cases(path)]
    vectors = ahead(every, vectors)
    found = [pair for case in every for pair in _of_case(case, vectors, chance)]
    for row in rows("corrections", part):
        said = _correction(row)
        found += [
            NewsPair(memory, said, int(at in row["replaces"]), 1.5)
            for at, memory in enumerate(row["memories"])
        ]
    for row in rows("clusters", part):
        told = [(text, 1) for text in chance.sample(row["contradicts"], 1)]
        told += [(text, 0) for text in chance.sample(row["same"], 1) + chance.sample(row["distinct"], 2)]
        for text, label in told:
            said = News(role="user", text=text, start=0, end=len(text), before="").told()
            found.append(NewsPair(row["memory"], said, label, 0.5))
    return found


def _correction(row: Row) -> str:
    message, before = row["message"], row["before"]
    start = message["text"].find(row["said"])
    return News(
        role=message["role"],
        text=message["text"],
        start=start,
        end=start + len(row["said"]),
        before=before[-1]["text"] if before else "",
    ).told()


def _of_case(case: Case, vectors: Vectors, chance: random.Random) -> Iterator[NewsPair]:
    near = ranked(case, vectors)
    stay = [each for each in near if each.id not in case.replaced]
    rest = stay[NEAREST:]
    for each in near:
        if each.id in case.replaced:
            yield NewsPair(each.content, case.said, 1, 2.0)
            yield from (NewsPair(text, case.said, 1, 2.0) for text in each.others)
    for each in [*stay[:NEAREST], *chance.sample(rest, min(CHANCE, len(rest)))]:
        yield NewsPair(chance.choice([each.content, *each.others]), case.said, 0)


def ranked(case: Case, vectors: Vectors) -> list[_Known]:
    """What is known, nearest first."""
    near = vectors([each.content for each in case.known]) @ vectors([case.content])[0]
    return [case.known[at] for at in np.argsort(-near, kind="stable")]


def kept_pairs(part: str, vectors: Callable[[], Vectors]) -> list[NewsPair]:
    """The same, made once and kept in build/: teachers and pupil see the same pairs in the same order."""
    path = Path(f"build/news_{part}.json.gz")
    if not path.exists():
        made = [[pair.memory, pair.said, pair.replaced, pair.weight] for pair in news_pairs(part, vectors())]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))
    return [NewsPair(*row) for row in json.loads(gzip.decompress(path.read_bytes()))]


def kept_near(
    part: str, vectors: Callable[[], Vectors], most: int
) -> list[tuple[str, list[tuple[str, bool]], bool]]:
    """What was said, the nearest memories and which of them fall, and whether any does; kept in build/."""
    path = Path(f"build/near_{part}.json")
    if not path.exists():
        every = [case for file in files("weeks", part) for case in cases(file)]
        found = ahead(every, vectors())
        near = [(case, ranked(case, found)[:most]) for case in every]
        made = [
            [case.said, [[each.content, each.id in case.replaced] for each in known], bool(case.replaced)]
            for case, known in near
        ]
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(made))
    return [
        (said, [(text, falls) for text, falls in known], any_falls)
        for said, known, any_falls in json.loads(path.read_text())
    ]


def ahead(given: Sequence[Case], vectors: Vectors) -> Vectors:
    """Vectors that were all made in one go."""
    texts = sorted(
        {text for case in given for text in (case.content, *(each.content for each in case.known))}
    )
    made = dict(zip(texts, vectors(texts), strict=True))
    return lambda asked: np.stack([made[text] for text in asked])


def figures(
    sure: Sequence[Sequence[float]], given: Sequence[tuple[str, list[tuple[str, bool]], bool]]
) -> str:
    """How many corrections find what they replace, and how often something else falls, for several cuts."""
    wanted = sum(any_falls for *_, any_falls in given)
    lines = []
    for cut in (0.3, 0.5, 0.7, 0.8, 0.9):
        over = [
            [falls for (_, falls), each in zip(known, row, strict=True) if each >= cut]
            for (_, known, _), row in zip(given, sure, strict=True)
        ]
        right, wrong = sum(any(each) for each in over), sum(not all(each) for each in over)
        lines.append(
            f"    replaced from {cut}: {right / wanted:.3f} of {wanted}, "
            f"something else falls {wrong / len(given):.3f} of {len(given)}"
        )
    return "\n".join(lines)
