"""The database file is removed under a running service: health fails, doctor says so, nothing is saved."""

from __future__ import annotations

import httpx2
from click.testing import CliRunner

from holdfast.cli import cli
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service


@requirement("trust.store-replaced")
def test_a_service_without_its_file_says_so_and_saves_nothing(service: Service) -> None:
    kept = service.post("/api/memory/", {"content": "The router is in the cellar"})
    (service.home / "holdfast.db").unlink()

    refused = service.post("/api/memory/", {"content": "The boiler is in the attic"})
    hook = service.post("/hooks/SessionStart", {"session_id": "s1"})
    health = httpx2.get(f"{service.url}/health", timeout=60)
    doctor = CliRunner().invoke(cli, ["doctor"], env={"HOLDFAST_HOME": str(service.home)})
    service.process.terminate()
    _, log = service.process.communicate(timeout=60)

    assert kept.status_code == 201
    assert refused.status_code == 503
    assert "was removed while it was open" in refused.json()["detail"]
    assert hook.status_code == 503
    assert (health.status_code, health.json()["ok"]) == (503, False)
    assert str(service.home) not in health.text
    assert doctor.exit_code == 1
    assert "problem: the database file was removed or replaced" in doctor.stdout
    assert log.count("nothing can be saved") == 1


def test_a_browser_is_told_on_a_page_that_the_database_is_unreachable(service: Service) -> None:
    origin = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}
    with httpx2.Client(base_url=service.url, follow_redirects=True, timeout=60) as browser:
        signed_in = browser.post("/login", data={"token": service.token}, headers=origin)
        (service.home / "holdfast.db").unlink()

        asked = browser.get("/memories", headers={"Accept": "text/html"})
        by_script = browser.get("/memories", headers={"Accept": "text/html", "HX-Request": "true"})

    assert signed_in.status_code == 200
    assert asked.status_code == by_script.status_code == 503
    assert asked.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in asked.headers["content-security-policy"]
    assert "was removed while it was open" in asked.text
    assert by_script.headers["content-type"].startswith("application/problem+json")
