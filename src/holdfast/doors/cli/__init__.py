"""The command line: parse, call, say. Holds the global options and what each error becomes.

Imports nothing but click until a command is called, so that `holdfast --help` is instant.
"""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from holdfast import __version__, errors
from holdfast.doors.cli.call import Call, in_space, tell_json
from holdfast.doors.cli.lazy import LazyGroup

#: What an error means to a shell. The first kind that fits counts; wrong usage is click's own 2.
EXIT_CODES: tuple[tuple[type[errors.HoldfastError], int], ...] = (
    (errors.Unavailable, 3),
    (errors.Invalid, 1),
    (errors.NotFound, 1),
    (errors.Conflict, 1),
    (errors.HoldfastError, 1),
)
WRONG_USAGE = 2
UNFORESEEN = 1
INTERRUPTED = 130


class OneLineErrors(click.Group):
    """A group of commands that says in one line whatever goes wrong in them."""

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        call = extra.setdefault("obj", Call())
        given = list(sys.argv[1:] if args is None else args)
        if os.environ.get("NO_COLOR"):
            extra.setdefault("color", False)
        extra["standalone_mode"] = False
        try:
            code = super().main(given, **extra)
        except click.Abort as abort:
            if abort.__cause__ is None:  # at a question: click has not ended its line
                click.echo(err=True)
            code = INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else UNFORESEEN
        except click.exceptions.NoArgsIsHelpError as wanted:
            wanted.show()
            code = WRONG_USAGE
        except click.ClickException as wrong:
            code = _tell(call, given, "usage", _usage(wrong), code=wrong.exit_code)
        except errors.HoldfastError as error:
            field = getattr(error, "field", None)
            code = _tell(call, given, kind_of(error), told(error), field=field, code=exit_code(error))
        except Exception as error:  # broad: the door's boundary; a person gets one line, never a traceback
            if os.environ.get("HOLDFAST_DEBUG"):
                raise
            said = f"{_unforeseen(error)} (HOLDFAST_DEBUG=1 shows where)"
            code = _tell(call, given, "unforeseen", said, code=UNFORESEEN)
        _let_go_of_a_lost_output()
        sys.exit(code if isinstance(code, int) else 0)


class Holdfast(OneLineErrors, LazyGroup):
    """The commands of the product."""


def exit_code(error: errors.HoldfastError) -> int:
    """The exit code for one of our errors."""
    return next(code for kind, code in EXIT_CODES if isinstance(error, kind))


def told(error: errors.HoldfastError) -> str:
    """An error with the command that helps, which is said here alone."""
    return f"{error}: {error.command}" if error.command else str(error)


def kind_of(error: errors.HoldfastError) -> str:
    """An error's name in JSON: `TooLong` is too_long."""
    name = type(error).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _tell(
    call: Call, given: Sequence[str], kind: str, message: str, *, code: int, field: str | None = None
) -> int:
    """One line on standard error; with --json the same as an object on standard output."""
    from holdfast.doors.cli.say import one_line

    # What can't be parsed was not taken note of, so the words themselves are asked as well.
    if call.json or "--json" in given:
        with suppress(OSError):  # a full disk may be what is told here
            tell_json({"error": {"kind": kind, "message": message, "field": field}})
    with suppress(OSError):
        click.echo(f"holdfast: {one_line(message)}", err=True)
    return code


def _unforeseen(error: Exception) -> str:
    """What happened; where the system refused something, in its own words and with the file's name."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _usage(wrong: click.ClickException) -> str:
    message = wrong.format_message().strip().removesuffix(".")
    context = wrong.ctx if isinstance(wrong, click.UsageError) else None
    if context is None:
        return message
    end = " " if message.endswith("?") else "; "
    return f"{message[:1].lower()}{message[1:]}{end}`{context.command_path} --help` shows how"


def _let_go_of_a_lost_output() -> None:
    """Whoever reads our output may have left, or its disk is full: Python must not complain at the end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ValueError:  # closed already
        pass


@click.group(
    cls=Holdfast,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@in_space
@click.version_option(__version__, prog_name="holdfast", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """One memory for every agent that you run.

    \b
        holdfast remember "Takes 60s to start after a restart" -c timing -s jellyfin
        holdfast recall how long does jellyfin need to start
        holdfast brief

    Global options may stand before or after the command. Exit codes: 0 done, 1 refused or not found,
    2 wrong usage, 3 store unavailable. Errors are one line on standard error; with --json standard
    output also gets {"error": {"kind", "message", "field"}}.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """The `holdfast` command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a poor terminal shows escapes, not an error
    cli.main(prog_name="holdfast")
