"""How this package was installed, and the commands that install it again, add an extra, or remove it."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

DISTRIBUTION: Final = "holdfast-memory"


def install_command(extra: str = "") -> str:
    """The command that installs this package again, from where it came: the newest release, with an extra."""
    # Both load the parser of mail headers, which only an error needs.
    from importlib import metadata
    from urllib.request import url2pathname

    commands = {"uv": "uv tool install", "pipx": "pipx install --force"}
    command = commands.get(_installer(), f"{sys.executable} -m pip install -U")
    source = DISTRIBUTION
    with suppress(metadata.PackageNotFoundError, ValueError, KeyError):
        origin = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
        source = url2pathname(urlsplit(origin["url"]).path)
        if origin["dir_info"].get("editable"):
            command = f"{sys.executable} -m pip install -e"
    return f"{command} '{source}{f'[{extra}]' if extra else ''}'"


def removal() -> str:
    """The command that removes this installation of the package."""
    by = {"uv": "uv tool uninstall", "pipx": "pipx uninstall", "pip": f"{sys.executable} -m pip uninstall"}
    return f"{by[_installer()]} {DISTRIBUTION}"


def _installer() -> Literal["uv", "pipx", "pip"]:
    """What installed this package."""
    parents = Path(sys.prefix).parts[-3:-1]
    return "uv" if parents == ("uv", "tools") else "pipx" if parents == ("pipx", "venvs") else "pip"
