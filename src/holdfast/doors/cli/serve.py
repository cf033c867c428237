"""The command that runs the service."""

import shlex
import sys
from typing import TYPE_CHECKING

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.showcase import Shown

_QUESTION = "why do films stutter"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="A local address.")
@click.option("--port", type=click.IntRange(0, 65535), help="7437 if not said; 0 takes a free one.")
@click.option(
    "--outside",
    multiple=True,
    metavar="NAME",
    help="Answer others on the network too, under this name; may be repeated. Put TLS in front of it.",
)
@click.option(
    "--log",
    type=click.Choice(["off", "text", "json"]),
    default="off",
    show_default=True,
    help="A line a request on standard error, without addresses and texts; off: only what goes wrong.",
)
@click.option(
    "--example", is_flag=True, help="Serve example data from a store that is gone when it ends, not your own."
)
@in_space
@click.pass_context
def serve(
    ctx: click.Context, host: str, port: int | None, outside: tuple[str, ...], log: str, example: bool
) -> None:
    """Run the service: dashboard, REST, hooks, MCP, proxy, background work.

    One process for all agents and spaces of this user. Ctrl-C or a termination signal ends it.

    \b
        holdfast serve
        holdfast serve --port 0 --log json
        holdfast serve --host 0.0.0.0 --outside memory.example.org
        holdfast serve --example
    """
    call = ctx.ensure_object(Call)
    if example:
        if call.db or call.space or outside:
            raise click.UsageError("--example has a store of its own: leave --db, --space and --outside", ctx)
        _example(call, host, port, log)
        return
    from holdfast import hosting

    def said(url: str, login: str) -> None:
        terminal = sys.stdout is not None and sys.stdout.isatty()
        call.tell(*_where(url, login, terminal=terminal))

    hosting.serve(
        call.db,
        call.space,
        host=host,
        port=hosting.PORT if port is None else port,
        outside=outside,
        log=log,  # type: ignore[arg-type]  # click has checked it
        said=said,
    )


def _where(url: str, login: str, *, terminal: bool) -> tuple[str, dict[str, str]]:
    """Where it is, in words and as data. Whoever reads a log could sign in by a link: there is none in it."""
    places = {"url": url, "mcp": f"{url}/mcp", "api": f"{url}/api", **({"login": login} if terminal else {})}
    dashboard = f"dashboard, once: {login}" if terminal else "dashboard: `holdfast open` signs a browser in"
    return f"serving on {url} (MCP at {url}/mcp, REST at {url}/api)\n  {dashboard}", places


def _example(call: Call, host: str, port: int | None, log: str) -> None:
    from holdfast.showcase import serve_example

    def said(shown: "Shown") -> None:
        answer = {
            "url": shown.url,
            "mcp": f"{shown.url}/mcp",
            "api": f"{shown.url}/api",
            "login": shown.login,
            "home": shown.home,
            "token": shown.token,
            "spaces": [each.space.name for each in shown.spaces],
        }
        call.tell("\n".join(_told(shown)), answer)

    if not call.json:
        click.echo("telling two stories into a store of their own ...", err=True)
    serve_example(host=host, port=port, log=log, said=said)  # type: ignore[arg-type]  # click has checked it


def _told(shown: "Shown") -> list[str]:
    """Where it is, how to get in, and what to try."""
    first = shown.spaces[0].space.name
    inside = f"HOLDFAST_HOME={shlex.quote(shown.home)} holdfast"
    query = f"query={_QUESTION}"
    return [
        click.style("Holdfast on example data. Your own store is not touched; Ctrl-C ends it.", bold=True),
        "",
        f"  open     {shown.login}",
        f"  where    {shown.url}",
        f"  token    {shown.token}",
        *(
            f"  space    {each.space.name}: {say.count(each.active, 'memory', 'memories')}, "
            f"{say.count(each.sessions, 'session')}, {each.waiting} in the inbox"
            for each in shown.spaces
        ),
        "",
        "Try in another terminal:",
        f"  curl -sG -H 'Authorization: Bearer {shown.token}' {shown.url}/api/recall "
        f"-d space={first} --data-urlencode {shlex.quote(query)}",
        f"  {inside} recall --space {first} {shlex.quote(_QUESTION)}",
        f"  {inside} brief --space {shown.spaces[-1].space.name}",
        f"  {inside} inbox --space {first}",
        f"  {inside} connect claude-code --space {first} --dry-run",
        "",
        "Then with your own: holdfast up",
    ]
