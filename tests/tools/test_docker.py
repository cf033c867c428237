"""The files for containers, which no test can run: what they name exists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import yaml

from holdfast.app.service_host import PORT
from holdfast.cli import cli

DOCKER = Path(__file__).parents[2] / "docker"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "postgres.md"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
IMAGE = (DOCKER / "Dockerfile").read_text(encoding="utf-8")


def parses(words: list[str]) -> None:
    """Fails when the command line has no such command or option."""
    context = click.Context(cli, info_name="holdfast")
    command = cli.get_command(context, words[0])
    assert command is not None, words
    command.make_context(words[0], words[1:], parent=context)


def test_what_the_image_and_the_services_run_is_a_command_of_ours() -> None:
    last = re.findall(r"^CMD (\[.*\])$", IMAGE, re.M)[-1]
    ours = [service for service in COMPOSE["services"].values() if "build" in service]
    given = [service["command"] for service in ours if "command" in service]

    for words in [json.loads(last), *given]:
        parses(words)
    assert re.search(r'^ENTRYPOINT \["holdfast"\]$', IMAGE, re.M)
    assert len(given) >= 1


def test_settings_files_and_ports_are_those_of_the_product() -> None:
    named = {name for service in COMPOSE["services"].values() for name in service.get("environment", {})}
    [published] = COMPOSE["services"]["holdfast"]["ports"]
    mounted = [
        volume.split(":")[0]
        for service in COMPOSE["services"].values()
        for volume in service.get("volumes", ())
    ]

    assert {name for name in named if name.startswith("HOLDFAST_")} == {"HOLDFAST_DB"}
    assert published == f"127.0.0.1:{PORT}:{PORT}"
    assert f"EXPOSE {PORT}" in IMAGE
    assert f"http://127.0.0.1:{PORT}/health" in IMAGE
    assert all((DOCKER / place).is_file() for place in mounted if place.startswith("."))
    assert {place for place in mounted if not place.startswith(".")} == set(COMPOSE["volumes"])
    assert all(
        (DOCKER.parent / place).exists() for place in re.findall(r"^COPY (src|pyproject.toml)", IMAGE, re.M)
    )


def test_neither_the_process_nor_its_role_has_special_rights() -> None:
    role = (DOCKER / "role.sql").read_text(encoding="utf-8")
    guide = GUIDE.read_text(encoding="utf-8")
    connected = COMPOSE["services"]["holdfast"]["environment"]["HOLDFAST_DB"]

    assert re.search(r"^USER holdfast$", IMAGE, re.M)
    assert connected.startswith("postgresql://holdfast_service:")
    assert "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS" in role
    for grant in re.findall(r"^GRANT .*;$", role, re.M):
        assert grant in guide


def test_it_waits_for_the_database_the_schema_and_the_role_in_this_order() -> None:
    waits = {name: list(service.get("depends_on", {})) for name, service in COMPOSE["services"].items()}

    assert waits == {"database": [], "schema": ["database"], "role": ["schema"], "holdfast": ["role"]}
