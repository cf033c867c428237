"""What the reader's heads get wrong, as losses."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.network import DEVICE, Reader, Vocabulary, batch
from training.pairs import SAME, Pair
from training.talks import Talk

SMOOTHING: Final = 0.05
FROM_TEACHER: Final = 0.7  # the share of the loss that follows a teacher


def pair_loss(
    model: Reader,
    words: Vocabulary,
    pairs: Sequence[Pair],
    inputs: Sequence[tuple[list[int], list[int]]],
    taught: np.ndarray[Any, Any] | None,
) -> Tensor:
    """Of the judge; `taught` is what teachers say of the pairs, which need no label then."""
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        ids, mask, types = batch([words.pair(*tokens) for tokens in inputs], words.pad)
        states = model.states(ids, mask, types)
        said = model.whole(states, mask, "relation")
        stated = model.whole(states, mask, "states")
    known = torch.tensor([float(pair.label is not None) for pair in pairs], device=DEVICE)
    truth = torch.tensor([pair.label or 0 for pair in pairs], device=DEVICE)
    weight = torch.tensor([pair.weight for pair in pairs], device=DEVICE)
    loss = known * functional.cross_entropy(said, truth, reduction="none", label_smoothing=SMOOTHING)
    if taught is not None:
        wanted = torch.tensor(taught, device=DEVICE)
        followed = functional.kl_div(said.log_softmax(-1), wanted, reduction="none").sum(-1)
        loss = (1 - FROM_TEACHER) * loss + FROM_TEACHER * followed
    # A statement states what restates it; whether also with more detail nobody marked, hence the weight.
    restated = functional.cross_entropy(stated, (truth == SAME).long(), reduction="none")
    return ((loss + 0.2 * known * restated) * weight).mean()


def head_loss(
    model: Reader,
    words: Vocabulary,
    head: str,
    chosen: Sequence[tuple[Pair, tuple[list[int], list[int]], Any]],
) -> Tensor:
    """Of a head that says yes or no to two texts; last in each row is what teachers say, if anything."""
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        ids, mask, types = batch([words.pair(*tokens) for _, tokens, _ in chosen], words.pad)
        said = model.whole(model.states(ids, mask, types), mask, head)
    truth = torch.tensor([pair.label for pair, _, _ in chosen], device=DEVICE)
    weight = torch.tensor([pair.weight for pair, _, _ in chosen], device=DEVICE)
    loss = functional.cross_entropy(said, truth, reduction="none", label_smoothing=SMOOTHING)
    if chosen[0][2] is not None:
        wanted = torch.tensor(np.stack([taught for _, _, taught in chosen]), device=DEVICE)
        followed = functional.kl_div(said.log_softmax(-1), wanted, reduction="none").sum(-1)
        loss = (loss + followed) / 2
    return (loss * weight).mean()


def talk_loss(model: Reader, words: Vocabulary, talks: Sequence[Talk]) -> Tensor:
    """Of the gate, and of the words that carry facts."""
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
