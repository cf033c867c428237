"""`holdfast`, and `python -m holdfast`: the command line, through the running service if there is one."""

import sys


def main() -> None:
    """The `holdfast` command."""
    from holdfast.app.served_command import carried_out

    try:
        code = carried_out(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    if code is not None:
        sys.exit(code)
    from holdfast.cli import main as run

    run()


if __name__ == "__main__":
    main()
