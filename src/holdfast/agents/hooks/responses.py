"""The service's answers to hooks: the brief at the start, relevant memories at a prompt, else nothing.

Transcripts are queued and read in the background, because the agent waits for the answer.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from holdfast.agents.hooks import events, spool
from holdfast.app import wiring
from holdfast.engine.memories import Memories
from holdfast.errors import Invalid, Unavailable

#: Maximum tokens of a brief; below every host's limit, also after escaping.
MAX_BRIEF = 2_200
NEW = "New in memory since this session was briefed:"
# Some hosts include the output of a hook in the prompt.
_INJECTED = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL | re.IGNORECASE)


def answer(event: str, body: Mapping[str, Any], memories: Memories) -> dict[str, str]:
    """The answer to an event, by any of its names: {"context": TEXT} or {}.

    Raises: Invalid for an unknown event or an invalid session; Unavailable.
    """
    meaning = events.MEANING.get(event)
    if meaning is None:
        raise Invalid(f"unknown event {event!r:.60}: use one of {', '.join(events.MEANING)}", field="event")
    if meaning in events.CAPTURES:
        _note_down(meaning, body)
        return {}
    if meaning == events.SESSION_START:
        return {"context": _at_start(body, memories)}
    return {"context": _at_prompt(body, memories)}


def _at_start(body: Mapping[str, Any], memories: Memories) -> str:
    session, project = _text(body, "session_id"), _text(body, "project")
    budget = min(memories.budget, MAX_BRIEF)
    if session is None or body.get("quiet"):
        return memories.brief(project=project, budget=budget).text
    resumed = body.get("source") == "resume"
    with suppress(Unavailable):  # read-only or locked: still return the brief
        memories.open_session(
            session, client=_text(body, "client"), directory=_text(body, "cwd"), project=project
        )
    here = memories.speaking_as("assistant", session=session, project=project)
    wiring.brief_files(memories.store).keep(memories.space, project)
    brief = here.brief(budget=budget)
    if not (resumed and brief.frozen):
        return brief.text
    new = here.delta()
    return f"{NEW}\n\n{new}" if new else ""


def _at_prompt(body: Mapping[str, Any], memories: Memories) -> str:
    prompt = _INJECTED.sub("", _text(body, "prompt") or "").strip()
    if not prompt or prompt.startswith("/"):  # a command of the host, not a question
        return ""
    # With capture off the prompt is not stored, so the recall belongs to no session.
    session = None if body.get("quiet") else _text(body, "session_id")
    here = memories.speaking_as("assistant", session=session, project=_text(body, "project"))
    return here.context([prompt]).text


def _note_down(meaning: str, body: Mapping[str, Any]) -> None:
    try:
        spool.put(spool.entry_of(meaning, dict(body)))
    except ValueError as wrong:
        raise Invalid(f"invalid session: {wrong}", field="session_id") from None
    except OSError as error:
        raise Unavailable(f"the session can't be queued: {error.strerror}") from None


def _text(body: Mapping[str, Any], field: str) -> str | None:
    value = body.get(field)
    return value if isinstance(value, str) and value.strip() else None
