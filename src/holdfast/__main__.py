"""`holdfast`, and `python -m holdfast`: the command line, through the running service if there is one."""

import os
import sys
from contextlib import suppress

from holdfast.app import served_command


def main() -> None:
    """The `holdfast` command."""
    arguments = sys.argv[1:]
    try:
        code = served_command.carried_out(arguments)
    except KeyboardInterrupt:
        code = 130
    if code is not None:
        _leave(code)
    if served_command.name_of(arguments) is None:
        from holdfast.cli import main as carry_out

        carry_out()
    _carry_out_at_once()


def _carry_out_at_once() -> None:
    """Carries out a short command; to look for garbage and to tidy up would take a third of its time."""
    import gc

    gc.disable()
    from holdfast.cli import main as carry_out

    try:
        carry_out()
    except SystemExit as done:
        if isinstance(done.code, int):
            _leave(done.code)
        raise


def _leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none at all
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
