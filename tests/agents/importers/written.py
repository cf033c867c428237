"""Transcripts of our own making, line by line: what clients write that the captured samples do not hold."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from holdfast.agents.importers import DRAFTS, FileDrafts, LineFormat, drafts_by_line, drafts_in, recognised
from holdfast.domain.memory import Source

SAMPLES = Path(__file__).parent / "samples"
SOURCE = Source(origin="import", session="import-1")
SESSION = "cccccccc-1111-4222-8333-444444444444"


def drafts(text: str, format_name: str | None = None, *, name: str = "") -> FileDrafts:
    """The drafts in a file of this text and name, whose format is detected unless it is given."""
    form = recognised(text, name) if format_name is None else DRAFTS[format_name]
    if isinstance(form, LineFormat):
        return drafts_by_line(lambda: io.StringIO(text, newline="\n"), SOURCE, form)
    return drafts_in(text, SOURCE, form, name=name)


def claude_line(kind: str, content: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    """A line of Claude Code's that a person typed or the model wrote, unless `more` says otherwise."""
    return {
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": f"{number:08d}-0000-4000-8000-000000000000",
        "timestamp": f"2026-05-04T10:{number % 60:02d}:00.000Z",
        "sessionId": SESSION,
        "cwd": "/srv/user/shop",
        "isSidechain": False,
        **more,
    }


def codex_message(role: str, *texts: str, kinds: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """A message of a rollout; without kinds as older versions write it."""
    part = "output_text" if role == "assistant" else "input_text"
    payload: dict[str, Any] = {"type": "message", "role": role}
    payload["content"] = [{"type": part, "text": text} for text in texts]
    if kinds is not None:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    return {"timestamp": "2026-05-04T10:00:00Z", "type": "response_item", "payload": payload | more}


def codex_heading(**more: Any) -> dict[str, Any]:
    payload = {"id": SESSION, "timestamp": "2026-05-04T10:00:00Z", "cwd": "/srv/user/shop", **more}
    return {"timestamp": "2026-05-04T10:00:00Z", "type": "session_meta", "payload": payload}


def gemini_heading(**more: Any) -> dict[str, Any]:
    return {"sessionId": SESSION, "projectHash": "ab" * 32, "startTime": "2026-05-04T10:00:00Z", **more}


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    """A file of these lines, objects as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8", errors="surrogatepass")
    return path
