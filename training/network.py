"""The networks: public bodies, and the heads that read pairs of statements and conversations."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from torch import Tensor, nn
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

from training.rows import FOUND_KINDS, KINDS, LABELS
from training.weights import STARTS, Arrays, load, pack

Network = TypeVar("Network", bound=nn.Module)

DEVICE: Final = "cuda" if torch.cuda.is_available() else "cpu"
LONGEST: Final = 384  # tokens
HEADS: Final = {"relation": len(LABELS), "states": 2, "remember": 2, "helps": 2}  # of the whole text
TOKEN_HEADS: Final = {"carries": 2, "kind": len(KINDS)}  # of each token
FINDER_HEADS: Final = {"marks": 3, "kind": len(FOUND_KINDS), "personal": 2}  # of each token


@dataclass(frozen=True)
class Vocabulary:
    """How a body wants its tokens."""

    tokens: Tokenizer
    start: int
    end: int
    between: tuple[int, ...]  # two statements
    pad: int
    typed: bool  # whether the second statement is marked

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without the marks around it."""
        return self.tokens.encode(text, add_special_tokens=False).ids

    def single(self, ids: Sequence[int], most: int = LONGEST) -> tuple[list[int], list[int]]:
        """One text as the body reads it: tokens, and which statement each belongs to."""
        tokens = [self.start, *ids[: most - 2], self.end]
        return tokens, [0] * len(tokens)

    def pair(
        self, first: Sequence[int], second: Sequence[int], most: int = LONGEST
    ) -> tuple[list[int], list[int]]:
        """Two texts as the body reads them; a first one that is too long is cut."""
        second = second[: most // 2]
        room = most - 2 - len(self.between) - len(second)
        before = [self.start, *first[:room], *self.between]
        after = [*second, self.end]
        return before + after, [0] * len(before) + [int(self.typed)] * len(after)


@cache
def vocabulary(body: str) -> Vocabulary:
    """The vocabulary of a public body."""
    if body == "mpnet":
        tokens = Tokenizer.from_file(str(STARTS / "mpnet_tokenizer.json"))
        tokens.no_padding()
        tokens.no_truncation()
        return Vocabulary(tokens, 0, 2, (2, 2), 1, typed=False)
    words = BertWordPieceTokenizer(str(STARTS / "vocab.txt"), lowercase=True)
    return Vocabulary(words._tokenizer, 101, 102, (102,), 0, typed=True)


def body_of(name: str, layers: int = 0, weights: Arrays | None = None) -> nn.Module:
    """A body with its public weights, or with others; `layers` keeps so many of them, spread evenly."""
    model: Any
    if name == "mpnet":
        settings = json.loads((STARTS / "mpnet_config.json").read_text())
        keep = {
            key: value
            for key, value in settings.items()
            if not key.startswith(("_", "archi", "torch", "transf"))
        }
        model = MPNetModel(MPNetConfig(**keep), add_pooling_layer=False)
    else:
        depth = {"minilm": 6, "e5": 12}[name]
        config = BertConfig(
            hidden_size=384, num_hidden_layers=depth, num_attention_heads=12, intermediate_size=1536
        )
        model = BertModel(config, add_pooling_layer=False)
    known = load(STARTS, name) if weights is None else weights
    given = {key.removeprefix("mpnet."): torch.tensor(value) for key, value in known.items()}
    told = model.load_state_dict(given, strict=False)
    missing = [key for key in told.missing_keys if "position_ids" not in key]
    if missing:
        raise ValueError(f"{name} lacks {missing[:5]}")
    if layers:
        all_layers = model.encoder.layer
        chosen = [round(at * (len(all_layers) - 1) / (layers - 1)) for at in range(layers)]
        model.encoder.layer = nn.ModuleList(all_layers[at] for at in chosen)
        model.config.num_hidden_layers = layers
    return model


class Reader(nn.Module):
    """A body with heads: what two statements are to each other, and what a conversation holds."""

    def __init__(self, body: str, layers: int = 0) -> None:
        super().__init__()
        self.name = body
        self.body = body_of(body, layers)
        width = self.body.config.hidden_size
        self.heads = nn.ModuleDict(
            {
                name: nn.Sequential(
                    nn.Dropout(0.1), nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, size)
                )
                for name, size in HEADS.items()
            }
        )
        self.token_heads = nn.ModuleDict(
            {
                name: nn.Sequential(nn.Dropout(0.1), nn.Linear(width, size))
                for name, size in TOKEN_HEADS.items()
            }
        )

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The last hidden state of each token."""
        marks = {} if self.name == "mpnet" else {"token_type_ids": types}
        found: Tensor = self.body(input_ids=ids, attention_mask=mask, **marks).last_hidden_state
        return found

    def whole(self, states: Tensor, mask: Tensor, head: str) -> Tensor:
        """What a head says about the whole text."""
        found: Tensor = self.heads[head](torch.cat([states[:, 0], mean_of(states, mask)], -1))
        return found.float()


class Finder(nn.Module):
    """A body that marks which tokens of a message carry facts, and says which memories it makes untrue."""

    def __init__(self, body: str, weights: Arrays | None = None) -> None:
        super().__init__()
        self.name = body
        self.body = body_of(body, weights=weights)
        width = self.body.config.hidden_size
        self.heads = nn.ModuleDict(
            {
                name: nn.Sequential(nn.Dropout(0.1), nn.Linear(width, size))
                for name, size in FINDER_HEADS.items()
            }
        )
        self.replaces = nn.Sequential(
            nn.Dropout(0.1), nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, 2)
        )

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The last hidden state of each token."""
        marks = {} if self.name == "mpnet" else {"token_type_ids": types}
        found: Tensor = self.body(input_ids=ids, attention_mask=mask, **marks).last_hidden_state
        return found

    def marks(self, states: Tensor) -> dict[str, Tensor]:
        """What the heads say of each token."""
        return {name: head(states).float() for name, head in self.heads.items()}

    def replaced(self, states: Tensor, mask: Tensor) -> Tensor:
        """Whether the second text makes the first one untrue."""
        found: Tensor = self.replaces(torch.cat([states[:, 0], mean_of(states, mask)], -1))
        return found.float()


def mean_of(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of the tokens' states."""
    weight = mask[..., None].to(states.dtype)
    return (states * weight).sum(1) / weight.sum(1)


def batch(inputs: Sequence[tuple[list[int], list[int]]], pad: int) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens, mask and types of several inputs, padded to the longest."""
    longest = max(len(ids) for ids, _ in inputs)
    ids = np.full((len(inputs), longest), pad, np.int64)
    mask = np.zeros((len(inputs), longest), np.int64)
    types = np.zeros((len(inputs), longest), np.int64)
    for at, (tokens, kinds) in enumerate(inputs):
        ids[at, : len(tokens)] = tokens
        mask[at, : len(tokens)] = 1
        types[at, : len(kinds)] = kinds
    return tuple(torch.from_numpy(each).to(DEVICE, non_blocking=True) for each in (ids, mask, types))  # type: ignore[return-value]


def packed(model: nn.Module) -> Arrays:
    """The weights of a network, packed."""
    return pack({key: value.detach().float().cpu().numpy() for key, value in model.state_dict().items()})


def filled(model: Network, weights: Arrays) -> Network:
    """The network with these weights in it."""
    model.load_state_dict({key: torch.tensor(value) for key, value in weights.items()})
    return model
