"""The manifests for Kubernetes: valid, consistent, and as strict as the level "restricted" asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from holdfast import Memories, __version__
from holdfast.app.service_host import PORT
from holdfast.app.wiring import migrate
from tests.deploy.test_containers import KUBERNETES, parses
from tests.postgres import OwnServer
from tests.requirements_ledger import requirement

VERSIONS = ("1.29", "1.37")
KUSTOMIZATION = "kustomization.yaml"


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(KUBERNETES.glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            yield file.name, document


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [document for _, document in documents() if document["kind"] == kind]


def pods() -> list[dict[str, Any]]:
    """The templates of all pods."""
    jobs = [*of_kind("Job"), *(each["spec"]["jobTemplate"] for each in of_kind("CronJob"))]
    return [each["spec"]["template"] for each in (*of_kind("Deployment"), *jobs)]


@requirement("trust.deployed")
@pytest.mark.parametrize("version", VERSIONS)
def test_they_are_valid_under_the_schema_of_kubernetes(version: str) -> None:
    for name, document in documents():
        if name != KUSTOMIZATION:
            kubernetes_validate.validate(document, version, strict=True)

    [service] = of_kind("Service")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**service, "spec": {**service["spec"], "port": 1}}, version, strict=True
        )


@requirement("trust.deployed")
def test_every_pod_is_unprivileged_with_a_root_that_it_can_not_write_and_limits() -> None:
    for pod in pods():
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]
            assert set(container["resources"]["requests"]) == {"cpu", "memory"}
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            assert mounted == {volume["name"] for volume in spec["volumes"]} >= {"tmp", "home", "secret"}
            passwords = [each["value"] for each in container["env"] if "PASSWORD" in each["name"]]
            [secret] = [volume["secret"] for volume in spec["volumes"] if volume["name"] == "secret"]
            assert passwords == [f"/run/secrets/holdfast/{secret['items'][0]['path']}"]
            assert secret["defaultMode"] == 0o440
    [namespace] = of_kind("Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert len(pods()) == 3


def test_commands_names_and_ports_are_those_of_the_product() -> None:
    by_name = {pod["spec"]["containers"][0]["name"]: pod["spec"]["containers"][0] for pod in pods()}
    script = by_name["backup"]["args"][0].splitlines()
    [service] = of_kind("Service")
    probes = [by_name["holdfast"][f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]

    parses(by_name["migrate"]["args"])
    parses(by_name["holdfast"]["args"])
    for line in script[1:3]:
        parses(line.removeprefix("entrypoint.sh ").split())
    assert by_name["holdfast"]["ports"] == [{"name": "http", "containerPort": PORT}]
    assert service["spec"]["ports"][0]["port"] == PORT
    assert all(probe["httpHeaders"] == [{"name": "Host", "value": "localhost"}] for probe in probes)
    assert "holdfast.holdfast.svc" in by_name["holdfast"]["args"]


def test_what_refers_to_something_finds_it() -> None:
    [kustomization] = [document for name, document in documents() if name == KUSTOMIZATION]
    [config], [secret], [account] = of_kind("ConfigMap"), of_kind("Secret"), of_kind("ServiceAccount")
    files = {path.name for path in Path(KUBERNETES).glob("*.yaml")}
    labels = [pod["metadata"]["labels"] for pod in pods()]
    selectors = [
        *(each["spec"]["selector"]["matchLabels"] for each in of_kind("Deployment")),
        *(each["spec"]["selector"] for each in of_kind("Service")),
        *(each["spec"]["selector"]["matchLabels"] for each in of_kind("PodDisruptionBudget")),
        *(each["spec"]["podSelector"]["matchLabels"] for each in of_kind("NetworkPolicy")),
    ]

    assert set(kustomization["resources"]) == files - {KUSTOMIZATION, "secret.example.yaml"}
    assert [image["newTag"] for image in kustomization["images"]] == [__version__]
    for pod in pods():
        [container] = pod["spec"]["containers"]
        assert container["image"] == kustomization["images"][0]["name"]
        assert pod["spec"]["serviceAccountName"] == account["metadata"]["name"]
        for variable in container["env"]:
            key = variable.get("valueFrom", {}).get("configMapKeyRef", {"key": "HOLDFAST_DB"})["key"]
            assert key in config["data"]
    assert {path for pod in pods() for path in secret_items(pod)} == set(secret["stringData"])
    assert all(any(selector.items() <= each.items() for each in labels) for selector in selectors)
    assert len(selectors) == 4
    [claim] = of_kind("PersistentVolumeClaim")
    [job] = of_kind("CronJob")
    volumes = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["volumes"]
    assert {"claimName": claim["metadata"]["name"]} in [each.get("persistentVolumeClaim") for each in volumes]


@pytest.mark.slow
@pytest.mark.postgres
@requirement("trust.deployed")
def test_with_the_roles_of_the_readme_the_owner_migrates_and_the_service_works(
    own_postgres: OwnServer,
) -> None:
    readme = (KUBERNETES / "README.md").read_text(encoding="utf-8")
    [statements] = re.findall(r"^ *```sql\n(.*?)^ *```", readme, re.M | re.S)
    server = own_postgres.url
    own_postgres.program(
        "psql", "-d", server.set(drivername="postgresql").render_as_string(hide_password=False),
        "-v", "ON_ERROR_STOP=1", "-c", statements,
    )  # fmt: skip

    migrate(server.set(username="holdfast_owner").render_as_string(hide_password=False))
    with Memories.open(
        server.set(username="holdfast_service").render_as_string(hide_password=False)
    ) as memories:
        memories.remember("Stored by the role of the service")

        assert memories.recall("role of the service").hits


def secret_items(pod: dict[str, Any]) -> list[str]:
    return [
        item["key"] for each in pod["spec"]["volumes"] if "secret" in each for item in each["secret"]["items"]
    ]
