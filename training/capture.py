"""Trains the finder: the reader's upper layers a second time, which mark the words that carry facts.

The layers below are shared and stay as they are, so what the reader says about pairs of statements and about
prompts does not change, and their output is computed once. A processor is enough for it.
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

from training.export import reader_of
from training.judge import steering_of
from training.losses import SMOOTHING
from training.marks import capture_figures
from training.network import DEVICE, Finder, Reader, Vocabulary, batch, packed, vocabulary
from training.weights import load, pack, save, shipped
from training.windows import UNKNOWN, Window, windows

GRAPH: Final = Path("weights/reader/holdfast_reader/model.onnx")
NAME: Final = "reader_shipped"
IGNORED: Final = -100
AT_ONCE: Final = 48  # windows that are only read


@dataclass(frozen=True)
class Course:
    """How a finder is trained."""

    seed: int = 0
    epochs: float = 3
    rate: float = 1e-4
    size: int = 32
    part: str = "training"


def shipped_reader(folder: Path) -> Reader:
    """The reader that ships; its weights are kept in `folder` from then on."""
    if not list(folder.glob(f"{NAME}_*.npz")):
        save(pack(shipped(GRAPH)), folder, NAME)
    return reader_of(load(folder, NAME), "e5")


def train(course: Course, out: Path) -> Finder:
    """Trains a finder, prints how it does on the validation part, and saves its weights."""
    random.seed(course.seed)
    torch.manual_seed(course.seed)
    reader, words = shipped_reader(out).to(DEVICE).eval(), vocabulary("e5")
    finder = Finder(reader).to(DEVICE)
    given = windows(course.part, words)
    below = lower_states(reader, words, given)
    steps = int(course.epochs * len(given) / course.size)
    steering, schedule = steering_of(finder, course.rate, steps)
    started = time.monotonic()
    finder.train()
    for chosen in islice(_similar(given, course.size), steps):
        loss = window_loss(finder, [given[at] for at in chosen], [below[at] for at in chosen])
        steering.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(finder.parameters(), 1.0)
        steering.step()
        schedule.step()
    print(f"{len(given)} windows, {steps} steps, {time.monotonic() - started:.0f} s", flush=True)
    print(capture_figures(lambda asked: marked(finder, reader, words, asked), words), flush=True)
    save(packed(finder), out, f"finder_{course.seed}")
    return finder


@torch.no_grad()
def lower_states(reader: Reader, words: Vocabulary, given: Sequence[Window]) -> list[Tensor]:
    """What the shared layers make of each window."""
    found: list[Tensor] = [torch.empty(0)] * len(given)
    for chosen in _sorted_batches(given, AT_ONCE):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            ids, mask, types = batch([words.single(given[at].ids) for at in chosen], words.pad)
            states = reader.lower(ids, mask, types).to(torch.bfloat16)
        for at, row in zip(chosen, states, strict=True):
            found[at] = row[: len(given[at].ids) + 2].clone()
    return found


@torch.no_grad()
def marked(
    finder: Finder, reader: Reader, words: Vocabulary, given: Sequence[Window]
) -> list[list[list[float]]]:
    """The probabilities of OUTSIDE, INSIDE and BEGINS for each token of each window."""
    finder.eval()
    below = lower_states(reader, words, given)
    found: list[list[list[float]]] = [[] for _ in given]
    for chosen in _sorted_batches(given, AT_ONCE):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            said = finder(*_padded([below[at] for at in chosen]))["marks"]
        for at, row in zip(chosen, said.float().softmax(-1).tolist(), strict=True):
            found[at] = row[1 : 1 + len(given[at].ids)]
    finder.train()
    return found


def window_loss(finder: Finder, chosen: Sequence[Window], below: Sequence[Tensor]) -> Tensor:
    """Of the marks in each window's own message, of the kinds of its facts, and of whom they are about."""
    states, mask = _padded(below)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        said = finder(states, mask)
    longest = states.shape[1]
    wanted = {
        "marks": [each.marks or [UNKNOWN] * len(each.ids) for each in chosen],
        "kind": [each.kinds for each in chosen],
        "personal": [each.personal for each in chosen],
    }
    total = torch.zeros((), device=DEVICE)
    for head, weight, smoothing in (("marks", 1.0, SMOOTHING), ("kind", 0.2, 0.0), ("personal", 0.2, 0.0)):
        truth = _placed(wanted[head], chosen, longest)
        if (truth != IGNORED).any():
            total = total + weight * functional.cross_entropy(
                said[head].float().flatten(0, 1),
                truth.flatten(),
                ignore_index=IGNORED,
                label_smoothing=smoothing,
            )
    return total


def _placed(values: Sequence[list[int]], chosen: Sequence[Window], longest: int) -> Tensor:
    """Labels at their tokens; those of the messages before, and unknown ones, are left out."""
    found = np.full((len(chosen), longest), IGNORED, np.int64)
    for at, (row, each) in enumerate(zip(values, chosen, strict=True)):
        own = np.array(row[each.first :], np.int64)
        found[at, 1 + each.first : 1 + each.first + len(own)] = np.where(own == UNKNOWN, IGNORED, own)
    return torch.from_numpy(found).to(DEVICE)


def _padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    states = torch.nn.utils.rnn.pad_sequence([row.float() for row in rows], batch_first=True)
    lengths = torch.tensor([len(row) for row in rows], device=states.device)
    return states, (torch.arange(states.shape[1], device=states.device)[None] < lengths[:, None]).float()


def _similar(given: Sequence[Window], size: int) -> Iterator[list[int]]:
    """Batches of windows of like length, in an order of chance, without end."""
    while True:
        order = random.sample(range(len(given)), len(given))
        parts = [
            sorted(order[at : at + size * 20], key=lambda one: len(given[one].ids))
            for at in range(0, len(order), size * 20)
        ]
        batches = [part[at : at + size] for part in parts for at in range(0, len(part), size)]
        random.shuffle(batches)
        yield from batches


def _sorted_batches(given: Sequence[Any], size: int) -> Iterator[list[int]]:
    order = sorted(range(len(given)), key=lambda at: len(given[at].ids))
    yield from (order[at : at + size] for at in range(0, len(order), size))
