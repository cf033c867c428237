"""`holdfast`, and `python -m holdfast`: the command line, through the running service if there is one."""

import os
import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType

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
    from inspect import iscoroutine

    gc.disable()
    # The threads of numpy take longer to start than a command needs numpy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _stand_in("asyncio", iscoroutine=iscoroutine)  # which SQLAlchemy takes from it at once
    _stand_in("importlib.metadata")
    _stand_in("sqlalchemy.dialects.sqlite.aiosqlite")
    from holdfast.cli import main as carry_out

    try:
        carry_out()
    except SystemExit as done:
        if isinstance(done.code, int):
            _leave(done.code)
        raise


class _StandIn(ModuleType):
    """A module that SQLAlchemy imports for other programs; the real one is loaded if anybody uses it."""

    def __getattr__(self, name: str) -> object:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _stand_in(name: str, **known: object) -> None:
    if name not in sys.modules:
        sys.modules[name] = module = _StandIn(name)
        vars(module).update(known)
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)


def _leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none at all
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
