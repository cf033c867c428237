"""The command `run`."""

from typing import Any

import click

from holdfast.cli.call import Call, in_space
from holdfast.errors import Invalid


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--tier", type=click.IntRange(1, 3), help="1 observes, 2 investigates, 3 remediates.")
@click.option("--service", help="The service to work on; its memories come first in the brief.")
@click.option(
    "--agent",
    type=click.Choice(["claude", "codex", "gemini", "plain"]),
    help="Output format of the command. Default: from the program name.",
)
@click.option("--name", help="A name for the session.")
@click.option("--project", help="The project. Default: the git repository of this directory.")
@click.option(
    "--prompts",
    metavar="FOLDER",
    help="Folder with your own prompt files.  [env: HOLDFAST_PROMPTS]",
)
@click.option("--no-capture", is_flag=True, help="Give the agent its brief, but record nothing.")
@in_space
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def run(call: Call, /, *, command: tuple[str, ...], no_capture: bool, **asked: Any) -> None:
    """Run an agent with memory and record what it learns.

    COMMAND is the agent's command line; if it starts with an option, claude is run. The agent gets the prompt
    of its tier, its environment and the brief; markers in its output are stored while it runs. If the store
    is unavailable, the agent runs without memory and a warning is printed.

    Output and exit code are those of the agent: its JSON stream byte for byte if the command asks for it,
    else its answer. An agent with plain text output (--agent plain) gets its prompt in HOLDFAST_PROMPT. To
    replace the built-in prompts, put files with these names into the --prompts folder: tier1-observe.md,
    tier2-investigate.md, tier3-remediate.md, environment.md, memory-recording.md.

    \b
        holdfast run --tier 1 --space ops -- claude -p "Check all services"
        holdfast run --tier 2 --space ops --service jellyfin -- claude -p "Why is it slow?"
        holdfast run --space ops -- codex exec "Read the logs of last night"
    """
    from holdfast.app.run_host import run_agent

    if not command:
        wrong = 'missing COMMAND: for example holdfast run -- claude -p "Check all services"'
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
