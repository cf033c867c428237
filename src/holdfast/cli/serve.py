"""The commands serve, open and mcp."""

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from holdfast.cli import named_database, say
from holdfast.cli.call import Call, in_space, wrong_usage

if TYPE_CHECKING:
    from holdfast.app.demo import Shown

_QUESTION = "why do films stutter"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: 7437; 0 picks a free port.")
@click.option(
    "--outside",
    multiple=True,
    metavar="NAME",
    help="Also accept requests from the network for this host name; repeatable. Use a TLS proxy.",
)
@click.option(
    "--log",
    type=click.Choice(["off", "text", "json"]),
    default="off",
    show_default=True,
    help="Log each request to standard error, without content; off logs only errors, warnings, sign-ins "
    "and changes of tokens.",
)
@click.option("--example", is_flag=True, help="Serve example data from a temporary store, not your own.")
@in_space
def serve(call: Call, host: str, port: int | None, outside: tuple[str, ...], log: str, example: bool) -> None:
    """Run the service: dashboard, REST, hooks, MCP, proxy, background jobs.

    One process serves all agents and spaces of this user. Stop it with Ctrl-C or SIGTERM. `holdfast up` runs
    it in the background instead, and `holdfast service stop` stops that.

    \b
        holdfast serve
        holdfast serve --port 0 --log json
        holdfast serve --host 0.0.0.0 --outside memory.example.org
        holdfast serve --example
    """
    if example:
        if call.db or call.space or outside:
            raise wrong_usage("--example can't be combined with --db, --space or --outside")
        _example(call, host, port, log)
        return
    from holdfast.app import service_host
    from holdfast.cli import served

    def said(url: str, login: str) -> None:
        terminal = sys.stdout is not None and sys.stdout.isatty()
        call.tell(*_where(url, login, terminal=terminal))

    named_database.check(call.db, creates=True)
    service_host.serve(
        call.db,
        call.space,
        host=host,
        port=service_host.PORT if port is None else port,
        outside=outside,
        log=log,  # type: ignore[arg-type]  # click has checked it
        said=said,
        commands=served.answer,
    )


def _where(url: str, login: str, *, terminal: bool) -> tuple[str, dict[str, str]]:
    """The addresses as text and as data. The login link is shown on a terminal only, never in a log."""
    places = {"url": url, "mcp": f"{url}/mcp", "api": f"{url}/api", **({"login": login} if terminal else {})}
    dashboard = (
        f"Dashboard (one-time link): {login}" if terminal else say.hint("Dashboard: run `holdfast open`")
    )
    return f"Serving on {url} (MCP at {url}/mcp, REST at {url}/api)\n  {dashboard}", places


def _example(call: Call, host: str, port: int | None, log: str) -> None:
    from holdfast.app.demo import serve_example

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
        call.tell("\n".join(_example_lines(shown)), answer)

    if not call.json:
        click.echo("Loading example data…", err=True)
    serve_example(host=host, port=port, log=log, said=said)  # type: ignore[arg-type]  # click has checked it


def _example_lines(shown: "Shown") -> list[str]:
    """The addresses, the token, and commands to try."""
    first = shown.spaces[0].space.name
    command = say.program()
    inside = f"HOLDFAST_HOME={shlex.quote(shown.home)} {command}"
    query = f"query={_QUESTION}"
    return [
        click.style(
            "Holdfast with example data. Your own store is not touched. Press Ctrl-C to stop.", bold=True
        ),
        "",
        f"  login    {shown.login}",
        f"  url      {shown.url}",
        f"  token    {shown.token}",
        *(
            f"  space    {each.space.name}: {say.count(each.active, 'memory', 'memories')}, "
            f"{say.count(each.sessions, 'session')}, {each.waiting} in the inbox"
            for each in shown.spaces
        ),
        "",
        "Try it in another terminal:",
        f"  curl -sG -H 'Authorization: Bearer {shown.token}' {shown.url}/api/recall "
        f"-d space={first} --data-urlencode {shlex.quote(query)}",
        f"  {inside} recall --space {first} --all-projects {shlex.quote(_QUESTION)}",
        f"  {inside} brief --space {shown.spaces[-1].space.name}",
        f"  {inside} inbox --space {first}",
        f"  {inside} connect claude-code --space {first} --dry-run",
        "",
        f"To use your own data: {command} up",
    ]


@click.command("open")
@click.option("--print", "only_print", is_flag=True, help="Print the link without opening a browser.")
@in_space
def open_(call: Call, only_print: bool) -> None:
    """Open the dashboard in a browser (also: dashboard).

    The login link works once and expires after 15 minutes.

    \b
        holdfast open
        holdfast open --space ops
        holdfast open --print
    """
    import webbrowser
    from urllib.parse import urlencode

    from holdfast.cli.service_process import running
    from holdfast.errors import Unavailable

    found = running()
    if found is None:
        raise Unavailable("the service is not running", command="start it with `holdfast up`")
    link = f"{found.url}{_login_path(found.url)}"
    if space := call.space or os.environ.get("HOLDFAST_SPACE"):
        shown = f"/?{urlencode({'space': space})}"
        link += f"&{urlencode({'next': shown})}"
    opened = not only_print and not call.json and webbrowser.open(link)
    text = "Opened in your browser. If nothing happened, use this link:\n" if opened else ""
    call.tell(f"{text}{link}", {"login": link, "opened": opened})


def _login_path(url: str) -> str:
    """The path of a new link, for whoever can read this user's token.

    Raises: Unavailable.
    """
    import json
    from urllib.request import ProxyHandler, Request, build_opener

    from holdfast.app import paths
    from holdfast.errors import Unavailable

    try:
        with open(paths.token_file(), encoding="ascii") as stored:
            token = stored.read().strip()
        asked = Request(f"{url}/login/link", method="POST", headers={"Authorization": f"Bearer {token}"})
        # Bypasses the proxies of the environment.
        with build_opener(ProxyHandler({})).open(asked, timeout=10) as answer:
            told = json.loads(answer.read(10_000))
        return str(told["path"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"the service did not return a login link: {error}") from None


@click.command()
@click.option("--project", metavar="NAME", help="The project. Default: the git repository of this directory.")
@click.option(
    "--session",
    metavar="ID",
    envvar=["HOLDFAST_SESSION", "CLAUDE_CODE_SESSION_ID"],
    help="The session that the calls belong to; Claude Code sets its own.  [env: HOLDFAST_SESSION]",
)
@in_space
def mcp(call: Call, project: str | None, session: str | None) -> None:
    """Run an MCP server on standard input and output.

    MCP clients start it themselves; `holdfast connect` configures them.

    \b
        claude mcp add memory -- holdfast mcp
        holdfast mcp --space work
    """
    from holdfast.app import service_host

    named_database.check(call.db, creates=True)
    service_host.serve_mcp(call.db, call.space, project=project, session=session)
