"""The walk-through in docs/guides/rest.md, run as it stands against a real service."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.service.conftest import Service, service

__all__ = ["service"]

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "rest.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="the guide uses curl and jq")
def test_the_commands_of_the_guide_do_what_it_says(service: Service, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "holdfast"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m holdfast "$@"\n')
    program.chmod(0o755)
    script = "set -euo pipefail\n" + "\n".join(_blocks("bash")) + '\necho "TOKEN $TOKEN"\n'
    path = f"{program.parent}:{service.environment['PATH']}"

    run = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**service.environment, "URL": service.url, "PATH": path},
        timeout=120,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    told = " ".join(run.stdout.split())
    for expected in (
        '"total": 1, "first": "Alec is the user\'s boss at TechCorp"',
        '"status": 409',
        '"relation": "contradicts"',
        '"version": 2, "old_content": "Alec is the user\'s boss at TechCorp"',
        "} 412 {",
        '"deleted": true, "content": "Alec was the boss until May"',
        '"active"',
        "## Your Memory",
        "Sarah moved to the Design team",
        '"status": 422, "field": "category"',
        '"status": 403',
    ):
        assert expected in told, run.stdout
    first, second = re.findall(r"^\w{8}$", run.stdout, re.MULTILINE)
    assert first == second

    [example] = _blocks("python")
    token = run.stdout.split("TOKEN ")[1].strip()
    printed = subprocess.run(
        [sys.executable, "-c", f"url, token = {service.url!r}, {token!r}\n{example}"],
        capture_output=True,
        text=True,
        env=service.environment,
        timeout=60,
    )
    assert printed.returncode == 0, printed.stderr
    assert "Sarah leads the Design team" in printed.stdout
