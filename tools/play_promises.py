"""Plays what users relied on and lost before, against an installed Holdfast in a fresh home.

Run as `python tools/play_promises.py VENV`, where VENV has nothing but the built wheel: `make check` does.
Prints ok for each promise, by the door that a user would take, and ends with 1 at the first that is broken.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SECRET = "three key holders"
MARKER = f"[MEMORY:remediation:vault] Unsealing needs the {SECRET} on the phone"
PATIENCE = 120  # seconds for a command, on a busy machine
IN_PYTHON = """
import sys
from datetime import timedelta
from holdfast import Memories
from holdfast.testing import FixedClock

"""


class Broken(Exception):
    """A promise does not hold; the text says what was seen."""


class NotTried(Exception):
    """This machine can't play it; the text says why."""


class Machine:
    """A home of its own with an installed Holdfast."""

    def __init__(self, venv: Path, home: Path) -> None:
        self.programs = venv / "bin"
        self.home = home
        self.environment = {"HOME": str(home), "PATH": f"{self.programs}:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def says(self, *words: str, code: int | None = 0, read: str = "") -> str:
        """What a command prints."""
        command = [str(self.programs / "holdfast"), *words]
        done = subprocess.run(
            command,
            cwd=self.home,
            env=self.environment,
            input=read,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if code is not None and done.returncode != code:
            raise Broken(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def python(self, program: str) -> str:
        """What a program of the user's own prints."""
        command = [str(self.programs / "python"), "-c", IN_PYTHON + program]
        done = subprocess.run(
            command, cwd=self.home, env=self.environment, capture_output=True, text=True, timeout=PATIENCE
        )
        if done.returncode:
            raise Broken(done.stderr)
        return done.stdout

    @contextmanager
    def service(self, *options: str) -> Iterator[tuple[str, list[str]]]:
        """Where a service listens, and what it printed until then."""
        command = [str(self.programs / "holdfast"), "serve", "--port", "0", *options]
        with subprocess.Popen(
            command, cwd=self.home, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            printed: list[str] = []
            try:
                while not any("http://" in line for line in printed):
                    line = process.stdout.readline()
                    if not line:
                        raise Broken(f"the service did not start: {printed}")
                    printed.append(line)
                address = next(line for line in printed if "http://" in line)
                yield "http://" + address.partition("http://")[2].split()[0].rstrip("/"), printed
            finally:
                process.terminate()
                printed += process.stdout.readlines()

    def asks(self, url: str, body: dict[str, str] | None = None) -> tuple[int, str]:
        """Status and text of an answer of the service."""
        [token] = [each.read_text().strip() for each in self.home.rglob("token")]
        request = Request(
            url, headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        )
        if body is not None:
            request.data = json.dumps(body).encode()
        try:
            with urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()


def expect(claim: bool, seen: object) -> None:
    if not claim:
        raise Broken(str(seen))


# --------------------------------------------------------------------------------------------- the promises


def deleted_words_are_not_quoted(machine: Machine) -> None:
    machine.says("space", "create", "ops", "--profile", "ops")
    script = machine.home / "agent"
    script.write_text(f"#!/bin/sh\necho '{MARKER}'\n")
    script.chmod(0o755)
    machine.says("run", "--space", "ops", "--agent", "plain", "--", str(script))
    known = machine.says("recall", "how to unseal vault", "--space", "ops")
    expect(SECRET in known and "[MEMORY" not in known and "&#91;" not in known, known)
    found = json.loads(machine.says("list", "--space", "ops", "--json"))["memories"]
    machine.says("forget", found[0]["id"], "--space", "ops", "--yes", code=None)
    left = machine.says("recall", "how to unseal vault", "--space", "ops", code=None)
    expect(SECRET not in left, left)
    given = machine.says("context", "--space", "ops", read="how do I unseal the vault")
    expect(SECRET not in given, given)


def off_the_record_stays_so(machine: Machine) -> None:
    seen = machine.python("""
with Memories.open() as memories:
    memories.say("talk", "user", "Don't remember this, but the party for Nadia is on Friday at Otto's.")
    memories.close_session("talk")
    memories.capture()
    print([m.content for m in memories.find().memories], memories.recall("when is the party for Nadia").hits,
          memories.context(["When is Nadia's party?"]).text)
""")
    expect("Friday" not in seen and "Otto" not in seen, seen)


def corrections_lead(machine: Machine) -> None:
    machine.says("remember", "Sarah works on the Platform team", "-s", "Sarah")
    machine.says("remember", "Sarah works on the Design team now, not on the Platform team", "-s", "Sarah")
    machine.says("remember", "Takes 60s to start after a restart", "-c", "timing", "-s", "jellyfin")
    machine.says("remember", "Takes 30s to start after a restart", "-c", "timing", "-s", "jellyfin")
    brief = machine.says("brief")
    expect("30s" in brief and "60s" not in brief, brief)
    recalled = machine.says("recall", "how long does jellyfin take to start")
    expect(recalled.index("30s") < recalled.index("60s") and "superseded" in recalled, recalled)


def a_project_keeps_its_own(machine: Machine) -> None:
    seen = machine.python("""
with Memories.open() as memories:
    memories.open_session("alpha-1", project="alpha")
    memories.say("alpha-1", "user", "In this project we always use tabs, never spaces.")
    memories.close_session("alpha-1")
    memories.capture()
    print("tabs" in memories.brief(project="alpha").text, "tabs" in memories.brief(project="beta").text)
""")
    expect(seen.strip() == "True False", seen)


def long_texts_do_not_freeze(machine: Machine) -> None:
    machine.python("""
with Memories.open() as memories:
    for dish in ("tea", "rye", "figs", "rice", "soup", "plums"):
        memories.say("long", "user", f"Remember that I like {dish}.\\n" + " " * 60_000 + "x")
    memories.say("long", "user", "[" * 40_000)
    memories.close_session("long")
    memories.capture()
""")


def a_removed_database_is_noticed(machine: Machine) -> None:
    place = machine.home / "gone.db"
    with machine.service("--db", str(place)) as (url, _):
        expect(
            machine.asks(f"{url}/api/memory/", {"content": "The gate opens at nine"})[0] == 201, "no write"
        )
        for file in machine.home.glob("gone.db*"):
            file.unlink()
        status, said = machine.asks(f"{url}/api/memory/", {"content": "The gate closes at five"})
        expect(status == 503, said)
        expect(machine.asks(f"{url}/health")[0] == 503, "healthy")


def damage_is_found_and_repaired(machine: Machine) -> None:
    place = machine.home / "harmed.db"
    on = ("--db", str(place))
    machine.says("remember", "The router reboots on Sundays", *on)
    machine.says("recall", "when does the router reboot", *on)
    with closing(sqlite3.connect(place)) as database:
        database.execute("UPDATE memory_vectors SET vector = x'00'")
        database.commit()
    expect("Sundays" in machine.says("recall", "when does the router reboot", *on), "not found")
    machine.says("doctor", "--repair", *on, code=None)
    with closing(sqlite3.connect(place)) as database:
        database.execute("UPDATE versions SET content = 'The router reboots on Mondays'")
        database.commit()
    checked = machine.says("doctor", *on, code=None)
    expect("damaged text" in checked, checked)


def a_clock_far_ahead_takes_no_belief(machine: Machine) -> None:
    seen = machine.python("""
clock = FixedClock()
with Memories.open("clock.db", clock=clock) as memories:
    pass
from holdfast.app.wiring import open_store
from holdfast.engine.spaces import create_space
store = open_store("clock.db")
create_space("ops", store=store, clock=clock, profile="ops")
memories = Memories.of(store, "ops", clock=clock)
memories.remember("Takes 60s to start", category="timing", subject="jellyfin")
clock.advance(days=400)
done = memories.tend()
[known] = memories.find().memories
print(len(done.decayed), done.clock_doubt is not None, known.confidence, memories.brief().text)
""")
    expect(seen.startswith("0 True 0.7") and "60s" in seen, seen)


def a_read_only_disk_serves_reads(machine: Machine) -> None:
    folder = machine.home / "disk"
    folder.mkdir()
    enter = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    program = str(machine.programs / "holdfast")
    script = (
        f"mount -t tmpfs tmpfs {folder} && export HOLDFAST_HOME={folder} && "
        f'{program} remember "The gate opens at nine" >/dev/null && mount -o remount,ro {folder} && '
        f"{program} recall when does the gate open && {program} brief"
    )
    done = subprocess.run(
        [*enter, "sh", "-ec", script],
        env=machine.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        raise NotTried(done.stderr.strip().splitlines()[0])
    expect(
        done.returncode == 0 and done.stdout.count("The gate opens at nine") >= 2, done.stdout + done.stderr
    )


def a_log_holds_no_login_link(machine: Machine) -> None:
    with machine.service("--db", str(machine.home / "log.db")) as (_, printed):
        pass
    expect("/login?" not in "".join(printed) and "holdfast open" in "".join(printed), printed)


PROMISES: tuple[tuple[str, Callable[[Machine], None]], ...] = (
    ("deleted words and marker lines are not quoted", deleted_words_are_not_quoted),
    ("what is off the record stays so", off_the_record_stays_so),
    ("corrections lead", corrections_lead),
    ("a project keeps its own", a_project_keeps_its_own),
    ("long texts do not freeze anything", long_texts_do_not_freeze),
    ("a removed database is noticed", a_removed_database_is_noticed),
    ("damage is found and repaired", damage_is_found_and_repaired),
    ("a clock far ahead takes no belief", a_clock_far_ahead_takes_no_belief),
    ("a read-only disk serves reads", a_read_only_disk_serves_reads),
    ("a log holds no login link", a_log_holds_no_login_link),
)


def main() -> None:
    venv = Path(sys.argv[1]).resolve()
    for says, play in PROMISES:
        home = Path(tempfile.mkdtemp(prefix="holdfast-promise-"))
        try:
            play(Machine(venv, home))
            said = f"ok {says}"
        except (Broken, subprocess.TimeoutExpired) as broken:
            sys.exit(f"BROKEN: {says}: {broken}")
        except NotTried as reason:
            said = f"-- {says}: not tried here: {reason}"
        finally:
            shutil.rmtree(home, ignore_errors=True)
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
