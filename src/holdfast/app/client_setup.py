"""Connects clients to this installation: used by `connect` and `up`."""

import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from holdfast.agents import context_files
from holdfast.agents.connect.clients import CLIENTS, Machine, Scope, Setup, client_named, in_use
from holdfast.agents.connect.connection import ClientConnection, SettingsChange, recorded
from holdfast.app import paths, wiring
from holdfast.engine.memories import Memories
from holdfast.engine.ports import Store
from holdfast.errors import HoldfastError, Invalid, Unavailable
from holdfast.settings import Settings, carried, portable_place


def connection(
    name: str,
    *,
    scope: Scope | None = None,
    root: Path | None = None,
    space: str | None = None,
    db: str | None = None,
    carry: bool = True,
) -> ClientConnection:
    """A client that can be connected with this installation, by default in the first of its scopes.

    Without `carry`, desktop programs don't get our environment, which is not needed to disconnect them.

    Raises: Invalid, for an unknown client or scope, a database whose URL holds a password, or an
    installation without its commands.
    """
    client = client_named(name)
    machine = _machine()
    root = root or Path(paths.root_of(Path.cwd()) or Path.cwd())
    setup = Setup(
        machine=machine,
        folder=client.folder(machine) if client.folder else root,
        root=root,
        scope=scope or client.scopes[0],
        hook=command_path("holdfast-hook"),
        server=command_path("holdfast"),
        space=None if client.desktop else space,
        db=portable_place(db) if db and not client.desktop else None,
        carried=carried(db, space) if client.desktop and carry else {},
    )
    if client.reads_context:
        file = paths.context_file(space or Settings.read().space, _project_of(setup))
        setup = replace(setup, context=file)
    return ClientConnection(client, setup)


def _project_of(setup: Setup) -> str | None:
    return None if setup.scope == "user" else paths.project_of(setup.root)


def connect(found: ClientConnection, db: str | None = None) -> list[SettingsChange]:
    """Connects a client; one without hooks also gets a file with the brief, kept up to date.

    Raises: Invalid, Conflict, NotFound, Unavailable.
    """
    changes = found.connect()
    if found.setup.context is not None:
        with Memories.open(db, found.setup.space) as memories:
            path, project = Path(found.setup.context), _project_of(found.setup)
            watch(context(path, memories.store, space=memories.space, project=project), memories.store)
    return changes


def disconnect(found: ClientConnection) -> list[SettingsChange]:
    """Takes out what `connect` put in. Raises: Invalid, Unavailable."""
    changes = found.disconnect()
    if found.setup.context is not None:
        unwatch(Path(found.setup.context))
    return changes


def connections() -> list[tuple[str, Scope, Path | None]]:
    """What may be connected: each client in the user's settings, and those of projects that are on record."""
    users: list[tuple[str, Scope, Path | None]] = [
        (name, "user", None) for name, client in CLIENTS.items() if "user" in client.scopes
    ]
    return users + [(one.client, one.scope, one.root) for one in recorded() if one.root]


def clients_in_use() -> list[str]:
    """The clients that seem to be used on this machine."""
    return in_use(_machine())


def _machine() -> Machine:
    home = Path(os.path.expanduser("~"))
    return Machine(home=home, environment=os.environ, system=sys.platform)


@dataclass(frozen=True, slots=True)
class ClientState:
    """A client of this machine, and whether it uses a space."""

    name: str
    title: str
    used: bool  # whether it seems to be used on this machine
    state: Literal["connected", "otherwise", "none", "unknown"]
    says: str = ""  # why it is not known


def client_states(space: str, db: str | None = None) -> list[ClientState]:
    """The state of every client in use or connected, with respect to the space; changes nothing."""
    used = clients_in_use()
    place = paths.public_place(db) if db else None
    known = (name for name, client in CLIENTS.items() if "user" in client.scopes)
    states = [_state(name, space, place, used=name in used) for name in known]
    return [one for one in states if one.used or one.state not in ("none", "unknown")]


def _state(name: str, space: str, db: str | None, *, used: bool) -> ClientState:
    title = CLIENTS[name].title
    # Without options, connecting uses the default space and database.
    named = (space, None) if space == Settings.read().space else (space,)
    try:
        ways = [connection(name, space=one, db=place) for one in named for place in {None, db}]
        if any(not any(change.needed for change in way.connecting()) for way in ways):
            return ClientState(name, title, used, "connected")
        ours = any(change.needed for change in ways[0].disconnecting())
    except (HoldfastError, OSError) as error:
        return ClientState(name, title, used, "unknown", str(error))
    return ClientState(name, title, used, "otherwise" if ours else "none")


def context(path: Path, store: Store, *, space: str, project: str | None) -> context_files.ContextFile:
    """A file that can hold the brief of a project. Raises: Invalid, Unavailable."""
    try:
        return context_files.context_file(path, db=store.where(), space=space, project=project)
    except OSError as error:
        raise Unavailable(f"{path} can't be read: {error.strerror}") from None


def watch(file: context_files.ContextFile, store: Store) -> None:
    """Writes the brief into the file, and keeps it up to date from now on.

    Raises: Unavailable, Invalid, NotFound.
    """
    try:
        wiring.brief_files(store).write(file)
        context_files.register(file)
    except OSError as error:
        raise Unavailable(f"{file.path} can't be written: {error.strerror}") from None


def unwatch(path: Path) -> bool:
    """Takes the brief out of the file and leaves it alone from now on; false if it was not kept up to date.

    Raises: Unavailable, Invalid.
    """
    try:
        file = context_files.unregister(path)
        if file is not None:
            context_files.clear(file)
    except OSError as error:
        raise Unavailable(f"{path} can't be written: {error.strerror}") from None
    return file is not None


def command_path(name: str) -> str:
    """The absolute path of one of this installation's commands. Raises: Invalid."""
    found = paths.own_command(name) or shutil.which(name)
    if found is None:
        raise Invalid(f"{name} not found next to {sys.executable}: reinstall the package")
    return os.path.abspath(found)
