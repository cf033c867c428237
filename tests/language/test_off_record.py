"""What a person's message asks not to keep, in the words that people use."""

from __future__ import annotations

import pytest

from holdfast.language.off_record import wish
from tests.requirements_ledger import requirement


@requirement("trust.off-record")
@pytest.mark.parametrize(
    "text",
    [
        "Off the record: Otto gets a new job.",
        "don't remember this, but Otto gets a new job",
        "this one you dont write down anywhere: on friday I meet another company",
        "strictly between us, Otto is leaving",
        "Just between you and me: the budget is gone.",
        "between us, Otto is leaving",
        "between us and dont keep it: Otto is leaving",
        "(dont keep this one: i only sing alto because i cant count)",
        "they offered me the old servers for free. don't keep that, not official",
        "Don't remember this one, but I believe Otto is leaving.",
        "The twins come in autumn. Don't note it yet, nobody knows.",
        "tell finance. don't write that number anywhere pls",
        "please do not remember what i say now: Otto is unwell",
        "Otto gets a raise in july, keep it to yourself",
        "between us i doubt that we make it in march",
        "Please do not put that in your notes. Otto is leaving.",
        "never write this down, Otto is leaving",
        "That must not be noted anywhere. Otto is leaving.",
        "Otto is leaving. Keep it out of your memory.",
        "Otto is leaving, and this stays in this room.",
        "In confidence: Otto is leaving.",
        "Not for the notes: Otto is leaving.",
        "Unter uns: Otto geht.",
        "Otto geht, schreib das bitte nirgends auf.",
        "Entre nous, Otto part en mai.",
        "Otto part en mai, ne note pas ça.",
        "Otto se va en mayo, no lo apuntes.",
    ],
)
def test_the_message_is_off_the_record(text: str) -> None:
    assert wish(text, None).this


@requirement("trust.off-record")
@pytest.mark.parametrize(
    "text",
    [
        "The contract between us and Acme ends in May.",
        "Don't write this to the log file, use stderr.",
        "Never put secrets in the repository.",
        "I don't note that down any more, the tool does.",
        "Do not keep this branch.",
        "Don't keep it short.",
        "They keep these files between us and the vendor.",
        "Write this down: releases are on Fridays.",
        "Just between 9 and 10 the line is free.",
        "We have confidence in the plan.",
        "No guardes los informes en la carpeta vieja.",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    assert not wish(text, None).this
