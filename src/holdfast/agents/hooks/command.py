"""`holdfast-hook EVENT`: the command that an agent runs at certain events of a session.

Reads the host's JSON from standard input, asks the running service, and prints JSON or nothing. Without a
service it uses a prepared brief at the start, and notes the transcript for later. It always ends within its
deadline with exit code 0. Uses the standard library only, because it runs before every prompt.
"""

import os
import sys
import time
from _thread import start_new_thread
from json import loads
from time import monotonic, sleep

from holdfast.agents import capture_off
from holdfast.agents.hooks import events, service, spool
from holdfast.app import paths

WHOLE = 0.93  # seconds from the start of the process to its end at the latest; a hook has one
FOR_THE_SERVICE = 0.73  # from the same start: then it goes on without an answer
_USUAL_AGE = 0.1  # of the process at this point, if it can't be measured
_MAX_INPUT = 16 * 1024 * 1024
_MAX_TEXT = 32_000  # of a prompt or an answer; beginning and end are kept
# For the model, at the start: must stay true if the service starts later.
NO_SERVICE = "(Holdfast, the memory across sessions, is not running: `holdfast up` starts it.)"
SLOW_SERVICE = "(Holdfast, the memory across sessions, did not answer in time at the start of this session.)"
BROKEN_SERVICE = (
    "(Holdfast, the memory across sessions, could not be used at the start of this session:"
    " run `holdfast doctor` to find out why.)"
)
# Explains the brief next to the files that the agent reads itself.
BESIDE = (
    "(These lines come from Holdfast, not from {file} or your own memory files: keep a fact in one place, and"
    " where they disagree go by the newer one.)"
)
_FILES = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}
_SAYS = {service.NotRunning: NO_SERVICE, service.Slow: SLOW_SERVICE}
USAGE = """\
usage: holdfast-hook EVENT [--client NAME] [--space NAME] [--db PLACE]

Run by agents, not by hand: `holdfast connect` sets it up.
"""


class HookCall:
    """One run of the command: the host's input and the options."""

    __slots__ = ("client", "db", "given", "host_event", "space")

    def __init__(self, arguments: list[str], given: dict[str, object]) -> None:
        space = os.environ.get("HOLDFAST_SPACE") or ""
        options = {"--client": "claude-code", "--space": space, "--db": ""}
        words = iter(arguments)
        first = ""
        for word in words:
            name, equals, value = word.partition("=")
            if name in options:
                options[name] = value if equals else next(words, "")
            else:
                first = first or word
        named = given.get("hook_event_name")
        self.host_event = first or (named if isinstance(named, str) else "")
        self.client = options["--client"]
        self.space = options["--space"]
        self.db = options["--db"]
        self.given = given

    @property
    def event(self) -> str | None:
        return events.MEANING.get(self.host_event)

    def text(self, field: str) -> str:
        value = self.given.get(field)
        return value if isinstance(value, str) else ""


def main() -> None:
    """The `holdfast-hook` command."""
    started = monotonic() - _age()
    start_new_thread(_end_at, (started + WHOLE,))
    try:
        arguments = sys.argv[1:]
        if arguments[:1] in (["--help"], ["-h"]):
            said = USAGE
        else:
            said = respond(HookCall(arguments, _read_input()), started + FOR_THE_SERVICE)
        _print(said.encode("utf-8", "replace"))
    finally:  # no error may stop the agent
        _end(sys.exception())


def respond(asked: HookCall, until: float) -> str:
    """The output: JSON in the host's format, or nothing. The service has until `until`."""
    event = asked.event
    if event is None:
        return ""
    body = _body(asked)
    project, session = body.get("project"), asked.text("session_id")
    if event == events.SESSION_START and session and session == os.environ.get("HOLDFAST_SESSION"):
        return ""  # `holdfast run` has already added the brief to this session
    hushed = capture_off.reason(project if isinstance(project, str) else None, session or None)
    if event in events.CAPTURES:
        if hushed is None:
            _hand_over(event, body, until)
        return ""
    body["quiet"] = hushed is not None
    last = f"({hushed[:1].upper()}{hushed[1:]}: nothing from this session is stored.)" if hushed else ""
    starts = event == events.SESSION_START and asked.text("source") != "resume"
    try:
        context = str(service.ask(event, body, until).get("context", ""))
    except service.NoAnswer as error:
        _log([event], error)
        context = _ready_made(asked, project) if starts else ""
        last = "\n".join(filter(None, (_SAYS.get(type(error), BROKEN_SERVICE), last)))
    if context and asked.client in _FILES:
        last = "\n".join(filter(None, (BESIDE.format(file=_FILES[asked.client]), last)))
    return events.output(asked.host_event, context, last if starts else "")


def _body(asked: HookCall) -> dict[str, object]:
    """The request to the service: the host's input, shortened, with client and project."""
    body: dict[str, object] = {
        name: _shorten(value) if isinstance(value, str) else value for name, value in asked.given.items()
    }
    directory = asked.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or ""
    body["client"] = asked.client
    body["project"] = paths.project_of(directory) if os.path.isabs(directory) else None
    if asked.space:
        body["space"] = asked.space
    if asked.db:
        body["db"] = asked.db
    path = asked.text("transcript_path")
    if path and asked.event in events.CAPTURES:
        try:
            body["offset"] = os.stat(path).st_size
        except (OSError, ValueError):  # not written yet
            body["offset"] = 0
    return body


def _shorten(text: str) -> str:
    half = _MAX_TEXT // 2
    return text if len(text) <= _MAX_TEXT else f"{text[:half]}\n[...]\n{text[-half:]}"


def _hand_over(event: str, body: dict[str, object], until: float) -> None:
    """Tells the service that a transcript has grown; without a service, leaves a note on disk."""
    try:
        service.ask(event, body, until)
    except service.NoAnswer as error:
        _log([event], error)
        spool.put(spool.entry_of(event, body))


def _ready_made(asked: HookCall, project: object) -> str:
    """The brief that a service prepared for this project, else the one for all projects."""
    if asked.db and os.path.realpath(_read(paths.briefs_database()) or "") != asked.db:
        return ""
    for name in (project, None) if isinstance(project, str) else (None,):
        found = _read(paths.brief_file(asked.space or "default", name))
        if found is not None:
            return found
    return ""


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(2 * events.MAX_OUTPUT)
    except (OSError, ValueError):
        return None


def _read_input() -> dict[str, object]:
    """The object on standard input. Some hosts leave it open, so it is parsed once it is complete."""
    raw = b""
    while len(raw) < _MAX_INPUT:
        piece = os.read(0, 1024 * 1024)
        raw += piece
        if not piece or raw.endswith((b"}", b"}\n", b"}\r\n")):
            try:
                found = loads(raw)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict) or not piece:
                return found if isinstance(found, dict) else {}
    return {}


def _print(said: bytes) -> None:
    while said:
        said = said[os.write(1, said) :]


def _age() -> float:
    """The age of this process in seconds: on a busy machine the interpreter starts slowly."""
    try:
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):  # not on Linux
        return _USUAL_AGE
    return age if 0 <= age < WHOLE else _USUAL_AGE


def _end_at(until: float) -> None:
    sleep(max(until - monotonic(), 0))
    os._exit(0)


def _end(error: BaseException | None) -> None:
    try:
        if error is not None:
            _log(sys.argv[1:2], error)
    finally:
        os._exit(0)


def _log(about: list[str], error: BaseException) -> None:
    spool.write_log(" ".join(about), f"{type(error).__name__}: {error}")
