"""`holdfast open`: a link from the running service, for whoever can read this user's token."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import httpx2

from tests.web.dashboard.serving import Running


def test_open_prints_a_link_that_signs_in_once(running: Running) -> None:
    link = running.run("open", "--print").strip()
    other = json.loads(running.run("dashboard", "--json"))["login"]

    assert link.startswith(f"{running.url}/login?code=")
    assert other != link
    with httpx2.Client(timeout=60) as browser:
        assert browser.get(link).status_code == 200
        assert browser.get(f"{running.url}/memories").status_code == 200
    assert httpx2.get(link, timeout=60).status_code == 403


def test_open_with_a_space_leads_to_that_space(running: Running) -> None:
    link = running.run("open", "--print", "--space", "ops").strip()

    with httpx2.Client(timeout=60) as browser:
        welcome = browser.get(link)

    assert welcome.status_code == 200
    assert "/?space=ops" in welcome.text


def test_without_a_service_open_says_how_to_start_one(running: Running) -> None:
    elsewhere = {**running.environment, "HOLDFAST_HOME": str(running.home / "nowhere")}

    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "open"], capture_output=True, text=True, env=elsewhere
    )

    assert done.returncode == 3
    assert re.search(r"start it with `\S*holdfast up`", done.stderr)
