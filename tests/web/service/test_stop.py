"""A signal ends the service in time, wherever it comes in."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PATIENCE = 20  # seconds; a busy machine is no failure
#: Serves an application that never gets past the given phase; says when it is there, and when it leaves.
_STUCK = """
import sys, threading
from holdfast.web.service import http_server

async def app(scope, receive, send):
    for phase in ("startup", "shutdown"):
        await receive()
        if phase == sys.argv[1]:
            print("stuck", flush=True)
            threading.Event().wait()
        await send({"type": f"lifespan.{phase}.complete"})

http_server.serve(
    app,
    http_server.listen("127.0.0.1", 0),
    started=lambda: print("started", flush=True),
    leaving=lambda: print("leaving", flush=True),
)
"""


@pytest.mark.parametrize(("phase", "first"), [("startup", "stuck"), ("shutdown", "started")])
def test_a_signal_ends_a_service_that_is_stuck(phase: str, first: str) -> None:
    with subprocess.Popen([sys.executable, "-c", _STUCK, phase], stdout=subprocess.PIPE, text=True) as stuck:
        assert stuck.stdout is not None
        said = [stuck.stdout.readline().strip()]

        stuck.send_signal(signal.SIGTERM)

        try:
            rest, _ = stuck.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            stuck.kill()
            raise

    assert said == [first]
    assert rest.split()[-1] == "leaving"
    assert stuck.returncode == 0
