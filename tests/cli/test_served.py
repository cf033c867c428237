"""Commands that the running service carries out: the same output as without it, from a light program."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents.hooks.service import Lost
from holdfast.app import paths, served_command
from holdfast.app.served_command import command_of
from tests.cli.test_process import on_terminal
from tests.conftest import clean
from tests.web.service.conftest import Service, with_store

pytestmark = pytest.mark.slow  # a process for each command

HEAVY = {
    "alembic",
    "numpy",
    "onnxruntime",
    "fastapi",
    "pydantic",
    "jinja2",
    "rich",
    "httpx2",
    "asyncio.events",
    "email.message",
    "sqlalchemy.orm",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite.aiosqlite",
}


@dataclass(frozen=True)
class Done:
    """What a command said, and what it loaded."""

    output: str
    errors: str
    code: int
    loaded: frozenset[str]

    @property
    def said(self) -> tuple[str, str, int]:
        return self.output, self.errors, self.code


def run(*arguments: str, **environment: str) -> Done:
    """The program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )
    lines = done.stderr.splitlines(keepends=True)
    loaded = {line.split("|")[-1].strip() for line in lines if line.startswith("import time:")}
    errors = "".join(line for line in lines if not line.startswith("import time:"))
    return Done(done.stdout, errors, done.returncode, frozenset(loaded))


def run_here(*arguments: str, **environment: str) -> Done:
    """The same without the service, which debugging does not ask."""
    return run(*arguments, HOLDFAST_DEBUG="1", **environment)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Path]:
    """The home of a service with some memories."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        clean(folder, patch)
        running = Service(with_store(folder / "holdfast", sqlite_template))
        patch.setenv("HOLDFAST_HOME", str(running.home))
        for text in ("Jellyfin takes 60s to start", "Lives in Lisbon, near the river", "Prefers \x1b[31mtea"):
            assert run("remember", text).code == 0
        assert run("space", "create", "ops", "--profile", "ops").code == 0
    yield running.home
    running.stop()


@pytest.fixture(autouse=True)
def in_home(home: Path, clean_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))


def ids() -> list[str]:
    return [each["id"] for each in json.loads(run("list", "--json").output)["memories"]]


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["--json", "list", "--limit", "2"],
        ["list", "--limit", "0"],
        ["list", "--space", "nowhere"],
        ["list", "--space=ops", "--json"],
        ["show", "ID"],
        ["why", "ID"],
        ["show", "nowhere0", "--json"],
        ["brief"],
        ["brief", "--budget", "3", "--json"],
        ["recall", "how", "long", "does", "jellyfin", "take"],
        ["search", "jellyfin", "--explain", "--project", "x"],
        ["recall", "quantum chromodynamics"],
        ["remember"],
        ["remember", "x", "-c", "nonsense"],
        ["remember", "x", "--tier", "9"],
        ["revise", "ID", "--tag", "a", "--no-tags"],
        ["forget", "nowhere0", "nowhere1"],
        ["inbox"],
        ["memory", "help"],
    ],
)
def test_the_output_is_the_same_with_and_without_the_service(arguments: list[str]) -> None:
    known = ids()[0]
    given = [known if each == "ID" else each for each in arguments]

    here, served = run_here(*given), run(*given)

    assert served.said == here.said
    assert "click" in here.loaded
    assert served.loaded.isdisjoint({"click", "inspect", "typing", "dataclasses"})


def test_what_the_service_keeps_is_the_operators_own() -> None:
    kept = json.loads(run("remember", "The backup runs at four", "-s", "nas", "--json").output)
    again = run("remember", "The backup runs at four", "-s", "nas")
    told = json.loads(run_here("why", kept["memory"]["id"], "--json").output)

    assert again.output.startswith("Reinforced")
    assert again.loaded.isdisjoint({"click", "sqlalchemy"})
    assert [entry["origin"] for entry in told["entries"]] == ["operator", "operator"]
    assert run("forget", kept["memory"]["id"]).code == 0
    assert kept["memory"]["id"] not in ids()


def test_the_project_is_that_of_the_callers_directory(tmp_path: Path) -> None:
    (tmp_path / "site" / ".git").mkdir(parents=True)
    kept = json.loads(run("remember", "Deploys from main", "--project", "site", "--json").output)
    asked = [sys.executable, "-m", "holdfast", "recall", "deploys from main", "--json"]

    inside, outside = (
        json.loads(subprocess.run(asked, cwd=place, capture_output=True, text=True).stdout)
        for place in (tmp_path / "site", tmp_path)
    )

    assert [hit["memory"]["id"] for hit in inside["hits"]] == [kept["memory"]["id"]]
    assert outside["hits"] == []
    briefs = [
        subprocess.run([*asked[:3], "brief"], cwd=place, capture_output=True, text=True).stdout
        for place in (tmp_path / "site", tmp_path)
    ]
    assert ["Deploys from main" in brief for brief in briefs] == [True, False]


def test_a_terminal_gets_the_same_table_and_colours() -> None:
    for arguments in (["list"], ["show", ids()[0]], ["brief"]):
        for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "60"}):
            here = on_terminal(*arguments, HOLDFAST_DEBUG="1", **environment)

            assert on_terminal(*arguments, **environment) == here


@pytest.mark.parametrize(
    "environment",
    [
        {"HOLDFAST_EMBEDDER": "default"},
        {"HOLDFAST_MEMORY_BUDGET": "7"},
        {"HOLDFAST_DB": "other.db"},
        {"HOLDFAST_PERSON": "ana"},
    ],
)
def test_other_settings_are_not_the_services(environment: dict[str, str], tmp_path: Path) -> None:
    if "HOLDFAST_DB" in environment:
        environment = {"HOLDFAST_DB": str(tmp_path / "other.db")}
        Memories.open(environment["HOLDFAST_DB"]).close()

    done = run("list", **environment)

    assert "click" in done.loaded
    assert done.output.startswith("No memories") == ("HOLDFAST_DB" in environment)


def test_the_store_that_is_named_is_the_one_that_is_used(tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")

    assert run("remember", "Kept elsewhere", "--db", other).code == 0

    assert "Kept elsewhere" in run("list", f"--db={other}").output
    assert "Kept elsewhere" not in run("list").output


def test_a_question_is_asked_where_the_command_was_given() -> None:
    kept = json.loads(
        run("remember", "Runs hot", "-c", "timing", "-s", "nas", "--space", "ops", "--json").output
    )

    done = run("forget", kept["memory"]["id"], "--space", "ops")

    assert done.said == run_here("forget", kept["memory"]["id"], "--space", "ops").said
    assert (done.code, done.errors.endswith("add --yes to confirm\n")) == (2, True)


def test_a_service_that_does_not_answer_is_not_waited_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced = Path(paths.service_file()).read_text()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        told = {**json.loads(announced), "url": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        Path(paths.service_file()).write_text(json.dumps(told))
        try:
            done = run("list")
        finally:
            Path(paths.service_file()).write_text(announced)

    assert "Lives in Lisbon" in done.output
    assert (done.code, "click" in done.loaded) == (0, True)


def test_a_change_whose_answer_is_lost_is_not_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object, **__: object) -> dict[str, object]:
        raise Lost("reset")

    monkeypatch.setattr(served_command, "request", lost)

    assert served_command.carried_out(["remember", "Lives in Lisbon"]) == 3
    assert served_command.carried_out(["list"]) is None


@pytest.mark.parametrize(
    ("command", "most"),
    [
        (["list"], 63),
        (["show", "ID"], 61),
        (["why", "ID"], 84),
        (["brief"], 69),
        (["remember", "A first memory", "-c", "general"], 131),
    ],
)
def test_without_a_service_a_command_loads_only_what_it_needs(
    command: list[str], most: int, tmp_path: Path
) -> None:
    home = {"HOLDFAST_HOME": str(tmp_path)}
    run("list", **home)  # makes the store
    if "ID" in command:
        kept = json.loads(run("remember", "A first memory", "-c", "general", "--json", **home).output)
        command = [command[0], kept["memory"]["id"]]

    done = run(*command, **home, HOLDFAST_EMBEDDER="default")

    assert done.code == 0
    assert done.loaded.isdisjoint(HEAVY)
    ours = [name for name in done.loaded if name.startswith("holdfast")]
    assert len(ours) <= most


def test_without_a_service_a_command_works_on_a_server(tmp_path: Path, postgres_url: str) -> None:
    here = {"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_DB": postgres_url}

    kept, listed = run("remember", "Kept on a server", **here), run("list", **here)

    assert (kept.code, listed.code, kept.errors + listed.errors) == (0, 0, "")
    assert "Kept on a server" in listed.output
    assert listed.loaded.isdisjoint({"numpy", "sqlalchemy.dialects.sqlite", "sqlalchemy.orm"})


def test_what_stands_in_for_a_module_is_the_module_once_it_is_used() -> None:
    program = (
        "import sys\n"
        "from holdfast.__main__ import _stand_in\n"
        "for name in ('asyncio', 'importlib.metadata', 'email.utils'): _stand_in(name)\n"
        "import asyncio, email.utils, importlib.metadata\n"
        "from importlib import metadata\n"
        "assert 'asyncio.events' not in sys.modules\n"
        "assert asyncio.run(asyncio.sleep(0, 'slept')) == 'slept'\n"
        "assert metadata.version('click') == importlib.metadata.version('click')\n"
        "from email.utils import parseaddr\n"
        "assert parseaddr('a <b@c>') == ('a', 'b@c')\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["list"], "list"),
        (["--space", "list", "recall", "x"], "recall"),
        (["--json", "--space=x", "brief"], "brief"),
        (["list", "--help"], None),
        (["remember", "-"], None),
        (["serve"], None),
        (["--space"], None),
        (["--version"], None),
        ([], None),
    ],
)
def test_the_command_is_found_among_the_global_options(arguments: list[str], name: str | None) -> None:
    assert command_of(arguments) == name
