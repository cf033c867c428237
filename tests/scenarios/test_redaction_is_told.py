"""Whoever hands over a secret is told that it was taken out, whichever door was used."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.agents.tools import call
from holdfast.engine.sessions import NewMessage
from holdfast.errors import TooLong, TooShort
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

TEXT = "The shop's database password is hunter22 since May"


@requirement("trust.secrets")
def test_the_command_line_says_what_was_redacted(sqlite_url: str, clock: FixedClock) -> None:
    shell = Shell(sqlite_url, clock)

    said = shell.says("remember", TEXT)
    answer = shell.json("remember", "The card's PIN is 4821")

    assert "Redacted before storing: password" in said
    assert answer["memory"]["redacted"] == ["pin"]
    assert "redacted" not in shell.says("remember", "Backups run at 3am")


@requirement("trust.secrets")
def test_a_model_is_told_what_was_redacted(sqlite_url: str, clock: FixedClock) -> None:
    with Memories.open(sqlite_url, clock=clock) as memories:
        answer = call(memories, "memory_remember", {"content": TEXT})

    assert "Redacted before storing: password" in answer.text
    assert answer.values is not None
    assert answer.values["redacted"] == ["password"]


@requirement("trust.secrets")
def test_what_hooks_hand_over_is_told_in_the_log_alone(
    sqlite_url: str, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with Memories.open(sqlite_url, clock=clock) as memories:
        memories.say_all("s", [NewMessage(role="user", content=TEXT)])

        context = memories.context(["What is the shop's database password?"])

    assert "session s: redacted from a message: password" in caplog.text
    assert "hunter22" not in caplog.text
    assert "redacted from" not in context.text


@pytest.mark.parametrize(
    "text",
    ["   ", "\u200b\u200d\ufeff", "\u202e\u2066", "\ufe0f\ufe0f", "\u3164\u2800", "\x00\x01", "\u0301"],
)
def test_a_text_that_nobody_can_see_is_refused(sqlite_url: str, clock: FixedClock, text: str) -> None:
    with Memories.open(sqlite_url, clock=clock) as memories, pytest.raises(TooShort, match="empty"):
        memories.remember(text)


def test_a_pile_of_marks_is_cut_and_the_letter_stays(sqlite_url: str, clock: FixedClock) -> None:
    with Memories.open(sqlite_url, clock=clock) as memories:
        outcome = memories.remember("Zalgo x" + "\u0336" * 500 + " stays readable")

    content = outcome.memory.content  # type: ignore[union-attr]
    assert content == "Zalgo x" + "\u0336" * 8 + " stays readable"


def test_a_text_that_is_too_long_is_refused_before_it_is_searched_for_secrets(
    sqlite_url: str, clock: FixedClock
) -> None:
    # With its secret taken out it would be short enough.
    text = "key\n-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 20_000 + "\n-----END RSA PRIVATE KEY-----"

    with Memories.open(sqlite_url, clock=clock) as memories, pytest.raises(TooLong, match="16,384"):
        memories.remember(text)
