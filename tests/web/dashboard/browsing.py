"""A real Chromium, Debian's own, that may speak to this machine alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.web.dashboard.serving import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# Read when the tests are collected: during a test the home directory is another one.
_ENVIRONMENT = dict(os.environ)
PATIENCE = 60_000.0  # milliseconds until what does not come counts as missing
_NAMES = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")


def installed_chromium() -> str:
    """The browser of this machine; installed first where that is allowed. Loud where a browser must be."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quietly = {**_ENVIRONMENT, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update"], env=quietly, capture_output=True, check=False)
        install = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends"]
        subprocess.run([*install, "chromium"], env=quietly, capture_output=True, check=False)
        found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is not None:
        return found
    reason = "NO BROWSER: the dashboard was not tested. Install one: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@contextmanager
def launched(executable: str) -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS, env=dict(_ENVIRONMENT))
        yield browser
        browser.close()


class Watched:
    """A window of its own, signed in by a one-time link; `close` tells what went wrong in it meanwhile."""

    def __init__(self, browser: Browser, running: Running, **options: Any) -> None:
        self.running = running
        self.left: list[str] = []
        self.trouble: list[str] = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.context.route("**/*", self._checked)
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("console", lambda said: self._heard(said.type, said.text))
        self.page.goto(running.login())
        self.page.wait_for_url(lambda url: "/login" not in url)

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.running.url}{path}")
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.left == [], "a page asked another machine"
        assert self.trouble == [], "\n".join(self.trouble)

    def _checked(self, route: Route) -> None:
        host = urlsplit(route.request.url).hostname
        if host in ("127.0.0.1", "localhost") or route.request.url.startswith(("data:", "about:")):
            route.continue_()
        else:
            self.left.append(route.request.url)
            route.abort()

    def _heard(self, kind: str, text: str) -> None:
        # That an answer was a 4xx is what some tests are about; all else that a page complains of is a fault.
        refused = "Failed to load resource" in text or "Response Status Error Code 4" in text
        if kind == "error" and not refused:
            self.trouble.append(text)


def serious(page: Page, axe: Path) -> list[str]:
    """What the accessibility checker calls serious or worse on this page."""
    page.evaluate(axe.read_text())  # not as a <script>: the policy forbids what is not ours
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
