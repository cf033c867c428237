"""Conversations as the network reads them: tokens, and the marks of whoever wrote them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from training.network import Reader, Vocabulary, batch
from training.rows import KINDS, Row


@dataclass(frozen=True)
class Talk:
    """A conversation as the network reads it."""

    ids: list[int]
    remember: int
    carries: list[int] | None  # 1 for each token that carries a fact; None where nobody marked them
    kinds: list[int]  # of those tokens, else -1


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
