"""The command `mcp`."""

import click

from holdfast.cli.call import Call, in_space


@click.command()
@click.option("--project", metavar="NAME", help="The project. Default: the git repository of this directory.")
@click.option(
    "--session",
    metavar="ID",
    envvar=["HOLDFAST_SESSION", "CLAUDE_CODE_SESSION_ID"],
    help="The session that the calls belong to; Claude Code sets its own.  [env: HOLDFAST_SESSION]",
)
@in_space
@click.pass_context
def mcp(ctx: click.Context, project: str | None, session: str | None) -> None:
    """Run an MCP server on standard input and output.

    MCP clients start it themselves; `holdfast connect` configures them.

    \b
        claude mcp add memory -- holdfast mcp
        holdfast mcp --space work
    """
    from holdfast.app import service_host

    call = ctx.ensure_object(Call)
    service_host.serve_mcp(call.db, call.space, project=project, session=session)
