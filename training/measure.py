"""Figures: what a judge, a gate and an embedder get right."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from training.pairs import CONTRADICTS, SAME, Pair, text_of
from training.rows import Row

Array: TypeAlias = np.ndarray[Any, Any]


def decide(probabilities: Array, same: float = 0.5, contradicts: float = 0.5) -> Array:
    """What is decided with a threshold for each class: what reaches none is distinct."""
    likelier = probabilities[:, SAME] >= probabilities[:, CONTRADICTS]
    decided = np.full(len(probabilities), 2)
    decided[likelier & (probabilities[:, SAME] >= same)] = SAME
    decided[~likelier & (probabilities[:, CONTRADICTS] >= contradicts)] = CONTRADICTS
    return decided


def shares(decided: Array, labels: Array) -> tuple[float, float, float]:
    """Right, false merges, false contradictions."""
    return (
        float(np.mean(decided == labels)),
        float(np.mean(decided[labels != SAME] == SAME)),
        float(np.mean(decided[labels != CONTRADICTS] == CONTRADICTS)),
    )


def thresholds(
    probabilities: Array, labels: Array, merges: float = 0.01, contradictions: float = 0.05
) -> tuple[float, float]:
    """The thresholds that are right most often, within the shares of false merges and contradictions."""
    best, found = -1.0, (0.5, 0.5)
    for same in np.arange(0.34, 0.97, 0.02):
        for against in np.arange(0.34, 0.97, 0.02):
            right, merged, contradicted = shares(decide(probabilities, same, against), labels)
            if merged <= merges and contradicted <= contradictions and right > best:
                best, found = right, (float(same), float(against))
    return found


def relation_figures(probabilities: Array, pairs: Sequence[Pair]) -> str:
    """A line of figures: by the likeliest class, and with thresholds fitted on these very pairs."""
    labels = np.array([pair.label for pair in pairs])
    plain = shares(probabilities.argmax(1), labels)
    same, against = thresholds(probabilities, labels)
    fitted = shares(decide(probabilities, same, against), labels)
    per_class = [float(np.mean(probabilities.argmax(1)[labels == label] == label)) for label in range(3)]
    line = "right {:.3f} merges {:.3f} contradictions {:.3f}"
    return (
        f"{len(pairs)} pairs {line.format(*plain)}; "
        f"each class {per_class[0]:.2f} {per_class[1]:.2f} {per_class[2]:.2f}; "
        f"thresholds {same:.2f} {against:.2f}: {line.format(*fitted)}"
    )


def gate_figures(keep: Sequence[float], talks: Sequence[Row]) -> str:
    """A line of figures: conversations that are rightly kept or passed over."""
    truth = np.array([row["remember"] for row in talks])
    said = np.array(keep)
    best = max(np.arange(0.2, 0.8, 0.02), key=lambda cut: np.mean((said > cut) == truth))
    plain, fitted = (float(np.mean((said > cut) == truth)) for cut in (0.5, best))
    return f"{len(talks)} talks right {plain:.3f} (at {best:.2f}: {fitted:.3f})"


# -------------------------------------------------------------------------------------------- finding again


def question_figures(vectors: Callable[[Sequence[str]], Array], clusters: Sequence[Row]) -> str:
    """How often the memory of a question comes first, among all memories and what stands beside them."""
    texts = [row["memory"] for row in clusters] + [text for row in clusters for text in row["distinct"]]
    known = vectors(texts)
    line = f"{len(clusters)} clusters"
    for kind in ("questions", "oblique", "same"):
        asked = [(text, at) for at, row in enumerate(clusters) for text in row[kind]]
        ranked = np.argsort(-(vectors([text for text, _ in asked]) @ known.T), 1)[:, :5]
        right = np.array([at for _, at in asked])[:, None]
        line += f" {kind} {np.mean(ranked[:, :1] == right):.3f}/{np.mean((ranked == right).any(1)):.3f}"
    return line


def pool_figures(
    vectors: Callable[[Sequence[str]], Array], pools: Sequence[tuple[list[Row], list[Row]]]
) -> str:
    """hit@1 and hit@5 of prompts by cosine, and how many are answered when 85% of the others are not."""
    first = fifth = asked = 0
    answered: list[float] = []
    unanswered: list[float] = []
    for memories, prompts in pools:
        known = vectors([text_of(row) for row in memories])
        near = vectors([row["prompt"] for row in prompts]) @ known.T
        for row, scores in zip(prompts, near, strict=True):
            if not row["relevant"]:
                unanswered.append(float(scores.max()))
                continue
            order = [memories[at]["id"] for at in np.argsort(-scores)[:5]]
            asked += 1
            first += order[0] in row["relevant"]
            fifth += any(name in row["relevant"] for name in order)
            answered.append(float(scores.max()))
    if not asked:
        return "none"
    cut = float(np.quantile(unanswered, 0.85))
    above = float(np.mean(np.array(answered) > cut))
    return f"{asked} prompts hit@1 {first / asked:.3f} hit@5 {fifth / asked:.3f}, above the cut {above:.3f}"


def dialogue_figures(
    vectors: Callable[[Sequence[str]], Array], dialogues: Sequence[tuple[list[Row], list[Row]]]
) -> str:
    """Messages that answer questions about earlier sessions, by cosine alone."""
    found: list[tuple[float, float]] = []
    for sessions, questions in dialogues:
        said = [row for session in sessions for row in session["messages"]]
        known = vectors([row["text"] for row in said])
        near = vectors([row["question"] for row in questions]) @ known.T
        for row, scores in zip(questions, near, strict=True):
            order = [said[at]["id"] for at in np.argsort(-scores)[:10]]
            wanted = set(row["evidence"])
            found.append((len(wanted & set(order[:5])) / len(wanted), len(wanted & set(order)) / len(wanted)))
    five, ten = np.mean(found, 0)
    return f"{len(found)} questions R@5 {five:.3f} R@10 {ten:.3f}"


def locomo(vectors: Callable[[Sequence[str]], Array], path: Path = Path("build/locomo_dev.json.gz")) -> str:
    """Turns of LoCoMo's development part by cosine alone: it measures, nothing is fitted on it."""
    if not path.exists():
        return "no LoCoMo here"
    near5 = near10 = count = 0.0
    for told in json.loads(gzip.decompress(path.read_bytes())):
        said = told["conversation"]
        turns = [
            turn
            for key in said
            if key.startswith("session_") and isinstance(said[key], list)
            for turn in said[key]
        ]
        names = [turn["dia_id"] for turn in turns]
        known = vectors([f"{turn['speaker']}: {turn['text']}" for turn in turns])
        asked = [row for row in told["qa"] if row.get("category") != 5 and row.get("evidence")]
        for row, scores in zip(asked, vectors([row["question"] for row in asked]) @ known.T, strict=True):
            order = [names[at] for at in np.argsort(-scores)[:10]]
            wanted = set(row["evidence"])
            near5 += len(wanted & set(order[:5])) / len(wanted)
            near10 += len(wanted & set(order)) / len(wanted)
            count += 1
    return f"LoCoMo by cosine, {count:.0f} questions: R@5 {near5 / count:.3f} R@10 {near10 / count:.3f}"


def helping_figures(
    vectors: Callable[[Sequence[str]], Array],
    helps: Callable[[Sequence[Pair]], Array],
    pools: Sequence[tuple[list[Row], list[Row]]],
    nearest: int = 8,
) -> str:
    """The same with a reader behind the embedder: the nearest few are read, and ranked by both."""
    line = ""
    for weight in (0.0, 0.3, 0.6, 1.0):
        first = fifth = asked = 0
        answered: list[float] = []
        unanswered: list[float] = []
        for memories, prompts in pools:
            texts = [text_of(row) for row in memories]
            near = vectors([row["prompt"] for row in prompts]) @ vectors(texts).T
            order = np.argsort(-near, 1)[:, :nearest]
            read = helps(
                [
                    Pair(row["prompt"], texts[at], 0)
                    for row, best in zip(prompts, order, strict=True)
                    for at in best
                ]
            )
            for row, best, cosines, said in zip(prompts, order, near, read.reshape(order.shape), strict=True):
                score = weight * said + (1 - weight) * cosines[best]
                ranked = [memories[best[at]]["id"] for at in np.argsort(-score)]
                if not row["relevant"]:
                    unanswered.append(float(score.max()))
                    continue
                asked += 1
                answered.append(float(score.max()))
                first += ranked[0] in row["relevant"]
                fifth += any(name in row["relevant"] for name in ranked[:5])
        if asked:
            cut = float(np.quantile(unanswered, 0.87))
            above = float(np.mean(np.array(answered) > cut))
            line += f" | {weight}: {first / asked:.3f}/{fifth / asked:.3f} answered {above:.3f}"
    return line
