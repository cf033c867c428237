"""Trains the embedder: a question comes near the memory that helps with it; the rest stays where it was."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.measure import dialogue_figures, locomo, pool_figures, question_figures
from training.network import DEVICE, Vocabulary, batch, body_of, packed, vocabulary
from training.pairs import text_of
from training.rows import Row, dialogues, pools, rows
from training.weights import save

KINDS: Final = ("asks", "states", "beside")
HEAT: Final = 0.05
CUT: Final = 0.45  # the cosine from which a memory should help
STEEP: Final = 20.0


@dataclass(frozen=True)
class Course:
    """How an embedder is trained."""

    body: str
    steps: int = 1200
    rate: float = 5e-5
    size: int = 192
    seed: int = 0
    part: str = "training"
    keep: float = 0.5  # how much it is held to where it started
    follow: float = 1.0  # how much it follows its teacher
    teacher: Path | None = None  # texts and their vectors
    apart: float = 0.0  # how much it learns to keep memories apart from prompts that they do not help with


@dataclass(frozen=True)
class Item:
    """What one memory teaches: who asks for it, what states it, and what stands beside it."""

    asks: list[str]
    states: list[str]
    beside: list[str]


def items(part: str) -> list[Item]:
    """All that the clusters and pools of a part teach."""
    found: list[Item] = []
    for row in rows("clusters", part):
        asks = row["questions"] + 2 * row["oblique"] + row["same"][:1]
        prefixed = [f"{row['subject']}. {row['memory']}"] if row.get("subject") else [row["memory"]]
        found.append(Item(asks, 2 * [row["memory"]] + 2 * prefixed + row["same"], row["distinct"]))
    for memories, prompts in pools(part):
        texts = {row["id"]: text_of(row) for row in memories}
        for prompt in prompts:
            if prompt["relevant"]:
                others = [text for name, text in texts.items() if name not in prompt["relevant"]]
                found.append(Item([prompt["prompt"]], [texts[name] for name in prompt["relevant"]], others))
    before = ["Good morning, what can I do for you?"]
    for row in rows("talks", part):
        said = [message["text"] for message in row["messages"]]
        for fact in row["facts"]:
            holding = [text for text in said if fact["from"] in text]
            others = [text for text in said if text not in holding]
            found.append(Item([fact["content"]], holding, others or before))
        before = said
    for sessions, questions in dialogues(part):
        found += [item for question in questions for item in _of_dialogue(sessions, question)]
    return found


def _of_dialogue(sessions: list[Row], question: Row) -> list[Item]:
    """What a question about earlier sessions teaches: the messages that answer it, and those around them."""
    found = []
    for session in sessions:
        holding = [row["text"] for row in session["messages"] if row["id"] in question["evidence"]]
        around = [row["text"] for row in session["messages"] if row["id"] not in question["evidence"]]
        if holding:
            others = [row["text"] for other in random.sample(sessions, 4) for row in other["messages"]]
            apart = [text for text in others if text not in holding]
            found.append(Item([question["question"]], holding, around + apart))
    return found


def train(course: Course, out: Path) -> nn.Module:
    """Trains an embedder, prints how it does on the validation part, and saves its weights and vectors."""
    random.seed(course.seed)
    torch.manual_seed(course.seed)
    words = vocabulary(course.body)
    model = body_of(course.body).to(DEVICE)
    name = f"embedder_{course.body}_{course.seed}"
    print(course, flush=True)
    check(model, words, f"{course.body} as it was")
    started = time.monotonic()
    _fit(model, course, words)
    print(f"  {name}: {time.monotonic() - started:.0f} s", flush=True)
    check(model, words, name)
    if not course.teacher:
        texts = every_text(course.part)
        np.savez(out / f"{name}.vectors.npz", texts=np.array(texts, object), found=embed(model, words, texts))
    save(packed(model), out, name)
    return model


def _fit(model: nn.Module, course: Course, words: Vocabulary) -> None:
    base = body_of(course.body).to(DEVICE).eval()
    taught = _Taught(course.teacher) if course.teacher else None
    material, extra, users = items(course.part), every_text(course.part), pools(course.part)
    steering = torch.optim.AdamW(
        model.parameters(), lr=course.rate, weight_decay=0.01, fused=DEVICE == "cuda"
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        steering, course.rate, total_steps=course.steps + 1, pct_start=0.1
    )
    model.train()
    for _ in range(course.steps):
        chosen = random.sample(material, min(course.size, len(material)))
        texts = [random.choice(getattr(each, kind)) for kind in KINDS for each in chosen]
        vectors = _vectors(model, words, texts)
        near = _near(vectors)
        loss = _contrast_loss(vectors, near)
        if taught:
            loss = loss + course.follow * _follow_loss(near, taught.of(texts))
            sampled = random.sample(extra, 256)
            mine, theirs = _vectors(model, words, sampled), taught.of(sampled)
            loss = loss + 10 * course.follow * functional.mse_loss(mine @ mine.T, theirs @ theirs.T)
        if course.apart:
            loss = loss + course.apart * _apart_loss(model, words, *random.choice(users))
        if course.keep:
            with torch.no_grad():
                before = _vectors(base, words, texts)
            loss = loss + course.keep * (1 - (vectors * before).sum(-1)).mean()
        steering.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steering.step()
        schedule.step()


def _near(vectors: Tensor) -> Tensor:
    """How near each question is to all that states something, and to all that stands beside it."""
    question, wanted, other = vectors.chunk(len(KINDS))
    return torch.cat([question @ wanted.T, question @ other.T], 1) / HEAT


def _contrast_loss(vectors: Tensor, near: Tensor) -> Tensor:
    """A question is nearest to what states its answer, and that to its question."""
    question, wanted, _ = vectors.chunk(len(KINDS))
    aim = torch.arange(len(question), device=DEVICE)
    return functional.cross_entropy(near, aim) + 0.3 * functional.cross_entropy(
        wanted @ question.T / HEAT, aim
    )


def _follow_loss(near: Tensor, by_teacher: Tensor) -> Tensor:
    """The shares of nearness are those that the teacher sees."""
    return functional.kl_div(near.log_softmax(-1), _near(by_teacher).softmax(-1), reduction="batchmean")


def _apart_loss(model: nn.Module, words: Vocabulary, memories: list[Row], prompts: list[Row]) -> Tensor:
    """A cosine should tell by itself whether a memory helps, so that one threshold can keep silent."""
    texts = [text_of(row) for row in memories] + [row["prompt"] for row in prompts]
    known, asked = _vectors(model, words, texts).split([len(memories), len(prompts)])
    helps = torch.tensor(
        [[float(memory["id"] in prompt["relevant"]) for memory in memories] for prompt in prompts],
        device=DEVICE,
    )
    weight = torch.where(helps > 0, 10.0, 1.0)
    return functional.binary_cross_entropy_with_logits((asked @ known.T - CUT) * STEEP, helps, weight)


class _Taught:
    """The vectors of a teacher, by text."""

    def __init__(self, file: Path) -> None:
        given = np.load(file, allow_pickle=True)
        self._at = {text: at for at, text in enumerate(given["texts"])}
        self._vectors = torch.tensor(given["found"], device=DEVICE)

    def of(self, texts: Sequence[str]) -> Tensor:
        return self._vectors[torch.tensor([self._at[text] for text in texts], device=DEVICE)]


def every_text(part: str) -> list[str]:
    """All texts of a part."""
    found = [text for item in items(part) for text in (*item.asks, *item.states, *item.beside)]
    found += [message["text"] for row in rows("talks", part) for message in row["messages"]]
    found += [prompt["prompt"] for _, prompts in pools(part) for prompt in prompts]
    found += [
        row["text"] for sessions, _ in dialogues(part) for session in sessions for row in session["messages"]
    ]
    return sorted(set(found))


def _vectors(model: nn.Module, words: Vocabulary, texts: Sequence[str]) -> Tensor:
    encoded = words.tokens.encode_batch(list(texts), add_special_tokens=False)
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        ids, mask, _ = batch([words.single(each.ids, 256) for each in encoded], words.pad)
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weight = mask[..., None]
    return functional.normalize(((states * weight).sum(1) / weight.sum(1)).float(), dim=-1)


@torch.no_grad()
def embed(model: nn.Module, words: Vocabulary, texts: Sequence[str]) -> np.ndarray[Any, Any]:
    """The vectors of many texts."""
    model.eval()
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    found: np.ndarray[Any, Any] | None = None
    for start in range(0, len(order), 256):
        chosen = order[start : start + 256]
        part = _vectors(model, words, [texts[at] for at in chosen]).cpu().numpy()
        if found is None:
            found = np.zeros((len(texts), part.shape[1]), np.float32)
        found[chosen] = part
    model.train()
    assert found is not None
    return found


def check(model: nn.Module, words: Vocabulary, name: str) -> None:
    """Prints the figures on the validation part, and on LoCoMo where it is there."""

    def vectors(texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return embed(model, words, texts)

    print(f"  {name}: {question_figures(vectors, rows('clusters', 'validation'))}", flush=True)
    for part in ("validation", "training"):
        print(f"    pools for {part}: {pool_figures(vectors, pools(part))}", flush=True)
    print(f"    dialogues: {dialogue_figures(vectors, dialogues('validation'))}", flush=True)
    print(f"    {locomo(vectors)}", flush=True)
