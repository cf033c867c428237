"""Trains the reader: the judge of two statements, and the gate of conversations.

A large body learns from the labels; a small one learns from the labels and from what large ones say about the
same pairs and about pairs without a label.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from training.embedder import embed
from training.losses import head_loss, pair_loss, talk_loss
from training.measure import gate_figures, helping_figures, relation_figures
from training.network import DEVICE, HEADS, Reader, Vocabulary, batch, body_of, packed, vocabulary
from training.pairs import Pair, kept_helping, labelled, stating, unlabelled
from training.rows import pools, rows
from training.talks import Talk, read_talk, read_talks
from training.weights import save

TALK_EVERY: Final = 4  # so many batches of pairs for one of conversations
TALKS: Final = 24
HELP_EVERY: Final = 3
STATE_EVERY: Final = 4
STATES: Final = 32
PROBABILITIES: Final = "probabilities"


@dataclass(frozen=True)
class Course:
    """How a reader is trained."""

    body: str
    layers: int = 0
    epochs: int = 4
    rate: float = 5e-5
    size: int = 96
    seed: int = 0
    part: str = "training"
    teachers: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Material:
    """What a reader is trained on."""

    pairs: list[Pair]  # those without a label weigh nothing but for what the teachers say of them
    taught: np.ndarray[Any, Any] | None  # what the teachers say of each pair
    talks: list[Talk]
    helps: list[Pair]
    helps_taught: np.ndarray[Any, Any] | None
    states: list[Pair]


def train(course: Course, out: Path) -> Reader:
    """Trains a reader, prints how it does on the validation part, and saves its weights and what it says."""
    random.seed(course.seed)
    torch.manual_seed(course.seed)
    words = vocabulary(course.body)
    every = [*labelled(course.part), *unlabelled(course.part)]
    material = Material(
        pairs=every if course.teachers else [pair for pair in every if pair.label is not None],
        taught=_taught(course.teachers, "found"),
        talks=[read_talk(row, words) for row in rows("talks", course.part) + rows("gate", course.part)],
        helps=kept_helping(course.part, start_vectors),
        helps_taught=_taught(course.teachers, "helps"),
        states=stating(course.part),
    )
    sizes = {
        field.name: len(getattr(material, field.name) or ())
        for field in fields(material)
        if not field.name.endswith("taught")
    }
    print(course, sizes, flush=True)
    model = Reader(course.body, course.layers).to(DEVICE)
    started = time.monotonic()
    _fit(model, course, material)
    name = f"{course.body}{course.layers or ''}_{course.seed}"
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    check(model, words, name)
    if not course.teachers:
        np.savez(
            out / f"{name}.{PROBABILITIES}.npz",
            found=both_orders(model, words, every),
            helps=one_order(model, words, material.helps, head="helps"),
        )
    save(packed(model), out, f"reader_{name}")
    return model


def check(model: Reader, words: Vocabulary, name: str) -> None:
    """Prints the figures on the validation part."""
    pairs = [pair for pair in labelled("validation") if pair.weight == 1.0]
    figures = relation_figures(one_order(model, words, pairs), pairs)
    print(f"  {name} validation clusters: {figures}", flush=True)
    vectors = start_vectors()
    for part in ("validation", "training"):
        figures = helping_figures(vectors, lambda given: helps_with(model, words, given), pools(part))
        print(f"  {name} {part} pools{figures}", flush=True)
    talks = rows("talks", "validation")
    figures = gate_figures(read_talks(model, words, talks)[0], talks)
    print(f"  {name} validation talks: {figures}", flush=True)


def start_vectors() -> Callable[[Sequence[str]], np.ndarray[Any, Any]]:
    """The public embedder, which says what is near."""
    body, words = body_of("minilm").to(DEVICE), vocabulary("minilm")
    return lambda texts: embed(body, words, texts)


def _taught(files: Sequence[Path], what: str) -> np.ndarray[Any, Any] | None:
    """What the teachers say on average."""
    return np.mean([np.load(file)[what] for file in files], 0).astype(np.float32) if files else None


def _inputs(pairs: Sequence[Pair], words: Vocabulary) -> list[tuple[list[int], list[int]]]:
    texts = sorted({text for pair in pairs for text in (pair.first, pair.second)})
    encoded = dict(
        zip(
            texts,
            (each.ids for each in words.tokens.encode_batch(texts, add_special_tokens=False)),
            strict=True,
        )
    )
    return [(encoded[pair.first], encoded[pair.second]) for pair in pairs]


def _fit(model: Reader, course: Course, material: Material) -> None:
    words = vocabulary(course.body)
    inputs = _inputs(material.pairs, words)
    epochs = [_by_length(inputs, _some(material.pairs), course.size) for _ in range(course.epochs)]
    steering, schedule = steering_of(model, course.rate, sum(map(len, epochs)))
    talks = _endless(material.talks, TALKS)
    heads = {
        "helps": (
            HELP_EVERY,
            _endless(_with_inputs(material.helps, words, material.helps_taught), course.size),
        ),
        "states": (STATE_EVERY, _endless(_with_inputs(material.states, words), STATES)),
    }
    model.train()
    for step, chosen in enumerate(chain.from_iterable(epochs)):
        turned = [inputs[at][::-1] if random.random() < 0.5 else inputs[at] for at in chosen]
        taught = None if material.taught is None else material.taught[chosen]
        total = pair_loss(model, words, [material.pairs[at] for at in chosen], turned, taught)
        if step % TALK_EVERY == 0:
            total = total + talk_loss(model, words, next(talks))
        for head, (every, batches) in heads.items():
            if step % every == 1:
                total = total + head_loss(model, words, head, next(batches))
        steering.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steering.step()
        schedule.step()


def steering_of(
    model: torch.nn.Module, rate: float, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """The heads are new, so they learn faster than the body."""
    rates = {True: rate, False: 4 * rate}
    groups = [
        {
            "params": [value for key, value in model.named_parameters() if key.startswith("body") is of_body],
            "lr": own,
        }
        for of_body, own in rates.items()
    ]
    steering = torch.optim.AdamW(groups, weight_decay=0.01, fused=DEVICE == "cuda")
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        steering, list(rates.values()), total_steps=steps + 1, pct_start=0.08
    )
    return steering, schedule


def _with_inputs(
    pairs: Sequence[Pair], words: Vocabulary, taught: np.ndarray[Any, Any] | None = None
) -> list[tuple[Pair, tuple[list[int], list[int]], Any]]:
    said = [None] * len(pairs) if taught is None else taught
    return list(zip(pairs, _inputs(pairs, words), said, strict=True))


def _some(pairs: Sequence[Pair]) -> list[int]:
    """What an epoch sees: half of the pairs whose label follows only from two others."""
    return [at for at, pair in enumerate(pairs) if pair.weight > 0.5 or random.random() < 0.5]


def _by_length(inputs: Sequence[tuple[list[int], list[int]]], order: list[int], size: int) -> list[list[int]]:
    """Batches of inputs of like length, in an order of chance."""
    random.shuffle(order)
    window = size * 40
    found = []
    for start in range(0, len(order), window):
        part = sorted(order[start : start + window], key=lambda at: len(inputs[at][0]) + len(inputs[at][1]))
        found += [part[at : at + size] for at in range(0, len(part), size)]
    random.shuffle(found)
    return found


def _endless(given: Sequence[Any], size: int) -> Iterator[list[Any]]:
    while given:
        order = random.sample(list(given), len(given))
        yield from (order[at : at + size] for at in range(0, len(order), size))


@torch.no_grad()
def one_order(
    model: Reader, words: Vocabulary, pairs: Sequence[Pair], *, turned: bool = False, head: str = "relation"
) -> np.ndarray[Any, Any]:
    """The probabilities that a head gives for each pair, in one pass."""
    model.eval()
    inputs = _inputs(pairs, words)
    found = np.zeros((len(pairs), HEADS[head]), np.float32)
    order = sorted(range(len(pairs)), key=lambda at: len(inputs[at][0]) + len(inputs[at][1]))
    for start in range(0, len(order), 512):
        chosen = order[start : start + 512]
        together = [words.pair(*(inputs[at][::-1] if turned else inputs[at])) for at in chosen]
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
            ids, mask, types = batch(together, words.pad)
            said = model.whole(model.states(ids, mask, types), mask, head)
        found[chosen] = said.softmax(-1).cpu().numpy()
    model.train()
    return found


def both_orders(model: Reader, words: Vocabulary, pairs: Sequence[Pair]) -> np.ndarray[Any, Any]:
    """The mean of both orders: what a teacher says."""
    mean: np.ndarray[Any, Any] = (
        one_order(model, words, pairs) + one_order(model, words, pairs, turned=True)
    ) / 2
    return mean


def helps_with(model: Reader, words: Vocabulary, pairs: Sequence[Pair]) -> np.ndarray[Any, Any]:
    """How surely each memory helps with its prompt."""
    found: np.ndarray[Any, Any] = one_order(model, words, pairs, head="helps")[:, 1]
    return found
