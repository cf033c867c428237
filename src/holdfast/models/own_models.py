"""The models that ship with Holdfast: where their files are, and whether they are the right ones.

Each comes in a data-only package that is pinned by version. Its file is found without importing the package,
checked by its hash once a process, and loaded only when it is used.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from holdfast.errors import Unavailable
from holdfast.models.wordpiece import WordPiece

FILE = "model.onnx"
_VOCABULARY = Path(__file__).parent / "wordpiece_data" / "vocab.txt"


@dataclass(frozen=True, slots=True)
class Shipped:
    """A model's package, version and hash."""

    what: str  # as a person calls it
    package: str
    version: str
    sha256: str

    @property
    def name(self) -> str:
        return f"{self.package}/{self.version}"


EMBEDDER = Shipped(
    what="embedder",
    package="holdfast-embedder",
    version="1.1.0",
    sha256="e8c4b11d8915b4284f0b723e3e14b8b895ab1b03d2ea12816fca80f5cc7de035",
)
READER = Shipped(
    what="reader",
    package="holdfast-reader",
    version="1.3.0",
    sha256="fb58eba8061127f8f0a51a31b3635bac96bb6b7bd277191acf2558e8328128cf",
)
FINDER = Shipped(
    what="finder",
    package="holdfast-finder",
    version="1.0.0",
    sha256="793c22df320a446546c8a783943a57e46f4280919bf23496ebfafa5023d9207d",
)


def find(model: Shipped, folder: str | None = None) -> Path:
    """The model's file, from `folder` where one is given, else from its package.

    Raises: Unavailable, saying what is missing and how to get it.
    """
    path = Path(folder).expanduser() / FILE if folder else _packaged(model)
    if path is None or not path.is_file():
        where = f"{path} does not exist" if path else f"the package {model.package} is not installed"
        raise Unavailable(
            f"no {model.what}: {where}", command=f"run `pip install {model.package}=={model.version}`"
        )
    found = path.stat()
    if _hash(path, found.st_mtime_ns, found.st_size) != model.sha256:
        raise Unavailable(
            f"{path} is not the {model.what} that this release needs: it is damaged or of another version",
            command=f"run `pip install --force-reinstall {model.package}=={model.version}`",
        )
    return path


def open_session(path: Path, threads: int) -> Any:
    """The network in a file, ready to run."""
    # The library reports on its use to its vendor unless it is told not to before it is imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # Imported here, as numpy is: a process may never need them, and they take a third of a second.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The file was optimised when it was exported.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@cache
def word_pieces() -> WordPiece:
    """The vocabulary of all three, read when first asked for."""
    return WordPiece.load(_VOCABULARY)


def _packaged(model: Shipped) -> Path | None:
    try:
        files = metadata.files(model.package) or []
    except metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if file.name == FILE), None)
    return Path(str(found.locate())) if found else None


@cache
def _hash(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
