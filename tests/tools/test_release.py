"""What a release is made of: locked dependencies, wheels that can be built again, and a list of it all."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.requirements_ledger import requirement
from tools.make_release import PACKAGES, ROOT, build_wheels, make_sbom

LOCKS = {
    name: (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8") for name in ("base", "all")
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def locked(name: str) -> dict[str, str]:
    """The version of each package in a lock file; the first, where it depends on the platform."""
    found: dict[str, str] = {}
    for package, version in re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", LOCKS[name], re.M):
        found.setdefault(canonicalize_name(package), version)
    return found


def declared(*extras: str) -> list[Requirement]:
    texts = [
        *PROJECT["dependencies"],
        *(one for extra in extras for one in PROJECT["optional-dependencies"][extra]),
    ]
    return [one for one in map(Requirement, texts) if not one.name.startswith("holdfast-")]


@requirement("trust.release")
def test_every_dependency_is_locked_to_a_version_that_we_declare() -> None:
    everything = declared(*PROJECT["optional-dependencies"])

    for name, wanted in (("base", declared()), ("all", everything)):
        versions = locked(name)
        assert [str(one) for one in wanted if not one.specifier.contains(versions.get(one.name, "0"))] == []
    assert locked("base").items() <= locked("all").items()


@requirement("trust.release")
@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes_and_none_an_address(name: str) -> None:
    entries = re.split(r"^(?=\S)", LOCKS[name], flags=re.M)[1:]

    assert len(entries) > 40
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in LOCKS[name]


@requirement("trust.release")
def test_the_list_of_what_is_in_a_release_is_valid_and_complete(tmp_path: Path) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    make_sbom(tmp_path / "first.json")
    make_sbom(tmp_path / "second.json")

    text = (tmp_path / "first.json").read_text(encoding="utf-8")
    told: dict[str, Any] = json.loads(text)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert text == (tmp_path / "second.json").read_text(encoding="utf-8")
    assert told["metadata"]["component"]["name"] == PROJECT["name"]
    listed = {canonicalize_name(one["name"]) for one in told["components"]}
    assert listed >= set(locked("all")) | {"holdfast-embedder", "holdfast-finder", "holdfast-reader"}
    assert all(one["purl"].startswith("pkg:pypi/") for one in told["components"])


@requirement("trust.release")
@pytest.mark.slow
def test_two_builds_of_the_same_files_are_the_same_bytes(tmp_path: Path) -> None:
    builds = []
    for number, mask in enumerate((0o022, 0o077)):
        root = tmp_path / f"checkout-{number}"
        before = os.umask(mask)
        try:
            _check_out(root, age=number * 86_400)
            build_wheels(tmp_path / f"dist-{number}", root, epoch="1767225600")
        finally:
            os.umask(before)
        builds.append({file.name: file.read_bytes() for file in (tmp_path / f"dist-{number}").iterdir()})

    assert builds[0] == builds[1]
    assert len(builds[0]) == len(PACKAGES)


def _check_out(root: Path, age: int) -> None:
    """The files that wheels are built of, at another place and of another time."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("pyproject.toml", "README.md", "LICENSE", "src", "weights"):
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=unwanted, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(source, target)
    for file in root.rglob("*"):
        os.utime(file, (1_700_000_000 + age, 1_700_000_000 + age))
