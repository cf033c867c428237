"""`holdfast telegram` as a program: its options, its token, its end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, sqlite_shell
from tests.cli.telegram.bot_api import ALICE, NAME, TOKEN, BotApi, Fault, typed

__all__ = ["sqlite_shell"]


@pytest.mark.slow
def test_the_program_answers_and_ends_by_a_signal(sqlite_url: str, api: BotApi, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    command = [sys.executable, "-m", "holdfast", "--db", sqlite_url, "telegram", "--json"]
    process = subprocess.Popen(
        [*command, "--allow", f"{ALICE},5", "--token-file", str(file), "--api", api.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    try:
        assert process.stdout is not None
        begun = json.loads(process.stdout.readline())
        api.faults["sendMessage"].append(Fault(429, {"ok": False, "parameters": {"retry_after": 1}}))
        told = api.types("/memory")
        api.deliver(typed("/memory please", 77))
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()

    assert begun == {"bot": f"@{NAME}", "allowed": [5, ALICE]}
    assert told == ["No memories yet."]
    assert process.returncode == 0
    assert out == ""
    assert errors == "ignored: user 77 is not allowed\n"


@pytest.mark.parametrize(
    ("options", "token", "said"),
    [
        ([], TOKEN, "no allowed users: add --allow with a numeric user id"),
        (["--allow", "@alice"], TOKEN, "'@alice' is not a numeric user id"),
        (["--allow", "-5"], TOKEN, "'-5' is not a numeric user id"),
        (["--allow", "0"], TOKEN, "'0' is not a numeric user id"),
        (["--allow", "5"], "", "use --token-file, or set HOLDFAST_TELEGRAM_TOKEN"),
        (["--allow", "5"], "hello", "invalid bot token: it should look like"),
        (
            ["--allow", "5", "--token-file", "/nowhere/token"],
            TOKEN,
            "/nowhere/token can't be read: No such file",
        ),
        (["--allow", "5", "--api", "file:///etc"], TOKEN, "'file:///etc' is not a URL"),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch, options: list[str], token: str, said: str
) -> None:
    monkeypatch.setenv("HOLDFAST_TELEGRAM_TOKEN", token)

    result = sqlite_shell("telegram", *options)

    assert result.exit_code == 2
    assert said in result.stderr
    assert TOKEN not in result.output


def test_without_the_package_it_says_how_to_get_it(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TELEGRAM_TOKEN", TOKEN)
    monkeypatch.setitem(sys.modules, "telegram", None)

    result = sqlite_shell("telegram", "--allow", "5")

    assert result.exit_code == 3
    assert re.search(r"pip install .*\[telegram\]'", result.stderr)


def test_there_is_no_way_to_give_the_token_on_the_command_line(sqlite_shell: Shell) -> None:
    result = sqlite_shell("telegram", "--allow", "5", "--token", TOKEN)

    assert result.exit_code == 2
    assert "no such option" in result.stderr.lower()
