"""Paths of the data directory and its files, of our commands, and the project of a folder.

Paths are plain strings, and few modules are imported (no `pathlib`), because the hook command uses this
before every prompt.
"""

import os
import sys

#: Stand as they are in a file name made from a name. Capitals don't: some file systems ignore case.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_MAX_NAME = 120  # of such a file name, in characters
_NOBODYS = "="  # means "no project": not a valid name
_BINARY = getattr(os, "O_BINARY", 0)  # Windows writes text with other line ends
_MAX_LINK = 4096  # bytes of a `.git` file that are read


def home() -> str:
    """The folder of all that is one user's: database, token, spool, briefs. `HOLDFAST_HOME` moves it."""
    chosen = os.environ.get("HOLDFAST_HOME")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    return os.path.join(_user_data(), "holdfast")


def _user_data() -> str:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    named = os.environ.get("XDG_DATA_HOME", "").strip()
    if named:
        return os.path.expanduser(named)
    usual = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return os.path.expanduser(usual)


def database() -> str:
    """The SQLite file used by default."""
    return os.path.join(home(), "holdfast.db")


def public_place(db: str) -> str:
    """A database as it can be named to other programs: a whole path, or a URL without its password."""
    db = db.removeprefix("sqlite:///")
    if "://" not in db:
        return os.path.realpath(os.path.expanduser(db))
    from urllib.parse import urlsplit

    parts = urlsplit(db)
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(each for each in parts.query.split("&") if not each.startswith("password="))
    server = f"{parts.scheme.partition('+')[0]}://{user.partition(':')[0]}{at}{host}{parts.path}"
    return f"{server}?{query}" if query else server


def token_file() -> str:
    """Holds the token that every request to the service must carry; for its owner only."""
    return os.path.join(home(), "token")


def service_file() -> str:
    """Says where the running service listens, {"url": "http://127.0.0.1:PORT", "pid": N, …}."""
    return os.path.join(home(), "service.json")


def service_lock() -> str:
    """Held by the one service that may run for this user."""
    return os.path.join(home(), "service.lock")


def spool() -> str:
    """Holds what hooks could not hand over to a service, a file each."""
    return os.path.join(home(), "spool")


def positions() -> str:
    """Holds how far transcripts were read, a file each."""
    return os.path.join(home(), "positions")


def quiet_file() -> str:
    """Says where nothing is captured."""
    return os.path.join(home(), "quiet.json")


def hook_log() -> str:
    """Why hooks had to go on without the service; short, the latest last."""
    return os.path.join(home(), "hooks.log")


def backups() -> str:
    """Holds other programs' settings as they were before `connect` changed them."""
    return os.path.join(home(), "backups")


def briefs() -> str:
    """Holds ready-made briefs for hooks that find no service."""
    return os.path.join(home(), "briefs")


def briefs_database() -> str:
    """Names the database that the ready-made briefs show."""
    return os.path.join(briefs(), "database")


def context_files() -> str:
    """Lists the files of the user's that show memories and are kept up to date."""
    return os.path.join(home(), "context-files.json")


def context_file(space: str, project: str | None) -> str:
    """The context file for clients that read a file and have no hooks."""
    return os.path.join(home(), "context", file_stem(space), _of_project(project))


def directories() -> str:
    """Lists the directories on this machine that show spaces as files."""
    return os.path.join(home(), "directories.json")


def directory_lock(path: str) -> str:
    """The lock for syncing such a directory."""
    return os.path.join(home(), "directories", f"{file_stem(path)}.lock")


def connections() -> str:
    """Lists what `connect` changed in which file."""
    return os.path.join(home(), "connections.json")


def brief_file(space: str, project: str | None) -> str:
    """The ready-made brief of a space for one project, or for none."""
    return os.path.join(briefs(), file_stem(space), _of_project(project))


def _of_project(project: str | None) -> str:
    return f"{_NOBODYS if project is None else file_stem(project)}.md"


def file_stem(name: str) -> str:
    """A file name for any name: no two names share one, and none can leave its folder."""
    encoded = "".join(
        character if character in _PLAIN else "".join(f"%{byte:02x}" for byte in _bytes(character))
        for character in name
    )
    if len(encoded) <= _MAX_NAME:
        return encoded or "%"
    from hashlib import sha256

    return f"{encoded[: _MAX_NAME - 17]}~{sha256(_bytes(name)).hexdigest()[:16]}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def make_folder(folder: str) -> None:
    """Makes a folder that only its owner can enter, and those above it. Raises: OSError."""
    if not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above != folder:
            make_folder(above)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:  # another process was faster
            if not os.path.isdir(folder):
                raise


def write_private(path: str, content: bytes) -> None:
    """Puts a file in place whole or not at all, readable by its owner only; its folder is made if need be.

    Raises: OSError.
    """
    folder, name = os.path.split(path)
    make_folder(folder)
    # A name of its own: threads and processes may write the same file at the same time.
    beside = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    try:
        try:
            while content:  # a disk that is nearly full takes a part
                content = content[os.write(descriptor, content) :]
        finally:
            os.close(descriptor)
        os.replace(beside, path)
    except OSError:
        os.unlink(beside)
        raise


def rewrite(path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Rewrites another program's file: a link stays a link, its mode and owner stay.

    `mode` is for a new file. Raises: OSError.
    """
    real = os.path.realpath(path)
    try:
        known: os.stat_result | None = os.stat(real)
    except FileNotFoundError:
        known = None
    write_private(real, content)
    os.chmod(real, known.st_mode & 0o7777 if known else mode)
    if known and os.name == "posix" and (known.st_uid, known.st_gid) != (os.geteuid(), os.getegid()):
        os.chown(real, known.st_uid, known.st_gid)


# ------------------------------------------------------------------------------------------------- commands


def own_command(name: str) -> str | None:
    """The path of one of this installation's commands."""
    for beside in (sys.executable, os.path.abspath(sys.argv[0])):
        for file in (name, f"{name}.exe"):
            path = os.path.join(os.path.dirname(beside), file)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None


def shell_command() -> str:
    """What a person types for `holdfast` here: its path, where the name leads elsewhere or nowhere."""
    own = own_command("holdfast")
    if own is None:
        return f"{sys.executable} -m holdfast"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = os.path.join(folder, os.path.basename(own))
        if os.path.isfile(found):
            if os.path.samefile(found, own):
                return "holdfast"
            break
    return f'"{own}"' if " " in own else own


# ------------------------------------------------------------------------------------------------- projects


def project_of(directory: str | os.PathLike[str]) -> str | None:
    """The name of the git repository that contains `directory`; None without one.

    A worktree belongs to the project of its main checkout. Does not run git.
    """
    root = root_of(directory)
    if root is None:
        return None
    link = os.path.join(root, ".git")
    return os.path.basename(_main_root(root, link) if os.path.isfile(link) else root) or None


def root_of(directory: str | os.PathLike[str]) -> str | None:
    """The git root at or above `directory`."""
    folder = os.path.abspath(os.fspath(directory))
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _main_root(folder: str, link: str) -> str:
    """The root that a `.git` file leads to: the main one's for a worktree, its own for a submodule."""
    try:
        with open(link, encoding="utf-8") as file:
            text = file.read(_MAX_LINK)
    except (OSError, ValueError):
        return folder
    git = text.removeprefix("gitdir:").strip()
    if not text.startswith("gitdir:") or not git:
        return folder
    common, kind = os.path.split(os.path.dirname(os.path.normpath(os.path.join(folder, git))))
    if kind != "worktrees":
        return folder
    if os.path.basename(common) == ".git":
        return os.path.dirname(common)
    return common.removesuffix(".git")  # a bare repository: `name.git`
