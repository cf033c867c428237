"""The command that serves MCP on standard input and output."""

import click

from holdfast.doors.cli.call import Call, in_space


@click.command()
@click.option("--project", metavar="NAME", help="The project to focus on; the git root's name if not said.")
@click.option(
    "--session",
    metavar="ID",
    envvar=["HOLDFAST_SESSION", "CLAUDE_CODE_SESSION_ID"],
    help="The session that calls belong to; Claude Code tells its own.  [env: HOLDFAST_SESSION]",
)
@in_space
@click.pass_context
def mcp(ctx: click.Context, project: str | None, session: str | None) -> None:
    """Serve the memory to an MCP client, on standard input and output.

    Clients start it themselves; `holdfast connect` writes their configuration.

    \b
        claude mcp add memory -- holdfast mcp
        holdfast mcp --space work
    """
    from holdfast import hosting

    call = ctx.ensure_object(Call)
    hosting.serve_mcp(call.db, call.space, project=project, session=session)
