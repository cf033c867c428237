"""The command line: the global options, and how errors become messages and exit codes.

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
from holdfast.cli.call import Call, in_space, tell_json
from holdfast.cli.command_table import LazyGroup

#: Exit code by error class; the first match counts. Wrong usage is click's own 2.
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
    """A command group that reports every error in one line."""

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
            said = f"{_unforeseen(error)} (set HOLDFAST_DEBUG=1 for a traceback)"
            code = _tell(call, given, "unforeseen", said, code=UNFORESEEN)
        _let_go_of_a_lost_output()
        sys.exit(code if isinstance(code, int) else 0)


class Holdfast(OneLineErrors, LazyGroup):
    """The commands of the product."""


def exit_code(error: errors.HoldfastError) -> int:
    """The exit code for one of our errors."""
    return next(code for kind, code in EXIT_CODES if isinstance(error, kind))


def told(error: errors.HoldfastError) -> str:
    """An error message with the command that helps; only the command line shows it."""
    return f"{error}: {error.command}" if error.command else str(error)


def kind_of(error: errors.HoldfastError) -> str:
    """An error's name in JSON: `TooLong` is too_long."""
    name = type(error).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _tell(
    call: Call, given: Sequence[str], kind: str, message: str, *, code: int, field: str | None = None
) -> int:
    """One line on standard error; with --json the same as an object on standard output."""
    from holdfast.cli.say import one_line

    # After a parse error call.json may not be set yet, so look at the raw arguments too.
    if call.json or "--json" in given:
        with suppress(OSError):  # the error may be a full disk
            tell_json({"error": {"kind": kind, "message": message, "field": field}})
    with suppress(OSError):
        click.echo(f"holdfast: {one_line(message)}", err=True)
    return code


def _unforeseen(error: Exception) -> str:
    """The error in one line; for a system error its own text and the file name."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _usage(wrong: click.ClickException) -> str:
    message = wrong.format_message().strip().removesuffix(".")
    context = wrong.ctx if isinstance(wrong, click.UsageError) else None
    if context is None:
        return message
    end = " See" if message.endswith("?") else "; see"
    return f"{message[:1].lower()}{message[1:]}{end} `{context.command_path} --help`"


def _let_go_of_a_lost_output() -> None:
    """Discards a broken standard output (closed pipe, full disk), so that Python prints no error at exit."""
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

    Global options work before and after the command. Exit codes: 0 success, 1 refused or not found,
    2 usage error, 3 store unavailable. Errors are one line on standard error; with --json, standard
    output also gets {"error": {"kind", "message", "field"}}.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """The `holdfast` command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # a terminal without UTF-8 shows escapes, not an error
    cli.main(prog_name="holdfast")
