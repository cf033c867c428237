"""How many secrets are found, and how many innocent lines are touched."""

from __future__ import annotations

from collections import Counter

import pytest

from holdfast.domain.secrets import redact
from tests.domain.secrets.benign import NAMED, benign_lines
from tests.domain.secrets.generators import TOKENS, planted
from tests.requirements_ledger import requirement


@requirement("trust.secrets")
def test_of_a_thousand_planted_secrets_ninety_nine_in_a_hundred_are_gone() -> None:
    planned = list(planted(seed=20240501, count=1_000))

    missed = [(name, text) for name, text, secret in planned if secret in redact(text).text]

    formats = {name for name, _, _ in planned}
    by_format = dict(Counter(name for name, _ in missed))
    assert len(formats) >= 45
    assert len(missed) <= 10, (
        f"{len(missed)} of 1000 missed over {len(formats)} formats: {by_format}; {missed[:5]}"
    )


@requirement("trust.secrets")
@pytest.mark.parametrize("name", TOKENS)
def test_a_token_of_this_format_is_found_wherever_it_stands(name: str) -> None:
    planned = [entry for seed in range(2) for entry in planted(seed, 3 * 110) if entry[0] == name]

    missed = [text for _, text, secret in planned if secret in redact(text).text]

    assert planned
    assert not missed, f"{len(missed)} of {len(planned)} missed: {missed[:3]}"


@pytest.mark.slow
@requirement("trust.secrets")
def test_of_ten_thousand_innocent_lines_at_most_half_a_percent_change() -> None:
    lines = list(benign_lines(seed=20240501, count=10_000))

    changed = [(line, redact(line).text) for line in lines if redact(line).found]

    assert len(lines) == 10_000
    assert len(changed) <= 50, (
        f"{len(changed)} of {len(lines)} changed ({len(changed) / 100:.2f} %): {changed[:10]}"
    )


@pytest.mark.parametrize("line", NAMED)
def test_a_line_that_only_talks_about_secrets_stays_as_it_is(line: str) -> None:
    line = line.replace("{{", "{").replace("}}", "}")

    assert redact(line).text == line


def test_what_was_redacted_stays_as_it_is() -> None:
    texts = [redact(text).text for _, text, _ in planted(seed=7, count=500)]

    again = [redact(text) for text in texts]

    assert [result.text for result in again] == texts
    assert {result.found for result in again} == {()}
