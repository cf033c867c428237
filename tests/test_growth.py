"""No text from outside makes a pattern or a reader slow: twice the text costs about twice as much."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from holdfast.domain import markers
from holdfast.domain.file_paths import file_name
from holdfast.domain.markers import Echoes
from holdfast.domain.passage import passage
from holdfast.domain.render import inline, link_target
from holdfast.domain.secrets import redact
from holdfast.domain.terms import asked, telling
from holdfast.domain.text import clean, is_visible, normal_form
from holdfast.files import frontmatter
from holdfast.language.comparison import Statement
from holdfast.language.extract import extract
from holdfast.language.injected_text import typed
from holdfast.language.judge import PairJudge
from holdfast.language.named_days import named_days
from holdfast.language.sentences import MOST_CHARACTERS, own_voice
from holdfast.language.wording import Utterance
from holdfast.models.embedders import parts_of
from holdfast.profiles import built_in
from tests.growth import MOST, UNITS, growth, patterns
from tests.marking_reader import MarkingReader

FREEZING = (" ", "\n", "-")  # each froze a pattern once
FULL = 5_000  # repetitions for the readers, which do much more than one pattern


def _captured(text: str) -> object:
    return extract(
        [Utterance("user", text), Utterance("assistant", text)], Utterance("user", text), MarkingReader()
    )


def _echoed(text: str) -> bool:
    echoes = Echoes()
    echoes.read(text)
    return echoes.was_read(text)


def _compared(text: str) -> object:
    text = clean(text)[:16_384]
    return PairJudge().compare([(Statement(text=text), Statement(text=f"{text} not"))])


READERS: dict[str, Callable[[str], object]] = {
    "clean": clean,
    "normal_form": normal_form,
    "is_visible": is_visible,
    "redact": redact,
    "typed": typed,
    "markers": lambda text: markers.read(text, built_in("ops")),
    "own_voice": own_voice,
    "capture": _captured,
    "compare": _compared,
    "echoes": _echoed,
    "inline": inline,
    "link_target": link_target,
    "file_name": lambda text: file_name(clean(text)),
    "heading": lambda text: frontmatter.read(f"---\n{text}\n---\n{text}"),
    "terms": lambda text: telling(clean(text)),
    "asked": lambda text: asked(clean(text)),
    "named_days": lambda text: named_days(clean(text), date(2026, 3, 1)),
    "passage": lambda text: passage(clean(text), {"a"}, 300),
    "parts": lambda text: parts_of(clean(text), 256),
}


@pytest.mark.slow
def test_twice_the_text_costs_each_pattern_at_most_three_times_as_much() -> None:
    found = patterns()
    sample = [(pattern, FREEZING[number % len(FREEZING)]) for number, pattern in enumerate(found)]
    sample += [(pattern, UNITS[number % len(UNITS)]) for number, pattern in enumerate(found[::5])]
    sample += [(pattern, " ") for pattern in found if "capture.sentences" in pattern.name]
    slow = [
        f"{pattern.name} on {unit!r}: {times:.1f} times"
        for pattern, unit in sample
        if (times := growth(pattern.read, unit)) > MOST
    ]

    assert not slow


@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_costs_a_reader_at_most_three_times_as_much(name: str) -> None:
    units = (" ", "\n", "a. ", "\u0301\u0323", "[[")
    slow = {unit: times for unit in units if (times := growth(READERS[name], unit, FULL)) > MOST}

    assert not slow


def test_twice_as_many_statements_in_a_message_cost_capture_at_most_three_times_as_much() -> None:
    assert growth(_captured, "It needs that one then.\n", MOST_CHARACTERS // 24) <= MOST


@pytest.mark.faults
@pytest.mark.parametrize("number", range(16))
def test_no_unit_makes_any_pattern_slow(number: int) -> None:
    slow = [
        f"{pattern.name} on {unit!r}: {times:.1f} times"
        for pattern in patterns()[number::16]
        for unit in UNITS
        if (times := growth(pattern.read, unit)) > MOST
    ]

    assert not slow


@pytest.mark.faults
@pytest.mark.parametrize("name", READERS)
def test_no_unit_makes_a_reader_slow(name: str) -> None:
    slow = {unit: times for unit in UNITS if (times := growth(READERS[name], unit, FULL)) > MOST}

    assert not slow


@pytest.mark.slow
def test_the_patterns_are_found_wherever_they_are_kept() -> None:
    names = {pattern.name for pattern in patterns()}

    assert "holdfast.language.sentences._MACHINE_LIKE.match" in names  # in a module
    assert "holdfast.domain.secrets.personal._digits.search" in names  # made when first needed
    assert "phrases.retracted" in names  # in a table
    assert any(name.startswith("holdfast.language.third_person:") for name in names)  # where it is used
    assert len(names) > 250
