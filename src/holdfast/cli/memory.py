"""The chat command `/memory` as a shell command."""

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
@in_space
@click.pass_obj
def memory(call: Call, words: tuple[str, ...]) -> None:
    """Run a /memory chat command: list, delete, restore, approve.

    Prints the same text as in a chat; no model is called. Exit code 1 when the command fails.
    `holdfast memory help` lists all commands.

    \b
        holdfast memory
        holdfast memory delete a1b2c3d4
        holdfast memory restore a1b2c3d4
        holdfast memory inbox
    """
    from holdfast.agents.memory_command import reply

    with call.memories() as memories:
        told = reply(memories, " ".join(words), command="holdfast memory")
    call.tell(say.visible(told.text), {"text": told.text, "done": not told.failed})
    if told.failed:
        raise click.exceptions.Exit(1)
