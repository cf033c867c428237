"""The command `open`: gets a login link from the running service and opens it."""

import os

import click

from holdfast.cli.call import Call, in_space


@click.command("open")
@click.option("--print", "only_print", is_flag=True, help="Print the link without opening a browser.")
@in_space
@click.pass_obj
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
        raise Unavailable(
            "the service is not running: start it with `holdfast serve` or `holdfast service install`"
        )
    link = f"{found.url}{_path(found.url)}"
    if space := call.space or os.environ.get("HOLDFAST_SPACE"):
        shown = f"/?{urlencode({'space': space})}"
        link += f"&{urlencode({'next': shown})}"
    opened = not only_print and not call.json and webbrowser.open(link)
    text = "Opened in your browser. If nothing happened, use this link:\n" if opened else ""
    call.tell(f"{text}{link}", {"login": link, "opened": opened})


def _path(url: str) -> str:
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
