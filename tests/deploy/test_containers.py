"""The files for containers: no engine runs them here, but what is in them is checked, and runs as there."""

from __future__ import annotations

import importlib.resources
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import httpx2
import pytest
import yaml
from jsonschema.validators import validator_for

from holdfast import Memories, __version__
from holdfast.app.service_host import PORT
from holdfast.app.wiring import migrate
from holdfast.cli import cli
from tests.deploy.as_container import start, volumes
from tests.postgres import OwnServer
from tests.requirements_ledger import requirement

REPOSITORY = Path(__file__).parents[2]
DOCKER = REPOSITORY / "docker"
GUIDE = REPOSITORY / "docs" / "guides" / "postgres.md"
KUBERNETES = REPOSITORY / "deploy" / "kubernetes"
IMAGE = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
PLAIN: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
OVER: dict[str, Any] = yaml.safe_load((DOCKER / "compose.citus.yaml").read_text(encoding="utf-8"))
PASSWORD = 'it\'s 5% "odd"'


def merged(below: Any, above: Any) -> Any:
    """As compose merges files: maps by key, lists one after the other, what replaces the rest is replaced."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {
            key: above.get(key, below.get(key))
            if key in ("command", "entrypoint", "test") or key not in below or key not in above
            else merged(below[key], above[key])
            for key in (*below, *(key for key in above if key not in below))
        }
    return below + above if isinstance(below, list) and isinstance(above, list) else above


FILES: dict[str, dict[str, Any]] = {"postgresql": PLAIN, "citus": merged(PLAIN, OVER)}


@pytest.fixture(params=FILES)
def compose(request: pytest.FixtureRequest) -> dict[str, Any]:
    return FILES[str(request.param)]


def parses(words: list[str]) -> None:
    """Fails when the command line has no such command or option."""
    context = click.Context(cli, info_name="holdfast")
    command = cli.get_command(context, words[0])
    assert command is not None, words
    command.make_context(words[0], words[1:], parent=context)


@requirement("trust.deployed")
def test_they_are_compose_files(compose: dict[str, Any]) -> None:
    vendored = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((vendored / "compose-spec.json").read_text(encoding="utf-8"))
    valid = validator_for(schema)(schema)

    assert [error.message for each in (PLAIN, OVER, compose) for error in valid.iter_errors(each)] == []
    assert [error.message for error in valid.iter_errors({"services": {"a": {"imag": "b"}}})] != []


@requirement("trust.deployed")
def test_no_service_has_more_rights_than_it_needs(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        limits = service["deploy"]["resources"]["limits"]
        runs_on = service["restart"] == "unless-stopped"
        assert re.search(r":(?!latest$)[\w.-]+$", service["image"]), name
        assert service["read_only"] is True, name
        assert "/tmp" in service.get("tmpfs", ()) or "psql" in service["entrypoint"][-1], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        # The entry point of the databases begins as root and gives that up.
        assert service.get("cap_drop") == ["ALL"] or "POSTGRES_DB" in service["environment"], name
        assert limits["memory"], name
        assert limits["cpus"], name
        assert ("healthcheck" in service) == runs_on, name
        assert "ports" not in service or name == "holdfast", name
        assert "outside" not in service["networks"] or name == "holdfast", name
        if "POSTGRES_DB" in service["environment"]:  # the server that makes a new database has no port
            assert "pg_isready -h 127.0.0.1 " in service["healthcheck"]["test"][1], name
    assert compose["networks"]["inside"] == {"internal": True}
    assert re.search(r"^USER 10001$", IMAGE, re.M)


@requirement("trust.deployed")
def test_no_password_is_in_an_environment_or_a_command(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service["environment"].items():
            assert "PASSWORD" not in name or name.endswith("_FILE")
            assert not re.search(r"://[^/]*:[^/]*@", value)
        for file in [value for name, value in service["environment"].items() if name.endswith("_FILE")]:
            assert Path(file).name in service["secrets"]
        assert set(service["secrets"]) <= set(compose["secrets"])
    assert {each["file"] for each in compose["secrets"].values()} == {
        f"./secrets/{name}" for name in compose["secrets"]
    }
    assert "docker/secrets/" in (REPOSITORY / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_settings_files_volumes_and_ports_are_those_of_the_product(compose: dict[str, Any]) -> None:
    services = compose["services"].values()
    settings = {name for service in services for name in service["environment"]}
    mounted = [volume.split(":")[0] for service in services for volume in service.get("volumes", ())]
    [published] = compose["services"]["holdfast"]["ports"]

    assert {name for name in settings if name.startswith("HOLDFAST_")} == {
        "HOLDFAST_DB",
        "HOLDFAST_PASSWORD_FILE",
    }
    assert published == f"127.0.0.1:{PORT}:{PORT}"
    assert f"EXPOSE {PORT}" in IMAGE
    assert f"http://127.0.0.1:{PORT}/health" in IMAGE
    assert compose["services"]["holdfast"]["healthcheck"]["test"][1:] == json.loads(
        re.findall(r"^ +(\[.*\])$", IMAGE, re.M)[0]
    )
    assert all((DOCKER / place).is_file() for place in mounted if place.startswith("."))
    assert {place for place in mounted if not place.startswith(".")} == set(compose["volumes"])
    assert compose["services"]["holdfast"]["image"] == f"holdfast:{__version__}"
    for copied in re.findall(r"^COPY (?!--from)(.*) \S+$", IMAGE, re.M):
        assert all((REPOSITORY / place).exists() for place in copied.split())
        ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8")
        assert all(f"!{place}" in ignored.splitlines() for place in copied.split())


def test_what_the_image_and_the_services_run_is_a_command_of_ours() -> None:
    last = re.findall(r"^CMD (\[.*\])$", IMAGE, re.M)[-1]
    given = [each["command"] for each in PLAIN["services"].values() if "command" in each]

    for words in [json.loads(last), *given]:
        parses(words)
    assert re.search(r'^ENTRYPOINT \["/usr/local/bin/entrypoint.sh"\]$', IMAGE, re.M)
    assert len(given) == 1


def test_what_the_services_on_citus_run_is_a_command_of_ours() -> None:
    parses(FILES["citus"]["services"]["schema"]["command"])


def test_each_part_waits_for_those_that_it_needs() -> None:
    waits = {
        kind: {name: list(each.get("depends_on", {})) for name, each in compose["services"].items()}
        for kind, compose in FILES.items()
    }

    assert waits["postgresql"] == {
        "database": [], "schema": ["database"], "role": ["schema"], "holdfast": ["role"]
    }  # fmt: skip
    assert waits["citus"] == {
        **waits["postgresql"],
        "worker-1": [],
        "worker-2": [],
        "nodes": ["database", "worker-1", "worker-2"],
        "schema": ["database", "nodes"],
    }


def test_the_password_goes_from_the_file_to_the_program_and_into_no_argument(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    program = tmp_path / "holdfast"
    program.write_text('#!/bin/sh\nprintf "%s|%s" "$PGPASSWORD" "$*"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = [str(DOCKER / "entrypoint.sh"), "serve", "--host", "0.0.0.0"]

    given = subprocess.run(
        command,
        env={**environment, "HOLDFAST_PASSWORD_FILE": str(tmp_path / "password")},
        capture_output=True,
        text=True,
        check=True,
    )
    missing = subprocess.run(
        command, env={**environment, "HOLDFAST_PASSWORD_FILE": "/none"}, capture_output=True, text=True
    )

    assert given.stdout == f"{PASSWORD}|serve --host 0.0.0.0"
    assert (missing.returncode != 0, missing.stdout) == (True, "")


@pytest.mark.slow
@pytest.mark.postgres
@requirement("trust.deployed")
def test_the_role_of_the_service_is_made_twice_and_has_no_special_rights(
    own_postgres: OwnServer,
) -> None:
    place = own_postgres.beside("secrets")
    (place / "service_password").write_text(f"{PASSWORD}\n")
    script = place / "role.sql"
    script.write_text((DOCKER / "role.sql").read_text().replace("/run/secrets", str(place)))
    server = own_postgres.url
    migrate(server.render_as_string(hide_password=False))

    def run(*options: str) -> str:
        url = server.set(drivername="postgresql").render_as_string(hide_password=False)
        return own_postgres.program("psql", "-XAtd", url, *options)

    run("--file", str(script))
    run("--file", str(script))
    columns = "rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolpassword IS NOT NULL"
    role = run("-c", f"SELECT {columns} FROM pg_authid WHERE rolname = 'holdfast_service'")

    assert role == "f|f|f|f|t\n"
    with Memories.open(
        server.set(username="holdfast_service").render_as_string(hide_password=False)
    ) as memories:
        memories.remember("Stored by the role of the service")
        assert memories.find().total == 1
    shutil.rmtree(place)
    for grant in re.findall(r"^GRANT .*;$", (DOCKER / "role.sql").read_text(), re.M):
        assert grant in GUIDE.read_text(encoding="utf-8")


def commands() -> dict[str, Callable[[], list[str]]]:
    """What containers run, for one that takes loopback alone and a port that is free."""
    [deployment] = [
        each
        for each in yaml.safe_load_all((KUBERNETES / "service.yaml").read_text(encoding="utf-8"))
        if each["kind"] == "Deployment"
    ]
    [pod] = deployment["spec"]["template"]["spec"]["containers"]
    return {
        "compose": lambda: json.loads(re.findall(r"^CMD (\[.*\])$", IMAGE, re.M)[-1]),
        "kubernetes": lambda: pod["args"],
    }


@pytest.mark.slow
@requirement("trust.deployed")
@pytest.mark.parametrize("where", ["compose", "kubernetes"])
def test_the_service_runs_unprivileged_on_a_tree_that_it_can_not_write(where: str) -> None:
    words = " ".join(commands()[where]()).replace("0.0.0.0", "127.0.0.1")
    words = words.replace("$(HOLDFAST_NAME)", "memory.example.org").replace("$(POD_IP)", "10.9.8.7")
    with volumes() as (home, tmp):
        command = [str(DOCKER / "entrypoint.sh"), *words.split(), "--port", "0", "--json"]
        service = start(home, tmp, command)
        assert service.stdout is not None
        line = service.stdout.readline()
        assert line, service.communicate()[1]
        url = json.loads(line)["url"]
        status = Path(f"/proc/{service.pid}/status").read_text()

        by_name = {
            name: httpx2.get(f"{url}/health", headers={"Host": name}, trust_env=False).status_code
            for name in ("localhost", "memory.example.org", "10.9.8.7", "evil.example.org")
        }
        token = (home / "token").read_text().strip()
        stored = httpx2.post(
            f"{url}/api/memory/",
            json={"content": "The lighthouse keeper counts ships"},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        )
        service.terminate()
        _, errors = service.communicate(timeout=60)
        written = {file.name for file in home.iterdir()}

    allowed = {"compose": {"localhost"}, "kubernetes": {"localhost", "memory.example.org", "10.9.8.7"}}[where]
    assert by_name == {name: 200 if name in allowed else 421 for name in by_name}
    assert stored.status_code == 201
    assert service.returncode == 0
    assert re.search(r"^Uid:\s+10001\s+10001", status, re.M)
    assert re.search(r"^CapEff:\s+0+$", status, re.M)
    assert "holdfast.db" in written
    assert "Traceback" not in errors
    assert "Read-only" not in errors
