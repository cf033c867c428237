"""Labelled and unlabelled pairs of statements, as they follow from the written clusters."""

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from training.rows import LABELS, Row, pools, rows

SAME, CONTRADICTS, DISTINCT = range(3)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, what they are to each other, and how sure the label is."""

    first: str
    second: str
    label: int | None  # none: a teacher has to tell
    weight: float = 1.0


def named(cluster: Row, text: str) -> str:
    """The text with its subject before it."""
    return f"{cluster['subject']}: {text}"


def lacks_subject(cluster: Row, *texts: str) -> bool:
    """Whether only the subject says what the texts are about."""
    subject = (cluster.get("subject") or "").lower()
    return bool(subject) and not any(word in text.lower() for text in texts for word in subject.split())


def of_cluster(cluster: Row) -> list[Pair]:
    """All pairs that a cluster tells the label of."""
    memory, same = cluster["memory"], cluster["same"]
    against, beside = cluster["contradicts"], cluster["distinct"]
    return [
        *(Pair(memory, each, SAME) for each in same),
        *(Pair(memory, each, CONTRADICTS) for each in against),
        *(Pair(memory, each, DISTINCT) for each in beside),
        *(Pair(one, other, SAME, 0.7) for at, one in enumerate(same) for other in same[:at]),
        *(Pair(one, other, CONTRADICTS, 0.5) for one in same for other in against),
        *(Pair(one, other, DISTINCT, 0.5) for one in same for other in beside),
    ]


def with_subjects(clusters: Sequence[Row], chance: random.Random) -> list[Pair]:
    """Pairs that name their subjects: another subject makes two facts of one text."""
    found: list[Pair] = []
    for cluster in clusters:
        others = [each for each in cluster["same"] if lacks_subject(cluster, cluster["memory"], each)]
        if others:
            other = chance.choice(others)
            stranger = chance.choice(clusters)
            found.append(Pair(named(cluster, cluster["memory"]), named(cluster, other), SAME))
            against = chance.choice(cluster["contradicts"])
            found.append(Pair(named(cluster, cluster["memory"]), named(cluster, against), CONTRADICTS, 0.7))
            if stranger.get("subject") and stranger["subject"].lower() != cluster["subject"].lower():
                found.append(Pair(named(cluster, cluster["memory"]), named(stranger, other), DISTINCT))
                found.append(
                    Pair(named(cluster, cluster["memory"]), named(stranger, cluster["memory"]), DISTINCT)
                )
    return found


def labelled(part: str, seed: int = 0) -> list[Pair]:
    """All labelled pairs of a part."""
    chance = random.Random(seed)
    clusters = rows("clusters", part)
    chance.shuffle(clusters)
    found = [pair for cluster in clusters for pair in of_cluster(cluster)]
    found += with_subjects(clusters, chance)
    for one, other in pairwise(clusters):
        found.append(Pair(one["memory"], chance.choice([other["memory"], *other["same"]]), DISTINCT))
    found += [
        Pair(row["existing"], row["new"], LABELS.index(row["relation"]), 2.0)
        for row in rows("relations", part)
    ]
    return found


def unlabelled(part: str, seed: int = 0) -> list[Pair]:
    """Pairs whose label a larger model has to tell: the other pairs inside of clusters, and some across."""
    chance = random.Random(seed)
    clusters = rows("clusters", part)
    found: list[Pair] = []
    for cluster in clusters:
        against, beside = cluster["contradicts"], cluster["distinct"]
        inside = [(one, other) for one in against for other in beside]
        inside += [(one, other) for at, one in enumerate(against) for other in against[:at]]
        inside += [(one, other) for at, one in enumerate(beside) for other in beside[:at]]
        found += [Pair(one, other, None) for one, other in chance.sample(inside, min(14, len(inside)))]
        for kind in ("questions", "oblique"):
            found.append(Pair(chance.choice(cluster[kind]), cluster["memory"], None))
        stranger = chance.choice(clusters)
        found.append(Pair(chance.choice(beside), chance.choice(stranger["distinct"]), None))
    facts = [fact["content"] for row in rows("talks", part) for fact in row["facts"]]
    found += [Pair(one, chance.choice(facts), None) for one in facts]
    return found


# ------------------------------------------------------------------------------------ passages and facts


def stating(part: str, seed: int = 0) -> list[Pair]:
    """Conversations and facts: label 1 where the fact is stated, 0 where it was changed or is another's."""
    chance = random.Random(seed)
    talks = rows("talks", part)
    others = [fact["content"] for row in talks for fact in row["facts"]]
    found: list[Pair] = []
    for row in talks:
        passage = "\n".join(message["text"] for message in row["messages"])
        for fact in row["facts"]:
            found += [Pair(passage, fact["content"], 1, 1.5), Pair(fact["from"], fact["content"], 1)]
            found += [Pair(passage, text, 0) for text in fact.get("changed", ())]
            found.append(Pair(passage, chance.choice(others), 0, 0.5))
        if not row["facts"]:
            found.append(Pair(passage, chance.choice(others), 0, 0.5))
    return found


# ------------------------------------------------------------------------------------ prompts and memories


def helping(part: str, vectors: Callable[[Sequence[str]], Any], seed: int = 0) -> list[Pair]:
    """Prompts and memories: label 1 where the memory helps; the others are near it, or stand beside it."""
    chance = random.Random(seed)
    clusters = rows("clusters", part)
    known = vectors([row["memory"] for row in clusters])
    found: list[Pair] = []
    for kind in ("questions", "oblique"):
        asked = [(text, at) for at, row in enumerate(clusters) for text in row[kind]]
        near = np.argsort(-(vectors([text for text, _ in asked]) @ known.T), 1)[:, :12].tolist()
        for (text, at), others in zip(asked, near, strict=True):
            row = clusters[at]
            found += [Pair(text, row["memory"], 1), Pair(text, chance.choice(row["same"]), 1)]
            strangers = chance.sample([other for other in others if other != at], 4)
            found += [Pair(text, clusters[other]["memory"], 0) for other in strangers]
            found += [Pair(text, other, 0, 0.4) for other in chance.sample(row["distinct"], 2)]
    for memories, prompts in pools(part):
        texts = [text_of(row) for row in memories]
        ranked = np.argsort(-(vectors([row["prompt"] for row in prompts]) @ vectors(texts).T), 1)[
            :, :10
        ].tolist()
        for row, order in zip(prompts, ranked, strict=True):
            helps = {at for at, memory in enumerate(memories) if memory["id"] in row["relevant"]}
            found += [Pair(row["prompt"], texts[at], 1, 3.0) for at in helps]
            found += [Pair(row["prompt"], texts[at], 0, 3.0) for at in order if at not in helps]
    return found


def kept_helping(part: str, vectors: Callable[[], Callable[[Sequence[str]], Any]]) -> list[Pair]:
    """The same, made once and kept in build/: teachers and pupil see the same pairs in the same order."""
    path = Path(f"build/helping_{part}.json.gz")
    if not path.exists():
        made = [[pair.first, pair.second, pair.label, pair.weight] for pair in helping(part, vectors())]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))
    return [Pair(*row) for row in json.loads(gzip.decompress(path.read_bytes()))]


def text_of(memory: Row) -> str:
    """What the vector of a memory is made of."""
    return f"{memory['subject']}. {memory['content']}" if memory.get("subject") else str(memory["content"])
