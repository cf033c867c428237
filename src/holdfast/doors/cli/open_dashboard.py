"""The command that opens the dashboard: asks the running service for a link that signs one browser in."""

import os

import click

from holdfast.doors.cli.call import Call, in_space


@click.command("open")
@click.option("--print", "only_print", is_flag=True, help="Print the link, and start no browser.")
@in_space
@click.pass_obj
def open_(call: Call, only_print: bool) -> None:
    """Open the running service's dashboard in a browser (also: dashboard).

    The link signs one browser in, once, and holds for 15 minutes.

    \b
        holdfast open
        holdfast open --space ops
        holdfast open --print
    """
    import webbrowser
    from urllib.parse import urlencode

    from holdfast.doors.cli.running import running
    from holdfast.errors import Unavailable

    found = running()
    if found is None:
        raise Unavailable(
            "the service does not run: `holdfast serve` starts it, `holdfast service install` for good"
        )
    link = f"{found.url}{_path(found.url)}"
    if space := call.space or os.environ.get("HOLDFAST_SPACE"):
        shown = f"/?{urlencode({'space': space})}"
        link += f"&{urlencode({'next': shown})}"
    opened = not only_print and not call.json and webbrowser.open(link)
    text = "opened in your browser; if it is not there:\n" if opened else ""
    call.tell(f"{text}{link}", {"login": link, "opened": opened})


def _path(url: str) -> str:
    """The path of a new link, for whoever can read this user's token.

    Raises: Unavailable.
    """
    import json
    from urllib.request import ProxyHandler, Request, build_opener

    from holdfast import places
    from holdfast.errors import Unavailable

    try:
        with open(places.token_file(), encoding="ascii") as stored:
            token = stored.read().strip()
        asked = Request(f"{url}/login/link", method="POST", headers={"Authorization": f"Bearer {token}"})
        # No proxy of the environment stands between here and here.
        with build_opener(ProxyHandler({})).open(asked, timeout=10) as answer:
            told = json.loads(answer.read(10_000))
        return str(told["path"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"the service gave no link: {error}") from None
