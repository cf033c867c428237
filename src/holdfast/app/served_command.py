"""A command that the running service carries out: to ask it takes milliseconds, to load the engine a second.

The service runs the same code as the command line, so the output is the same. Whatever it can't do is left to
the command line: other databases, other settings, questions, standard input. Uses the standard library only,
and little of it.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from holdfast import __version__
from holdfast.agents.hooks.service import Lost, NoAnswer, request
from holdfast.app import paths

#: The commands, and whether one that was lost on the way may be repeated: they only read.
COMMANDS: Mapping[str, bool] = {
    **dict.fromkeys(("list", "recall", "search", "show", "why", "brief"), True),
    **dict.fromkeys(("remember", "store", "revise", "forget", "restore", "promote", "split", "link"), False),
    **dict.fromkeys(("inbox", "memory"), False),
}
PLACE = "/command"
_BEGINS_WITHIN = 1.0  # seconds, about what it takes to carry out a command without the service
_ENDS_WITHIN = 120.0
_MOST_ANSWER = 256 * 1024 * 1024
#: What decides how memories are kept and found, besides the database.
_SETTINGS = (
    "HOLDFAST_MEMORY_BUDGET",
    "CLAUDEOPS_MEMORY_BUDGET",
    "HOLDFAST_EMBEDDER",
    "HOLDFAST_GATE_MODEL",
    "HOLDFAST_EXTRACT_MODEL",
    "HOLDFAST_JUDGE_MODEL",
    "HOLDFAST_DAILY_CAP",
    "HOLDFAST_SESSION_CAP",
    "HOLDFAST_PERSON",
)


def character() -> dict[str, object]:
    """What a service and who asks it must have in common, besides the database."""
    return {
        "version": __version__,
        "settings": {name: value for name in _SETTINGS if (value := os.environ.get(name))},
    }


def name_of(arguments: Sequence[str]) -> str | None:
    """The command among `arguments`, if it is one of the short ones that the service carries out."""
    words = iter(arguments)
    for word in words:
        if word == "--space":
            next(words, None)
        elif not word.startswith(("--space=", "--json")):
            return word if word in COMMANDS else None
    return None


def command_of(arguments: Sequence[str]) -> str | None:
    """The same, if the service may carry it out as it is given."""
    if any(each == "-" or each.startswith(("--db", "--help", "-h")) for each in arguments):
        return None
    return name_of(arguments)


def carried_out(arguments: Sequence[str]) -> int | None:
    """The exit code of a command that the service has carried out, after its output; none to do it here."""
    name = command_of(arguments)
    if name is None or os.environ.get("HOLDFAST_DEBUG"):
        return None
    try:
        place = paths.public_place(os.environ.get("HOLDFAST_DB") or paths.database())
        told = request(
            PLACE,
            {"arguments": list(arguments), **_circumstances()},
            {"db": place, **character()},
            begins_within=_BEGINS_WITHIN,
            ends_within=_ENDS_WITHIN,
            most=_MOST_ANSWER,
        )
        output, errors, code = str(told["output"]), str(told["errors"]), int(str(told["code"]))
    except Lost as trouble:
        if COMMANDS[name]:
            return None
        return _printed(
            "", f"holdfast: the service did not finish, so check what was changed: {trouble}\n", 3
        )
    except (NoAnswer, OSError, ValueError, KeyError):
        return None
    return _printed(output, errors, code)


def _circumstances() -> dict[str, object]:
    """What a command goes by besides its arguments."""
    output, terminal = sys.stdout, sys.stdout is not None and sys.stdout.isatty()
    no_colour = bool(os.environ.get("NO_COLOR"))
    draws = terminal and os.environ.get("TERM") != "dumb"
    return {
        "directory": os.getcwd(),
        "program": paths.shell_command(),
        "space": os.environ.get("HOLDFAST_SPACE"),
        "columns": _columns() if draws else None,
        "colour": terminal and not no_colour,
        "draws_colour": not no_colour,
        "encoding": output.encoding if output is not None else "utf-8",
    }


def _columns() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _printed(output: str, errors: str, code: int) -> int:
    """Writes what a command says to where it belongs, as click would."""
    if sys.stdout is not None and output:
        try:
            sys.stdout.write(output)
            sys.stdout.flush()
        except OSError as trouble:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(trouble, BrokenPipeError):
                errors = errors or f"holdfast: {trouble.strerror} (set HOLDFAST_DEBUG=1 for a traceback)\n"
            code = code or 1
    if sys.stderr is not None and errors:
        with suppress(OSError):
            sys.stderr.write(errors)
    return code
