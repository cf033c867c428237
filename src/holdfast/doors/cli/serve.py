"""The command that runs the service."""

import click

from holdfast.doors.cli.call import Call, in_space


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="A local address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7437, show_default=True, help="0 takes a free one."
)
@in_space
@click.pass_context
def serve(ctx: click.Context, host: str, port: int) -> None:
    """Run the service: hooks, MCP over HTTP and the work in the background.

    One process for all agents and spaces of this user. Ctrl-C or a termination signal ends it.

    \b
        holdfast serve
        holdfast serve --port 0
    """
    from holdfast import hosting

    call = ctx.ensure_object(Call)

    def said(url: str) -> None:
        call.tell(f"serving on {url} (MCP at {url}/mcp)", {"url": url, "mcp": f"{url}/mcp"})

    hosting.serve(call.db, call.space, host=host, port=port, said=said)
