"""Writes networks as ONNX: int8 weights, ready to be shipped."""

import warnings
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from training.network import Finder, Reader, body_of, filled
from training.weights import Arrays, load

TRAINED: Final = Path("build/trained")
ONNX: Final = Path("build/onnx")


class _Reader(nn.Module):
    """A reader as one graph: tokens in, probabilities out."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, ...]:
        states = self.reader.states(ids, mask, types)
        return tuple(self.reader.whole(states, mask, head).softmax(-1) for head in self.reader.heads)


class _Finder(nn.Module):
    """A finder as one graph: tokens in, probabilities out."""

    def __init__(self, finder: Finder) -> None:
        super().__init__()
        self.finder = finder

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, ...]:
        states = self.finder(ids, mask, types)
        of_tokens = (said.softmax(-1) for said in self.finder.marks(states).values())
        return (*of_tokens, self.finder.replaced(states, mask).softmax(-1))


class _Embedder(nn.Module):
    """An embedder as one graph: tokens in, vectors of length one out."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.body(input_ids=ids, attention_mask=mask).last_hidden_state
        weight = mask[..., None].to(states.dtype)
        return nn.functional.normalize((states * weight).sum(1) / weight.sum(1), dim=-1)


def export(kind: str, body: str, name: str) -> Path:
    """Writes trained weights as a graph with int8 matrices; answers where it is."""
    ONNX.mkdir(parents=True, exist_ok=True)
    whole, small = ONNX / f"{name}.onnx", ONNX / f"{name}_int8.onnx"
    weights = load(TRAINED, name)
    if kind == "reader":
        reader_graph(reader_of(weights, body), whole)
    elif kind == "finder":
        own = {key.removeprefix("body."): value for key, value in weights.items() if key.startswith("body.")}
        finder_graph(filled(Finder(body, own), weights), whole)
    else:
        embedder_graph(filled(body_of(body), weights), whole)
    int8(whole, small)
    optimise(small)
    return small


def reader_of(weights: Arrays, body: str) -> Reader:
    """The reader with these weights; one that ships has no heads for tokens."""
    layers = len({key.split(".")[3] for key in weights if key.startswith("body.encoder.layer.")})
    reader = Reader(body, layers)
    own = {key: value.numpy() for key, value in reader.state_dict().items()}
    return filled(reader, own | weights)


def reader_graph(reader: Reader, path: Path) -> None:
    """Writes a reader in full precision."""
    _write(_Reader(reader), ("ids", "mask", "types"), list(reader.heads), path)


def finder_graph(finder: Finder, path: Path) -> None:
    """Writes a finder in full precision."""
    _write(_Finder(finder), ("ids", "mask", "types"), [*finder.heads, "replaces"], path)


def embedder_graph(body: nn.Module, path: Path) -> None:
    """Writes an embedder in full precision."""
    _write(_Embedder(body), ("ids", "mask"), ["vectors"], path)


def _write(model: nn.Module, inputs: tuple[str, ...], outputs: list[str], path: Path) -> None:
    model.eval()
    example = tuple(torch.ones((2, 8), dtype=torch.int64) for _ in inputs)
    axes = {name: {0: "texts", 1: "tokens"} for name in inputs} | {name: {0: "texts"} for name in outputs}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, example, str(path), input_names=list(inputs), output_names=outputs, dynamic_axes=axes,
            opset_version=17, dynamo=False,
        )  # fmt: skip


def int8(source: Path, target: Path) -> None:
    """The graph with int8 matrices and vocabulary."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        source,
        target,
        per_channel=True,
        weight_type=QuantType.QInt8,
        # Seven bits: with eight, processors without VNNI saturate, and say something else than the others.
        reduce_range=True,
        op_types_to_quantize=["MatMul", "Gather"],
        extra_options={"MatMulConstBOnly": True},
    )


def optimise(path: Path) -> None:
    """Fuses what can be fused, so that whoever loads the graph need not."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path.with_suffix(".fused"))
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    path.with_suffix(".fused").replace(path)
