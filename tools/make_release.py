"""Builds what a release consists of: `python -m tools.make_release DIRECTORY`.

The wheels of the package and of its models, a list of all that they depend on (CycloneDX), and the checksums
of both. The same commit makes the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (".", "weights/embedder", "weights/finder", "weights/reader")
SBOM = "holdfast.cdx.json"
SUMS = "SHA256SUMS"


def build_wheels(target: Path, root: Path = ROOT, *, epoch: str) -> None:
    """Builds the wheel of each package; `epoch` is the time of every file in them, in seconds."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    for package in PACKAGES:
        if (root / package).is_dir():
            command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
            subprocess.run(command, cwd=root / package, env=environment, check=True, capture_output=True)


def make_sbom(target: Path) -> None:
    """Lists what the release consists of, from the lock file and the pinned packages of the models."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    models = [one for one in declared["project"]["dependencies"] if one.startswith("holdfast-")]
    listed = (ROOT / "requirements" / "all.txt").read_text(encoding="utf-8") + "\n".join(models)
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "-", "--pyproject", "pyproject.toml"]
    command += [
        "--mc-type",
        "application",
        "--output-reproducible",
        "--validate",
        "--sv",
        "1.6",
        "-o",
        str(target),
    ]
    subprocess.run(command, cwd=ROOT, input=listed, text=True, check=True, capture_output=True)


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        sys.exit(f"{target} is not empty: remove it first")
    last = ["git", "log", "-1", "--format=%ct"]
    epoch = subprocess.run(last, cwd=ROOT, text=True, check=True, capture_output=True).stdout.strip()
    build_wheels(target.absolute(), epoch=epoch)
    make_sbom(target / SBOM)
    made = sorted(target.iterdir())
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in made]
    (target / SUMS).write_text("".join(sums), encoding="utf-8")
    sys.stdout.write("".join(sums))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
