"""The events of all hosts under common names, and the output format that hosts expect."""

from json import dumps

SESSION_START = "SessionStart"
PROMPT = "UserPromptSubmit"
STOP = "Stop"
PRE_COMPACT = "PreCompact"
SESSION_END = "SessionEnd"

#: What the events of all hosts mean; Claude Code and Codex use the names on the right themselves.
MEANING = {
    SESSION_START: SESSION_START,
    PROMPT: PROMPT,
    STOP: STOP,
    PRE_COMPACT: PRE_COMPACT,
    SESSION_END: SESSION_END,
    "BeforeAgent": PROMPT,  # Gemini CLI
    "AfterAgent": STOP,
    "PreCompress": PRE_COMPACT,
}
#: Events that only report a transcript; the others ask for text.
CAPTURES = frozenset({STOP, PRE_COMPACT, SESSION_END})
MAX_OUTPUT = 10_000  # a host replaces longer output with a pointer to it
_CUT = "\n(the rest did not fit)"


def output(host_event: str, context: str, last: str = "") -> str:
    """The output of a hook: valid JSON that adds `context` to the conversation, or nothing.

    Never longer than hosts allow: lines at the end of `context` are dropped, `last` is kept.
    """
    whole = "\n\n".join(part for part in (context.strip("\n"), last) if part.strip())
    if not whole:
        return ""
    made = _json(host_event, whole)
    if _units(made) <= MAX_OUTPUT:
        return made
    lines = context.strip("\n").split("\n")
    end = f"{_CUT}\n\n{last}" if last else _CUT
    room, fitting = MAX_OUTPUT - _units(_json(host_event, end)), 0
    for line in lines:
        room -= _units(dumps(line, ensure_ascii=False))  # its two quotes count for the line break
        if room < 0:
            break
        fitting += 1
    return _json(host_event, "\n".join(lines[:fitting]) + end)


def _json(host_event: str, text: str) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": host_event, "additionalContext": text}}
    return dumps(answer, ensure_ascii=False)


def _units(text: str) -> int:
    """The length in UTF-16 units, as hosts count: an emoji is two."""
    return len(text) + sum(character > "\uffff" for character in text)
