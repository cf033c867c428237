"""The command that runs an agent with its memory."""

from typing import Any

import click

from holdfast.doors.cli.call import Call, in_space
from holdfast.errors import Invalid


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--tier", type=click.IntRange(1, 3), help="1 observes, 2 investigates, 3 remediates.")
@click.option("--service", help="The service to look at: what is known of it comes first.")
@click.option(
    "--agent",
    type=click.Choice(["claude", "codex", "gemini", "plain"]),
    help="How the command talks; known by the program's name if it is one of these.",
)
@click.option("--name", help="A name for the session.")
@click.option("--project", help="The project that it works on; the git root's name if not said.")
@click.option(
    "--prompts",
    metavar="FOLDER",
    help="Your own texts in place of the shipped ones.  [env: HOLDFAST_PROMPTS]",
)
@click.option(
    "--no-capture", is_flag=True, help="Tell the agent what is known, and keep nothing that it says."
)
@in_space
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def run(call: Call, /, *, command: tuple[str, ...], no_capture: bool, **asked: Any) -> None:
    """Run an agent with what is known, and keep what it records.

    COMMAND is the agent's own command line, claude if only its options are given. The agent is told its
    tier's task, where it is, and the brief; the markers in its answers are stored while it runs. Its output
    and its exit code are its own. Without a usable memory it runs all the same, and one line says so.

    The output is what the agent would print by itself: its stream of JSON byte for byte if the command asks
    for that, else its answer. An agent that prints plain text (--agent plain) finds its prompt in
    HOLDFAST_PROMPT. Texts of your own, in the folder of --prompts: tier1-observe.md, tier2-investigate.md,
    tier3-remediate.md, environment.md, memory-recording.md.

    \b
        holdfast run --tier 1 --space ops -- claude -p "Check all services"
        holdfast run --tier 2 --space ops --service jellyfin -- claude -p "Why is it slow?"
        holdfast run --space ops -- codex exec "Read the logs of last night"
    """
    from holdfast.launching import run_agent

    if not command:
        wrong = 'name the agent and its prompt: holdfast run -- claude -p "Check all services"'
        raise click.UsageError(wrong, click.get_current_context())
    try:
        code = run_agent(
            command,
            say=lambda line: click.echo(f"holdfast: {line}", err=True),
            captures=not no_capture,
            db=call.db,
            space=call.space,
            clock=call.clock,
            **asked,
        )
    except Invalid as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    raise click.exceptions.Exit(code)
