"""Serves a memory from a disk that takes no writes.

Run as `python -m tests.faults.unwritable FOLDER read-only|full|tokenless`. The folder is a small file system
of its own; tokenless: read-only, and no token file was made before. Prints as JSON what the service and the
commands answered.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from holdfast import Memories
from holdfast.app import service_lock
from holdfast.cli import cli
from holdfast.engine.administration import Administration
from tests.web.service.conftest import Service


def make_unwritable(folder: Path, how: str) -> None:
    if how != "full":
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        return
    with suppress(OSError), (folder / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(bytes(4096)):
            pass


def main(folder: Path, how: str) -> dict[str, object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_HOME", str(folder))
        patch.setenv("HOLDFAST_EMBEDDER", "none")
        with Memories.open(str(folder / "holdfast.db")) as memories:
            memories.remember("The router stands in the cellar", subject="router")
            made = Administration(memories.store).create_token("admin", "write").secret
        if how != "tokenless":
            service_lock.token()
        make_unwritable(folder, how)
        service = Service(folder)
        service.secret = made if how == "tokenless" else None
        told = answers(service)
        doctor = CliRunner().invoke(cli, ["doctor"])
        service.stop()
    return {**told, "doctor": doctor.stdout, "doctor exit": doctor.exit_code}


def answers(service: Service) -> dict[str, object]:
    start = service.post("/hooks/SessionStart", {"session_id": "s1"})
    prompt = service.post("/hooks/UserPromptSubmit", {"session_id": "s1", "prompt": "Where is the router?"})
    end = service.post("/hooks/Stop", {"session_id": "s1", "transcript_path": "/nowhere.jsonl"})
    write = service.post("/api/memory/", {"content": "The boiler hums in the attic"})
    known = {"Authorization": f"Bearer {service.token}"}
    listed = httpx2.get(f"{service.url}/api/memory/", headers=known, timeout=60)
    return {
        "statuses": [start.status_code, prompt.status_code, end.status_code],
        "brief": start.json().get("context", ""),
        "context": prompt.json().get("context", ""),
        "write": write.status_code,
        "listed": [memory["content"] for memory in listed.json()["memories"]],
    }


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), sys.argv[2]), sys.stdout)
