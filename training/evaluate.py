"""Measures exported networks: thresholds by the validation part, figures on the test part."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from training.marks import CARRIES_FROM, FACT_FROM, counted, windows_of
from training.measure import decide, locomo, pool_figures, question_figures, shares, thresholds
from training.network import Vocabulary, vocabulary
from training.pairs import Pair, of_cluster
from training.rows import files, pools, read, rows
from training.talks import read_talk


class Session:
    """An exported network."""

    def __init__(self, path: Path, words: Vocabulary) -> None:
        self._run = onnxruntime.InferenceSession(str(path))
        self._names = [each.name for each in self._run.get_inputs()]
        self.outputs = [each.name for each in self._run.get_outputs()]
        self.words = words

    def __call__(self, inputs: Sequence[tuple[list[int], list[int]]]) -> dict[str, np.ndarray[Any, Any]]:
        longest = max(len(ids) for ids, _ in inputs)
        ids = np.full((len(inputs), longest), self.words.pad, np.int64)
        mask = np.zeros_like(ids)
        types = np.zeros_like(ids)
        for at, (tokens, kinds) in enumerate(inputs):
            ids[at, : len(tokens)] = tokens
            mask[at, : len(tokens)] = 1
            types[at, : len(kinds)] = kinds
        given = {"ids": ids, "mask": mask, "types": types}
        return dict(
            zip(self.outputs, self._run.run(None, {name: given[name] for name in self._names}), strict=True)
        )


def in_batches(
    session: Session, inputs: Sequence[tuple[list[int], list[int]]], output: str, size: int = 16
) -> np.ndarray[Any, Any]:
    """An output for many inputs, read in batches of like length."""
    order = sorted(range(len(inputs)), key=lambda at: len(inputs[at][0]))
    found: list[Any] = [None] * len(inputs)
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        for at, said in zip(chosen, session([inputs[at] for at in chosen])[output], strict=True):
            found[at] = said
    return np.array(found)


def judged(session: Session, pairs: Sequence[Pair], output: str = "relation") -> np.ndarray[Any, Any]:
    """The probabilities of a head for pairs, in one pass."""
    words = session.words
    return in_batches(
        session, [words.pair(words.ids(pair.first), words.ids(pair.second)) for pair in pairs], output
    )


def vectors_of(session: Session) -> Callable[[Sequence[str]], np.ndarray[Any, Any]]:
    """The embedder as a function."""
    words = session.words
    return lambda texts: in_batches(
        session, [words.single(words.ids(text), 256) for text in texts], "vectors"
    )


def direct(part: str) -> list[Pair]:
    """The pairs of each memory with the texts about it: what is reported."""
    return [pair for row in rows("clusters", part) for pair in of_cluster(row) if pair.weight == 1.0]


def judge_report(session: Session) -> dict[str, Any]:
    """Thresholds by the validation part, figures on the test part."""
    known = direct("validation")
    same, against = thresholds(judged(session, known), np.array([pair.label for pair in known]))
    unseen = direct("test")
    labels = np.array([pair.label for pair in unseen])
    said = judged(session, unseen)
    turned = judged(session, [Pair(pair.second, pair.first, pair.label) for pair in unseen])
    decided = decide(said, same, against)
    return {
        "thresholds": [round(same, 2), round(against, 2)],
        "pairs": len(unseen),
        "test": [round(value, 4) for value in shares(decided, labels)],
        "turned round": [round(value, 4) for value in shares(decide(turned, same, against), labels)],
        "likeliest class": [round(value, 4) for value in shares(said.argmax(1), labels)],
        "orders agree": round(float(np.mean(decided == decide(turned, same, against))), 4),
        "each class": [round(float(np.mean(decided[labels == label] == label)), 3) for label in range(3)],
    }


def gate_report(session: Session, part: str = "test") -> dict[str, Any]:
    """Conversations told right by the head that reads them as a whole."""
    talks = rows("talks", part)
    keep = [session([session.words.single(read_talk(row, session.words).ids)]) for row in talks]
    said = np.array([float(each["remember"][0, 1]) > 0.5 for each in keep])
    return {
        "conversations": len(talks),
        "right": round(float(np.mean(said == np.array([row["remember"] for row in talks]))), 4),
    }


def finder_report(session: Session, kind: str, part: str = "test") -> dict[str, Any]:
    """Facts whose words are found message by message, and passages that hold none."""
    given = [window for path in files(kind, part) for window in windows_of(read(path), kind, session.words)]
    marked = [
        session([session.words.single(each.ids)])["marks"][0, 1 : 1 + len(each.ids)].tolist()
        for each in given
    ]
    found, facts, junk, made = counted(given, marked, CARRIES_FROM, FACT_FROM)
    return {"facts": facts, "found": round(found / facts, 4), "junk": round(junk / max(made, 1), 4)}


def states_report(session: Session, part: str = "test") -> dict[str, Any]:
    """Whether a passage states a fact: what is written about it, and changed facts."""
    pairs: list[Pair] = []
    for row in rows("talks", part):
        passage = "\n".join(message["text"] for message in row["messages"])
        for fact in row["facts"]:
            pairs.append(Pair(passage, fact["content"], 1))
            pairs += [Pair(passage, text, 0) for text in fact.get("changed", [])]
    said = judged(session, pairs, "states")[:, 1] > 0.5
    labels = np.array([pair.label for pair in pairs])
    return {
        "pairs": len(pairs),
        "stated": round(float(np.mean(said[labels == 1])), 4),
        "changed seen through": round(float(np.mean(~said[labels == 0])), 4),
    }


def report(reader: Path | None, embedder: Path | None, finder: Path | None, body: str = "minilm") -> None:
    """Prints all figures."""
    words = vocabulary(body)
    if reader is not None:
        session = Session(reader, words)
        print("judge", json.dumps(judge_report(session)), flush=True)
        print("gate", json.dumps(gate_report(session)), flush=True)
        print("states", json.dumps(states_report(session)), flush=True)
    if finder is not None:
        session = Session(finder, words)
        for kind in ("talks", "weeks"):
            print(kind, json.dumps(finder_report(session, kind)), flush=True)
    if embedder is not None:
        session = Session(embedder, words)
        for part in ("validation", "test"):
            print(part, question_figures(vectors_of(session), rows("clusters", part)), flush=True)
            print(part, pool_figures(vectors_of(session), pools(part)), flush=True)
        print(locomo(vectors_of(session)), flush=True)
