"""Carries out a command of a command line on this machine, in the service; see `app.served_command`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.app import served_command
from holdfast.cli.call import Call
from holdfast.cli.say import RECIPIENT, OnlyHere, Recipient
from holdfast.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from holdfast.app.space_registry import SpaceRegistry
    from holdfast.engine.memories import Memories
    from holdfast.engine.ports import Store


class ServedCall(Call):
    """A call with the store, the models and the settings of the service."""

    def __init__(self, registry: "SpaceRegistry", asked: Mapping[str, Any]) -> None:
        super().__init__()
        self._registry = registry
        self._directory = str(asked["directory"])
        self._space = asked["space"]

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def usual_space(self) -> str:
        return self._space or "default"

    @contextmanager
    def store(self, *, creates: bool = False) -> Iterator["Store"]:
        yield self._registry.memories().store

    def space_in(self, store: "Store", name: str | None) -> "Memories":
        return self._registry.opened(name or self.usual_space)


def answer(registry: "SpaceRegistry", asked: Mapping[str, Any]) -> dict[str, object]:
    """The output, errors and exit code of a command; nothing if it has to be carried out where it was given.

    Raises: Invalid.
    """
    from holdfast.cli import cli

    try:
        arguments = [str(each) for each in asked["arguments"]]
        recipient = Recipient(
            **{name: asked[name] for name in ("columns", "colour", "draws_colour", "encoding", "program")}
        )
        call = ServedCall(registry, asked)
    except (KeyError, TypeError):
        raise Invalid("not a command: send what `holdfast` sends") from None
    if served_command.command_of(arguments) is None:
        return {}
    before = RECIPIENT.set(recipient)
    try:
        registry.check()
        code = cli.carried_out(arguments, call, prog_name="holdfast")
    except (OnlyHere, Unavailable):
        return {}
    except SystemExit:  # what click makes of a broken pipe
        code = 1
    finally:
        RECIPIENT.reset(before)
    return {"output": "".join(recipient.output), "errors": "".join(recipient.errors), "code": code}
