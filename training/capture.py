"""Trains the finder: which words of a message carry facts, and which memories they make untrue.

A large body learns from the labels; the small one that ships starts as the reader, and learns from the labels
and from what large ones say about the same messages and about messages that nobody marked.
"""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.judge import start_vectors, steering_of
from training.losses import SMOOTHING
from training.marks import capture_figures
from training.network import DEVICE, FINDER_HEADS, Finder, Vocabulary, batch, packed, vocabulary
from training.news import NewsPair, figures, kept_near, kept_pairs
from training.weights import load, save
from training.windows import UNKNOWN, Window, unmarked, windows

IGNORED: Final = -100
TOKENS: Final = 24_576  # of a batch that is only read
NEAR: Final = 8  # memories that are read beside what was said
TEACHES: Final = 0.7  # the share of the loss that follows the teachers
SAID: Final = "said"
Encoded = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Course:
    """How a finder is trained."""

    body: str = "e5"
    seed: int = 0
    epochs: float = 3
    rate: float = 1e-4
    size: int = 32  # windows of a step; as many pairs
    part: str = "training"
    start: str = ""  # trained weights to start from
    teachers: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Lessons:
    """What a finder is trained on, with what the teachers say of it."""

    windows: list[Window]
    pairs: list[NewsPair]
    marks: list[Any] | None  # of each window's tokens, a probability for each mark
    replaced: Any | None  # of each pair


def train(course: Course, out: Path) -> Finder:
    """Trains a finder, prints how it does on the validation part, and saves its weights and what it says."""
    random.seed(course.seed)
    torch.manual_seed(course.seed)
    words = vocabulary(course.body)
    every = [*windows(course.part, words), *unmarked(course.part, words)]
    pairs = kept_pairs(course.part, start_vectors)
    taught = [_read_said(path) for path in course.teachers]
    given = Lessons(
        windows=every if taught else [each for each in every if each.marks is not None],
        pairs=pairs,
        marks=[np.mean([one[0][at] for one in taught], 0) for at in range(len(every))] if taught else None,
        replaced=np.mean([one[1] for one in taught], 0) if taught else None,
    )
    print(course, len(given.windows), "windows", len(pairs), "pairs", flush=True)
    known = load(out, course.start).items() if course.start else ()
    body = {key.removeprefix("body."): value for key, value in known if key.startswith("body.")}
    finder = Finder(course.body, body or None).to(DEVICE)
    started = time.monotonic()
    _fit(finder, words, course, given)
    name = f"finder_{course.body}_{course.seed}"
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    check(finder, words, name)
    if not taught:
        marks = [np.asarray(row, np.float16) for row in marked(finder, words, every)]
        np.savez(
            out / f"{name}.{SAID}.npz",
            marks=np.concatenate(marks),
            lengths=np.array([len(row) for row in marks]),
            replaced=replaced(finder, words, [(pair.memory, pair.said) for pair in pairs]),
        )
    save(packed(finder), out, name)
    return finder


def check(finder: Finder, words: Vocabulary, name: str) -> None:
    """Prints the figures on the validation part."""
    print(name, "validation", flush=True)
    print(capture_figures(lambda asked: marked(finder, words, asked), words), flush=True)
    given = kept_near("validation", start_vectors, NEAR)
    asked = [(memory, said) for said, known, _ in given for memory, _ in known]
    found = iter(replaced(finder, words, asked)[:, 1].tolist())
    print(figures([[next(found) for _ in known] for _, known, _ in given], given), flush=True)


def _read_said(path: Path) -> tuple[list[Any], Any]:
    """What a teacher said: of each window's tokens, and of each pair."""
    found = np.load(path)
    ends = np.cumsum(found["lengths"])
    return np.split(found["marks"].astype(np.float32), ends[:-1]), found["replaced"]


def _fit(finder: Finder, words: Vocabulary, course: Course, given: Lessons) -> None:
    lengths = [len(each.ids) for each in given.windows]
    tokens = _encoded(words, [(pair.memory, pair.said) for pair in given.pairs])
    steps = int(course.epochs * len(lengths) / course.size)
    steering, schedule = steering_of(finder, course.rate, steps)
    beside = similar([len(ids) for ids, _ in tokens], course.size)
    finder.train()
    started = time.monotonic()
    for step, chosen in enumerate(islice(similar(lengths, course.size), steps)):
        if step % 200 == 0:
            print(f"step {step} of {steps}, {time.monotonic() - started:.0f} s", flush=True)
        taught = [given.marks[at] for at in chosen] if given.marks is not None else None
        paired = next(beside)
        of_teachers = given.replaced[paired] if given.replaced is not None else None
        with autocast():  # one around both, so that the weights are converted once
            loss = window_loss(finder, words, [given.windows[at] for at in chosen], taught) + pair_loss(
                finder, words, [given.pairs[at] for at in paired], [tokens[at] for at in paired], of_teachers
            )
        steering.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(finder.parameters(), 1.0)
        steering.step()
        schedule.step()


def window_loss(
    finder: Finder, words: Vocabulary, chosen: Sequence[Window], taught: Sequence[Any] | None
) -> Tensor:
    """Of the marks in each window's own message, of the kinds of its facts, and of whom they are about."""
    with autocast():
        ids, mask, types = batch([words.single(each.ids) for each in chosen], words.pad)
        said = finder.marks(finder(ids, mask, types))
    longest = ids.shape[1]
    wanted = {
        "marks": [each.marks or [UNKNOWN] * len(each.ids) for each in chosen],
        "kind": [each.kinds for each in chosen],
        "personal": [each.personal for each in chosen],
    }
    weights = torch.tensor([each.weight for each in chosen], device=DEVICE)[:, None].expand(-1, longest)
    total = torch.zeros((), device=DEVICE)
    for head, weight, smoothing in (("marks", 1.0, SMOOTHING), ("kind", 0.2, 0.0), ("personal", 0.2, 0.0)):
        truth = _placed(wanted[head], chosen, longest)
        loss = functional.cross_entropy(
            said[head].flatten(0, 1), truth.flatten(), ignore_index=IGNORED, label_smoothing=smoothing,
            reduction="none",
        )  # fmt: skip
        known = (truth != IGNORED).flatten()
        share = 1 - TEACHES if taught is not None and head == "marks" else 1.0
        total = total + share * weight * (loss * weights.flatten() * known).sum() / known.sum().clamp(min=1)
    return total if taught is None else total + TEACHES * _following(said["marks"], chosen, taught)


def _following(said: Tensor, chosen: Sequence[Window], taught: Sequence[Any]) -> Tensor:
    """How far the marks of each window's own message are from what teachers say of them."""
    wanted = np.zeros((*said.shape[:2], FINDER_HEADS["marks"]), np.float32)
    for at, (each, row) in enumerate(zip(chosen, taught, strict=True)):
        own = row[each.first :]
        wanted[at, 1 + each.first : 1 + each.first + len(own)] = own / own.sum(-1, keepdims=True)
    goal = torch.from_numpy(wanted).to(DEVICE)
    apart = functional.kl_div(said.log_softmax(-1), goal, reduction="none").sum(-1)
    return apart.sum() / (goal.sum(-1) > 0).sum().clamp(min=1)


def pair_loss(
    finder: Finder,
    words: Vocabulary,
    pairs: Sequence[NewsPair],
    tokens: Sequence[Encoded],
    taught: Any | None,
) -> Tensor:
    """Of whether what was said makes each memory untrue."""
    with autocast():
        ids, mask, types = batch(tokens, words.pad)
        said = finder.replaced(finder(ids, mask, types), mask)
    truth = torch.tensor([pair.replaced for pair in pairs], device=DEVICE)
    weight = torch.tensor([pair.weight for pair in pairs], device=DEVICE)
    loss = functional.cross_entropy(said, truth, reduction="none", label_smoothing=SMOOTHING)
    if taught is not None:
        goal = torch.tensor(taught, device=DEVICE)
        followed = functional.kl_div(said.log_softmax(-1), goal, reduction="none").sum(-1)
        loss = (1 - TEACHES) * loss + TEACHES * followed
    return (loss * weight).mean()


@torch.no_grad()
def marked(finder: Finder, words: Vocabulary, given: Sequence[Window]) -> list[list[list[float]]]:
    """The probabilities of OUTSIDE, INSIDE and BEGINS for each token of each window."""
    finder.eval()
    found: list[list[list[float]]] = [[] for _ in given]
    for chosen in _sorted_batches([len(each.ids) for each in given]):
        with autocast():
            ids, mask, types = batch([words.single(given[at].ids) for at in chosen], words.pad)
            said = finder.marks(finder(ids, mask, types))["marks"]
        for at, row in zip(chosen, said.softmax(-1).tolist(), strict=True):
            found[at] = row[1 : 1 + len(given[at].ids)]
    finder.train()
    return found


@torch.no_grad()
def replaced(finder: Finder, words: Vocabulary, asked: Sequence[tuple[str, str]]) -> Any:
    """How surely what was said (second) leaves each memory (first) as it is, or makes it untrue."""
    finder.eval()
    tokens = _encoded(words, asked)
    found = np.zeros((len(asked), 2), np.float32)
    for chosen in _sorted_batches([len(ids) for ids, _ in tokens]):
        with autocast():
            ids, mask, types = batch([tokens[at] for at in chosen], words.pad)
            said = finder.replaced(finder(ids, mask, types), mask)
        found[chosen] = said.softmax(-1).cpu().numpy()
    finder.train()
    return found


def _encoded(words: Vocabulary, asked: Sequence[tuple[str, str]]) -> list[Encoded]:
    texts = sorted({text for pair in asked for text in pair})
    ids = dict(
        zip(
            texts,
            (each.ids for each in words.tokens.encode_batch(texts, add_special_tokens=False)),
            strict=True,
        )
    )
    return [words.pair(ids[memory], ids[said]) for memory, said in asked]


def autocast() -> Any:
    """Half precision, where that is faster."""
    return torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda")


def _placed(values: Sequence[list[int]], chosen: Sequence[Window], longest: int) -> Tensor:
    """Labels at their tokens; those of the messages before, and unknown ones, are left out."""
    found = np.full((len(chosen), longest), IGNORED, np.int64)
    for at, (row, each) in enumerate(zip(values, chosen, strict=True)):
        own = np.array(row[each.first :], np.int64)
        found[at, 1 + each.first : 1 + each.first + len(own)] = np.where(own == UNKNOWN, IGNORED, own)
    return torch.from_numpy(found).to(DEVICE)


def similar(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Batches of inputs of like length, in an order of chance, without end."""
    while True:
        order = random.sample(range(len(lengths)), len(lengths))
        parts = [
            sorted(order[at : at + size * 20], key=lambda one: lengths[one])
            for at in range(0, len(order), size * 20)
        ]
        batches = [part[at : at + size] for part in parts for at in range(0, len(part), size)]
        random.shuffle(batches)
        yield from batches


def _sorted_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    chosen: list[int] = []
    for at in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        if chosen and (len(chosen) + 1) * (lengths[chosen[0]] + 2) > TOKENS:
            yield chosen
            chosen = []
        chosen.append(at)
    if chosen:
        yield chosen
