"""Agents for tests: shell scripts under an agent's name, that print what they are told to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.agents.run.listening import assistant


class Script:
    """An agent that keeps how it was called, runs a few lines of shell, and ends with a code."""

    def __init__(self, folder: Path, name: str = "claude") -> None:
        self.folder = folder
        self.path = folder / name
        self.arguments = folder / "arguments"
        self.environment = folder / "environment"
        folder.mkdir(exist_ok=True)

    def does(self, *commands: str, code: int = 0) -> str:
        """Writes the script; its path is what to run."""
        kept = [f"printf '%s\\0' \"$@\" > '{self.arguments}'", f"env -0 > '{self.environment}'"]
        self.path.write_text("\n".join(["#!/bin/sh", *kept, *commands, f"exit {code}", ""]), encoding="utf-8")
        self.path.chmod(0o755)
        return str(self.path)

    def prints(self, output: bytes, *, code: int = 0) -> str:
        """Writes a script that prints exactly these bytes."""
        source = self.folder / "output"
        source.write_bytes(output)
        return self.does(f"cat '{source}'", code=code)

    def says(self, *texts: str, code: int = 0) -> str:
        """Writes a script that talks as Claude Code does: these texts, then the last one as its result."""
        return self.prints(stream(*texts), code=code)

    def was_told(self) -> str:
        """What was appended to the system prompt; empty when nothing was."""
        words = self.words()
        return words[words.index("--append-system-prompt") + 1] if "--append-system-prompt" in words else ""

    def words(self) -> list[str]:
        return self.arguments.read_text(encoding="utf-8").split("\0")[:-1]

    def variables(self) -> dict[str, str]:
        entries = self.environment.read_text(encoding="utf-8").split("\0")
        return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def stream(*texts: str) -> bytes:
    """Output in stream-json."""
    lines: list[dict[str, Any]] = [{"type": "system", "subtype": "init"}, *map(assistant, texts)]
    lines.append(
        {
            "type": "result",
            "subtype": "success",
            "result": texts[-1] if texts else "",
            "total_cost_usd": 0.25,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
    )
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
