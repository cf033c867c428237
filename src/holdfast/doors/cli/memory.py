"""The command `/memory` of chats, typed in a shell: the same words, the same answers."""

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
@in_space
@click.pass_obj
def memory(call: Call, words: tuple[str, ...]) -> None:
    """List, delete, restore and decide, in the words of /memory in chats.

    The answer is the same text as in a chat. No model is asked. Exit code 1 when it could not be done.

    \b
        holdfast memory
        holdfast memory delete a1b2c3d4
        holdfast memory restore a1b2c3d4
        holdfast memory inbox
    """
    from holdfast.memory_command import reply

    with call.memories() as memories:
        told = reply(memories, " ".join(words), command="holdfast memory")
    call.tell(say.visible(told.text), {"text": told.text, "done": not told.failed})
    if told.failed:
        raise click.exceptions.Exit(1)
