"""Trains the reader: the judge of two statements, and the gate of conversations.

A large body learns from the labels; a small one learns from the labels and from what large ones say about the
same pairs and about pairs without a label.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.embedder import embed
from training.measure import gate_figures, helping_figures, relation_figures
from training.network import DEVICE, HEADS, Reader, Vocabulary, batch, body_of, packed, vocabulary
from training.pairs import Pair, helping, labelled, stating, unlabelled
from training.rows import KINDS, Row, pools, rows
from training.weights import save

SMOOTHING: Final = 0.05
FROM_TEACHER: Final = 0.7  # the share of the loss that follows a teacher
TALK_EVERY: Final = 5  # so many batches of pairs for one of conversations
TALKS: Final = 24
HELP_EVERY: Final = 3
STATE_EVERY: Final = 4
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
class Talk:
    """A conversation as the network reads it."""

    ids: list[int]
    remember: int
    carries: list[int] | None  # 1 for each token that carries a fact; None where nobody marked them
    kinds: list[int]  # of those tokens, else -1


def train(course: Course, out: Path) -> Reader:
    """Trains a reader, prints how it does on the validation part, and saves its weights and what it says."""
    random.seed(course.seed)
    torch.manual_seed(course.seed)
    words = vocabulary(course.body)
    known = labelled(course.part)
    more = unlabelled(course.part)
    taught = _taught(course.teachers, len(known) + len(more))
    pairs = known + more if course.teachers else known
    model = Reader(course.body, course.layers).to(DEVICE)
    started = time.monotonic()
    helps = helping(course.part, start_vectors())
    talks = [read_talk(row, words) for row in rows("talks", course.part) + rows("gate", course.part)]
    print(
        course,
        len(known),
        "labelled pairs",
        len(more),
        "more",
        len(talks),
        "talks",
        len(helps),
        "prompts",
        flush=True,
    )
    beside = {"helps": helps, "states": stating(course.part)}
    _fit(model, course, _inputs(pairs, words), pairs, taught, talks, beside)
    name = f"{course.body}{course.layers or ''}_{course.seed}"
    print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    check(model, words, f"{name}")
    if not course.teachers:
        np.savez(out / f"{name}.{PROBABILITIES}.npz", found=both_orders(model, words, known + more))
    save(packed(model), out, f"reader_{name}")
    return model


def check(model: Reader, words: Vocabulary, name: str) -> None:
    """Prints the figures on the validation part."""
    pairs = [pair for pair in labelled("validation") if pair.weight == 1.0]
    print(
        f"  {name} validation clusters: {relation_figures(one_order(model, words, pairs), pairs)}", flush=True
    )
    held = [
        Pair(row["existing"], row["new"], ("same", "contradicts", "distinct").index(row["relation"]))
        for row in rows("relations", "validation")
    ]
    if held:
        print(
            f"  {name} validation relations: {relation_figures(one_order(model, words, held), held)}",
            flush=True,
        )
    vectors = start_vectors()
    for part in ("validation", "training"):
        figures = helping_figures(vectors, lambda given: helps_with(model, words, given), pools(part))
        print(f"  {name} {part} pools{figures}", flush=True)
    talks = rows("talks", "validation") + rows("gate", "validation")
    if talks:
        print(
            f"  {name} validation talks: {gate_figures(*read_talks(model, words, talks), talks)}", flush=True
        )


def start_vectors() -> Callable[[Sequence[str]], np.ndarray[Any, Any]]:
    """The public embedder, which says what is near."""
    body, words = body_of("minilm").to(DEVICE), vocabulary("minilm")
    return lambda texts: embed(body, words, texts)


def _taught(files: Sequence[Path], count: int) -> np.ndarray[Any, Any] | None:
    if not files:
        return None
    found = np.mean([np.load(file)["found"] for file in files], 0)
    if len(found) != count:
        raise ValueError(f"the teachers saw {len(found)} pairs, not these {count}")
    return found.astype(np.float32)


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


def _fit(
    model: Reader,
    course: Course,
    inputs: Sequence[tuple[list[int], list[int]]],
    pairs: Sequence[Pair],
    taught: np.ndarray[Any, Any] | None,
    talks: Sequence[Talk],
    beside: Mapping[str, Sequence[Pair]],
) -> None:
    words = vocabulary(course.body)
    epochs = [_by_length(inputs, _some(pairs), course.size) for _ in range(course.epochs)]
    steps = sum(map(len, epochs))
    groups = [
        {
            "params": [value for key, value in model.named_parameters() if key.startswith("body")],
            "lr": course.rate,
        },
        {
            "params": [value for key, value in model.named_parameters() if not key.startswith("body")],
            "lr": 4 * course.rate,
        },
    ]
    steering = torch.optim.AdamW(groups, weight_decay=0.01, fused=DEVICE == "cuda")
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        steering, [course.rate, 4 * course.rate], total_steps=steps + 1, pct_start=0.08
    )
    talk_batches = _endless(talks, TALKS)
    batches = {
        head: _endless(list(zip(given, _inputs(given, words), strict=True)), size)
        for (head, given), size in zip(beside.items(), (course.size, 32), strict=True)
    }
    weights = torch.tensor([pair.weight for pair in pairs])
    labels = torch.tensor([pair.label for pair in pairs])
    count_known = len(pairs) if taught is None else len(labelled(course.part))
    model.train()
    step = 0
    for order in epochs:
        for chosen in order:
            swapped = [random.random() < 0.5 for _ in chosen]
            together = [
                words.pair(*(inputs[at][::-1] if turn else inputs[at]))
                for at, turn in zip(chosen, swapped, strict=True)
            ]
            at = torch.tensor(chosen)
            with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
                ids, mask, types = batch(together, words.pad)
                states = model.states(ids, mask, types)
                said = model.whole(states, mask, "relation")
                stated = model.whole(states, mask, "states")
            own = (at < count_known).float().to(DEVICE)
            truth = labels[at].to(DEVICE)
            loss = functional.cross_entropy(said, truth, reduction="none", label_smoothing=SMOOTHING) * own
            if taught is not None:
                wanted = torch.tensor(taught[chosen], device=DEVICE)
                followed = functional.kl_div(said.log_softmax(-1), wanted, reduction="none").sum(-1)
                loss = (1 - FROM_TEACHER) * loss + FROM_TEACHER * followed
            # A passage states what restates it; whether with more detail nobody marked, hence the weight.
            loss = loss + 0.2 * own * functional.cross_entropy(stated, (truth == 0).long(), reduction="none")
            total = (loss * weights[at].to(DEVICE)).mean()
            if talks and step % TALK_EVERY == 0:
                total = total + _talk_loss(model, words, next(talk_batches))
            for head, every in (("helps", HELP_EVERY), ("states", STATE_EVERY)):
                if step % every == 1:
                    total = total + _head_loss(model, words, head, next(batches[head]))
            steering.zero_grad(set_to_none=True)
            total.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steering.step()
            schedule.step()
            step += 1


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


def _head_loss(
    model: Reader, words: Vocabulary, head: str, chosen: Sequence[tuple[Pair, tuple[list[int], list[int]]]]
) -> Tensor:
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        ids, mask, types = batch([words.pair(*tokens) for _, tokens in chosen], words.pad)
        said = model.whole(model.states(ids, mask, types), mask, head)
    truth = torch.tensor([pair.label for pair, _ in chosen], device=DEVICE)
    weight = torch.tensor([pair.weight for pair, _ in chosen], device=DEVICE)
    return (
        functional.cross_entropy(said, truth, reduction="none", label_smoothing=SMOOTHING) * weight
    ).mean()


def _talk_loss(model: Reader, words: Vocabulary, talks: Sequence[Talk]) -> Tensor:
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        ids, mask, types = batch([words.single(each.ids) for each in talks], words.pad)
        states = model.states(ids, mask, types)
        remember = model.whole(states, mask, "remember")
        carries = model.token_heads["carries"](states).float()
        kinds = model.token_heads["kind"](states).float()
    longest = ids.shape[1]
    marked = torch.full((len(talks), longest), -100)
    kind = torch.full((len(talks), longest), -100)
    for at, talk in enumerate(talks):
        if talk.carries is not None:
            room = longest - 1
            marked[at, 1 : 1 + len(talk.carries)] = torch.tensor(talk.carries[:room])
            of = torch.tensor([each if each >= 0 else -100 for each in talk.kinds[:room]])
            kind[at, 1 : 1 + len(of)] = of
    truth = torch.tensor([each.remember for each in talks], device=DEVICE)
    loss = functional.cross_entropy(remember, truth, label_smoothing=SMOOTHING)
    if (marked >= 0).any():
        rarer = torch.tensor([1.0, 2.0], device=DEVICE)  # a word that is missed is worse than one too many
        loss = loss + functional.cross_entropy(
            carries.flatten(0, 1), marked.flatten().to(DEVICE), rarer, ignore_index=-100
        )
    if (kind >= 0).any():
        loss = loss + 0.6 * functional.cross_entropy(
            kinds.flatten(0, 1), kind.flatten().to(DEVICE), ignore_index=-100
        )
    return loss


# --------------------------------------------------------------------------------------------- conversations


def read_talk(row: Row, words: Vocabulary, most: int = 382) -> Talk:
    """A conversation as tokens, with the marks of its author."""
    ids: list[int] = []
    carries: list[int] = []
    kinds: list[int] = []
    for message in row["messages"]:
        text = f"{message['role']}: {message['text']}\n"
        encoded = words.tokens.encode(text, add_special_tokens=False)
        spans = [
            (text.find(fact["from"]), text.find(fact["from"]) + len(fact["from"]), KINDS.index(fact["kind"]))
            for fact in row["facts"]
            if fact.get("from") and fact["from"] in text
        ]
        for number, (start, end) in zip(encoded.ids, encoded.offsets, strict=True):
            kind = next((kind for first, last, kind in spans if start >= first and end <= last), -1)
            ids.append(number)
            carries.append(int(kind >= 0))
            kinds.append(kind)
    marked = not row["remember"] or any(fact.get("from") for fact in row["facts"])
    return Talk(ids[:most], int(row["remember"]), carries[:most] if marked else None, kinds[:most])


@torch.no_grad()
def read_talks(
    model: Reader, words: Vocabulary, talks: Sequence[Row]
) -> tuple[list[float], list[list[float]]]:
    """How surely each conversation is worth keeping, and each of its tokens carries a fact."""
    model.eval()
    keep: list[float] = []
    tokens: list[list[float]] = []
    for start in range(0, len(talks), 32):
        read = [read_talk(row, words) for row in talks[start : start + 32]]
        ids, mask, types = batch([words.single(each.ids) for each in read], words.pad)
        states = model.states(ids, mask, types)
        keep += model.whole(states, mask, "remember").softmax(-1)[:, 1].tolist()
        found = model.token_heads["carries"](states).float().softmax(-1)[..., 1].tolist()
        tokens += [row[1 : 1 + len(each.ids)] for row, each in zip(found, read, strict=True)]
    model.train()
    return keep, tokens


# -------------------------------------------------------------------------------------------------- judging


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
