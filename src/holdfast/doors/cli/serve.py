"""The command that runs the service."""

import click

from holdfast.doors.cli.call import Call, in_space


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="A local address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7437, show_default=True, help="0 takes a free one."
)
@click.option(
    "--outside",
    multiple=True,
    metavar="NAME",
    help="Answer others on the network too, under this name; may be repeated. Put TLS in front of it.",
)
@in_space
@click.pass_context
def serve(ctx: click.Context, host: str, port: int, outside: tuple[str, ...]) -> None:
    """Run the service: REST, hooks, MCP over HTTP and background work.

    One process for all agents and spaces of this user. Ctrl-C or a termination signal ends it.

    \b
        holdfast serve
        holdfast serve --port 0
        holdfast serve --host 0.0.0.0 --outside memory.example.org
    """
    from holdfast import hosting

    call = ctx.ensure_object(Call)

    def said(url: str) -> None:
        places = {"url": url, "mcp": f"{url}/mcp", "api": f"{url}/api"}
        call.tell(f"serving on {url} (MCP at {url}/mcp, REST at {url}/api)", places)

    hosting.serve(call.db, call.space, host=host, port=port, outside=outside, said=said)
