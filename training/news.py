"""Pairs of a memory and what was said: whether that makes the memory untrue, or is helped by it."""

import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from holdfast.language.news import News
from holdfast.language.wording import Utterance, worded
from training.pairs import text_of
from training.rows import Row, files, pools, read, rows

NEAREST: Final = 6  # memories that sound near what was said, and are not meant
CHANCE: Final = 2  # and others
SHOWN: Final = 3  # lines at a prompt
POOLED: Final = 0.25  # of the prompts of the pools: they are no part of a session
REPLACES, HELPS = range(2)  # what is asked about a pair
Vectors = Callable[[Sequence[str]], "np.ndarray[Any, Any]"]


@dataclass(frozen=True, slots=True)
class NewsPair:
    """A memory, what was said, and whether that makes the memory untrue, or whether the memory helps."""

    memory: str
    said: str
    label: int
    weight: float = 1.0
    asked: int = REPLACES


@dataclass
class _Known:
    """A fact that holds at some time of a fortnight."""

    id: str
    content: str
    others: list[str]  # wordings, as the product makes them
    project: str | None  # none: of the person


@dataclass
class Case:
    """What was said, all the memories that it may concern, and those that it makes untrue or that help."""

    said: str
    content: str  # what is looked up by
    known: list[_Known]
    meant: list[str] = field(default_factory=list)
    asked: int = REPLACES


def cases(path: Path) -> Iterator[Case]:
    """Every fact and every prompt of a fortnight beside the facts that hold then in its project."""
    known: dict[str, _Known] = {}
    for session in read(path):
        turns = [turn for turn in session["turns"] if turn["role"] != "tool"]
        earlier = list(known)
        for number, turn in enumerate(turns):
            before = [Utterance(each["role"], each["text"]) for each in turns[max(0, number - 2) : number]]
            if turn["role"] == "user":
                here = [known[one] for one in earlier if one in known]
                here = [each for each in here if each.project in (None, session["project"])]
                if here:
                    yield Case(prompted(turn, before), turn["text"], here, turn.get("helps", []), HELPS)
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


def prompted(turn: Row, before: Sequence[Utterance]) -> str:
    """A prompt as the finder reads it."""
    text = turn["text"]
    last = before[-1].text if before else ""
    return News(role="user", text=text, start=0, end=len(text), before=last).told()


def news_pairs(part: str, vectors: Vectors) -> list[NewsPair]:
    """The pairs of a part: of fortnights, of corrections, and of clusters."""
    chance = random.Random(7)
    every = [case for path in files("weeks", part) for case in cases(path)]
    made = ahead(every, vectors)
    found = [pair for case in every for pair in _of_case(case, made, chance)]
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
    return [*found, *_of_pools(part, vectors, chance)]


def _of_pools(part: str, vectors: Vectors, chance: random.Random) -> Iterator[NewsPair]:
    """Prompts that are no part of a session, with what helps and what only sounds near."""
    for memories, prompts in pools(part):
        texts = [text_of(row) for row in memories]
        asked = [row for row in prompts if chance.random() < POOLED]
        if not asked:
            continue
        ranked_ = np.argsort(-(vectors([row["prompt"] for row in asked]) @ vectors(texts).T), 1)
        for row, order in zip(asked, ranked_[:, :NEAREST].tolist(), strict=True):
            said = prompted({"text": row["prompt"]}, ())
            helps = {at for at, memory in enumerate(memories) if memory["id"] in row["relevant"]}
            for at in {*helps, *order}:
                yield NewsPair(texts[at], said, int(at in helps), 0.5, HELPS)


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
    stay = [each for each in near if each.id not in case.meant]
    rest = stay[NEAREST:]
    for each in near:
        if each.id in case.meant:
            yield NewsPair(each.content, case.said, 1, 2.0, case.asked)
            yield from (NewsPair(text, case.said, 1, 2.0, case.asked) for text in each.others)
    for each in [*stay[:NEAREST], *chance.sample(rest, min(CHANCE, len(rest)))]:
        yield NewsPair(chance.choice([each.content, *each.others]), case.said, 0, 1.0, case.asked)


def ranked(case: Case, vectors: Vectors) -> list[_Known]:
    """What is known, nearest first."""
    near = vectors([each.content for each in case.known]) @ vectors([case.content])[0]
    return [case.known[at] for at in np.argsort(-near, kind="stable")]


def kept_pairs(part: str, vectors: Callable[[], Vectors]) -> list[NewsPair]:
    """The same, made once and kept in build/: teachers and pupil see the same pairs in the same order."""
    path = Path(f"build/news_{part}.json.gz")
    if not path.exists():
        made = [list(astuple(pair)) for pair in news_pairs(part, vectors())]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))
    return [NewsPair(*row) for row in json.loads(gzip.decompress(path.read_bytes()))]


def ahead(given: Sequence[Case], vectors: Vectors) -> Vectors:
    """Vectors that were all made in one go."""
    texts = sorted(
        {text for case in given for text in (case.content, *(each.content for each in case.known))}
    )
    made = dict(zip(texts, vectors(texts), strict=True))
    return lambda asked: np.stack([made[text] for text in asked])


def replaced_figures(given: Sequence[tuple[Case, Sequence[_Known], Sequence[float]]]) -> Iterator[str]:
    """How many corrections find what they replace, and how often something else falls, for several cuts."""
    for cut in (0.5, 0.7, 0.8, 0.9):
        right = wrong = wanted = 0
        for case, near, sure in given:
            wanted += bool(case.meant)
            over = [each.id for each, one in zip(near, sure, strict=True) if one >= cut]
            right += any(one in case.meant for one in over)
            wrong += any(one not in case.meant for one in over)
        yield (
            f"    replaced from {cut}: {right / max(wanted, 1):.3f} of {wanted}, "
            f"something else falls {wrong / max(len(given), 1):.3f} of {len(given)}"
        )


def helped_figures(given: Sequence[tuple[Case, Sequence[_Known], Sequence[float]]]) -> Iterator[str]:
    """How many lines shown at prompts help, and how many prompts rightly get none, for several cuts."""
    for cut in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        lines = right = silent = empty = helped = wanted = 0
        for case, near, sure in given:
            order = sorted(zip(sure, near, strict=True), key=lambda pair: -pair[0])[:SHOWN]
            over = [each.id for one, each in order if one >= cut]
            good = sum(one in case.meant for one in over)
            lines, right = lines + len(over), right + good
            empty, silent = empty + (not case.meant), silent + (not case.meant and not over)
            wanted, helped = wanted + bool(case.meant), helped + bool(good)
        yield (
            f"    helps from {cut}: {right / max(lines, 1):.3f} of {lines} lines, silent "
            f"{silent / max(empty, 1):.3f} of {empty}, helped {helped / max(wanted, 1):.3f} of {wanted}"
        )
