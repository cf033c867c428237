"""The picture of a terminal in the README."""

from __future__ import annotations

import re

import pytest

from tools.record_terminal import PICTURE, picture

_SCORE = re.compile(r"0\.\d\d(?!\d)")


@pytest.mark.slow  # the commands, with the models
def test_the_picture_shows_what_the_commands_print_and_loads_nothing() -> None:
    kept = PICTURE.read_text(encoding="utf-8")

    drawn = picture()

    # Scores differ between processors.
    assert _SCORE.sub("", drawn) == _SCORE.sub("", kept), "run `python -m tools.record_terminal`"
    assert re.findall(r"https?://\S+", kept) == ['http://www.w3.org/2000/svg">']
