"""What a hook prints: valid JSON within what hosts take, whatever the text is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.hooks.events import MAX_OUTPUT, MEANING, output


def units(text: str) -> int:
    """The length as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def told(printed: str) -> str:
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])


@given(
    st.text(max_size=400).map(lambda text: text * 60),
    st.sampled_from(sorted(MEANING)),
    st.sampled_from(["", "(one line at the end)"]),
)
def test_any_text_becomes_json_of_bounded_length(text: str, event: str, last: str) -> None:
    printed = output(event, text, last)

    assert units(printed) <= MAX_OUTPUT
    if printed:
        assert json.loads(printed)["hookSpecificOutput"]["hookEventName"] == event
        assert told(printed).endswith(last)


def test_nothing_to_say_is_no_output() -> None:
    assert output("SessionStart", "") == ""
    assert output("SessionStart", "\n\n", "") == ""


def test_a_text_that_just_fits_is_left_whole() -> None:
    room = MAX_OUTPUT - units(output("Stop", "x")) + 1

    assert told(output("Stop", "x" * room)) == "x" * room
    assert told(output("Stop", "x" * (room + 1))) == "\n(the rest did not fit)"


def test_whole_lines_give_way_and_what_stands_last_stays() -> None:
    lines = [f'- "memory" number {number} \N{GREEN HEART}' for number in range(2_000)]

    shown = told(output("SessionStart", "\n".join(lines), "(start it with `holdfast up`)"))

    kept = shown.split("\n(the rest did not fit)")[0].split("\n")
    assert kept == lines[: len(kept)]
    assert len(kept) > 200
    assert shown.endswith("(the rest did not fit)\n\n(start it with `holdfast up`)")


def test_an_emoji_counts_as_two() -> None:
    printed = output("Stop", "\N{GREEN HEART}\n" * 6_000)

    assert units(printed) <= MAX_OUTPUT < units(printed) + 10
