"""Applies an action to several memories and continues when one of them fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import click

from holdfast.cli import exit_code, kind_of, say, told
from holdfast.cli.call import Call
from holdfast.errors import HoldfastError, Unavailable

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Results(Generic[Done]):
    """What succeeded, and what failed."""

    done: list[Done]
    failed: list[HoldfastError]

    def tell(self, call: Call, texts: Sequence[str], answer: dict[str, Any]) -> None:
        """Prints both; with a failure the command ends with its exit code."""
        if self.failed:
            answer["errors"] = [{"kind": kind_of(error), "message": told(error)} for error in self.failed]
        call.tell("\n".join(texts), answer)
        for error in self.failed:
            click.echo(f"holdfast: {say.one_line(told(error))}", err=True)
        if self.failed:
            raise click.exceptions.Exit(exit_code(self.failed[0]))


def each(ids: Sequence[str], act: Callable[[str], Done]) -> Results[Done]:
    """Acts on every id once; an unreachable store stops it at once.

    Raises: Unavailable.
    """
    results: Results[Done] = Results([], [])
    for one in dict.fromkeys(ids):
        try:
            results.done.append(act(one))
        except Unavailable:
            raise
        except HoldfastError as error:
            results.failed.append(error)
    return results
