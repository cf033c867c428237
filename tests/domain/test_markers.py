"""The grammar of markers: what is one, what is none, and where one ends."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.markers import (
    CooldownMarker,
    EventMarker,
    InvalidMarker,
    Marker,
    MemoryMarker,
    read,
    written,
)
from holdfast.domain.profile import Profile
from holdfast.profiles import built_in, parse
from tests.requirements_ledger import requirement

OPS = built_in("ops")
EVERY_PROFILE = [built_in(name) for name in ("default", "ops", "assistant", "semantic", "files")]


def found(text: str, profile: Profile = OPS) -> list[Marker]:
    return [marker for marker in read(text, profile) if not isinstance(marker, InvalidMarker)]


def kept(text: str, profile: Profile = OPS) -> list[tuple[str, str | None, str]]:
    """Category, subject and text of the memories in it."""
    return [
        (marker.category, marker.subject, marker.text)
        for marker in found(text, profile)
        if isinstance(marker, MemoryMarker)
    ]


def reasons(text: str) -> list[str]:
    return [marker.reason for marker in read(text, OPS) if isinstance(marker, InvalidMarker)]


@requirement("ops.marker.general")
def test_a_marker_without_a_service_is_general_knowledge() -> None:
    text = "DNS checks sometimes fail transiently during WireGuard reconnects -- retry once before escalating"

    assert kept(f"[MEMORY:remediation] {text}") == [("remediation", None, text)]


@requirement("ops.marker.service")
@pytest.mark.parametrize("service", ["jellyfin", "a", "Home-Assistant_2", "0", "-", "_x"])
def test_a_service_is_letters_digits_underscores_and_hyphens(service: str) -> None:
    assert kept(f"[MEMORY:timing:{service}] Takes 60s") == [("timing", service, "Takes 60s")]


@requirement("ops.marker.service")
@pytest.mark.parametrize("service", ["", "my service", "a:b", "a.b", "ü", "a/b", " a"])
def test_another_spelling_of_a_service_stores_nothing(service: str) -> None:
    assert kept(f"[MEMORY:timing:{service}] Takes 60s") == []


@requirement("ops.category.accepted")
@pytest.mark.parametrize("profile", EVERY_PROFILE, ids=lambda profile: str(profile.name))
def test_the_categories_are_those_of_the_profile(profile: Profile) -> None:
    for category in profile.category_names:
        assert kept(f"[MEMORY:{category}] Something", profile) == [(category, None, "Something")]


def test_a_profile_of_ones_own_has_a_grammar_of_its_own() -> None:
    text = built_in_text_with("recipe")
    kitchen = parse(text)

    assert kept("[MEMORY:recipe:soup] Needs salt [MEMORY:timing] no", kitchen) == [
        ("recipe", "soup", "Needs salt")
    ]


def built_in_text_with(category: str) -> str:
    return f"""
name = "kitchen"
says = "What the kitchen knows."
[[category]]
name = "{category}"
[policy]
on_same = "reinforce"
on_contradiction = "weaken"
removal = "soft"
[block]
layout = "by-category"
title = "Kitchen"
"""


@requirement("ops.category.refused")
@pytest.mark.parametrize("category", ["misc", "unknown", "Timing", "TIMING", "time"])
def test_another_category_stores_nothing_and_the_reason_names_the_allowed_ones(category: str) -> None:
    (reason,) = reasons(f"[MEMORY:{category}] Some observation")

    assert kept(f"[MEMORY:{category}] Some observation") == []
    assert repr(category) in reason
    assert all(name in reason for name in OPS.category_names)


@requirement("ops.marker.malformed")
@pytest.mark.parametrize(
    "text",
    [
        "[MEMORY] No category",
        "[MEMORY:] No category",
        "[MEMORY::jellyfin] No category",
        "[MEMORY:Timing] Upper case",
        "[MEMORY:timing]",
        "[MEMORY:timing]   ",
        "[MEMORY:timing:jellyfin] ...",
        "[MEMORY:timing]\nThe text is on the next line",
        "[MEMORY:timing]\n\nA later paragraph",
        "MEMORY:timing No brackets",
        "(MEMORY:timing) Other brackets",
        "[MEMORY timing] No colon",
        "[MEMORIES:timing] Another word",
        "[memory:timing] Another spelling",
        "[NOTE:timing] Another word",
        "[MEMORY:timing:jellyfin:more] Too many parts",
        "[MEMORY:timing Never closed",
        "[MEMORY:tim\ning] Two lines",
    ],
)
def test_a_malformed_marker_stores_nothing(text: str) -> None:
    assert found(text) == []


@requirement("ops.marker.many")
def test_several_markers_become_several_memories() -> None:
    text = (
        "Here is what I learned:\n"
        "[MEMORY:timing:jellyfin] Takes 60s to start\n"
        "- [MEMORY:behavior:adguard] Returns 302 when healthy, not 200\n"
        "  * **[MEMORY:dependency:caddy]** Must be started after WireGuard\n"
        "1. __[MEMORY:maintenance:postgres] Needs a weekly vacuum__\n"
        "Also [MEMORY:remediation] Retry once; [MEMORY:remediation:dns] Restart the resolver\r\n"
        "| a cell | *[MEMORY:timing]* Runs at 3 am"
    )

    assert kept(text) == [
        ("timing", "jellyfin", "Takes 60s to start"),
        ("behavior", "adguard", "Returns 302 when healthy, not 200"),
        ("dependency", "caddy", "Must be started after WireGuard"),
        ("maintenance", "postgres", "Needs a weekly vacuum"),
        ("remediation", None, "Retry once"),
        ("remediation", "dns", "Restart the resolver"),
        ("timing", None, "Runs at 3 am"),
    ]


@requirement("ops.marker.many")
def test_a_marker_that_is_wrong_ends_the_text_of_the_one_before_it() -> None:
    assert kept("[MEMORY:timing] Right [MEMORY:misc] wrong [MEMORY] wrong [MEMORY:behavior] Right too") == [
        ("timing", None, "Right"),
        ("behavior", None, "Right too"),
    ]


@requirement("ops.marker.quoted")
@pytest.mark.parametrize(
    "text",
    [
        "`[MEMORY:timing] x`",
        "Write `[MEMORY:timing:a] x` for that",
        "``a ` [MEMORY:timing] x``",
        "`code over\ntwo lines [MEMORY:timing] x`",
        "```\n[MEMORY:timing] x\n```",
        "```text\n[MEMORY:timing] x",
        "~~~\n[MEMORY:timing] x\n```\n[MEMORY:timing] y\n~~~",
        "````\n```\n[MEMORY:timing] x\n```\n````",
        "- ```\n  [MEMORY:timing] x\n  ```",
        "> [MEMORY:timing] x",
        "  > > [MEMORY:timing] x",
        "> The page says:\n[MEMORY:timing] x",
        "- > [MEMORY:timing] x",
        "    [MEMORY:timing] x",
        "Code:\n\n\t[MEMORY:timing] x",
        'He said "[MEMORY:timing] x"',
        'The manual has "write [MEMORY:timing] and a text" in it',
        "It reads “[MEMORY:timing] x” there",
        "'[MEMORY:timing] x'",
        "<pre>\n[MEMORY:timing] x\n</pre>",
        "<code>[MEMORY:timing] x</code>",
        "<blockquote>\n[MEMORY:timing] x",
        "<!-- [MEMORY:timing] x -->",
        "<thinking>\n[MEMORY:timing] x\n</thinking>",
        "<example>[MEMORY:timing] x</example>",
        "[MEMORY:timing](https://example.org) x",
        r"\[MEMORY:timing] x",
    ],
)
def test_a_marker_that_is_merely_quoted_stores_nothing(text: str) -> None:
    assert read(text, OPS) == []


@requirement("ops.marker.quoted")
@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("```\ncode\n```\n[MEMORY:timing] x", "x"),
        ("> quoted\n\n[MEMORY:timing] x", "x"),
        ("> quoted\n- [MEMORY:timing] x", "x"),
        ("An unmatched ` tick. [MEMORY:timing] x", "x"),
        ("`one` and `two` [MEMORY:timing] x", "x"),
        ("[MEMORY:timing] Run `systemctl restart x` twice", "Run `systemctl restart x` twice"),
        ("[MEMORY:timing] Prints `[MEMORY:behavior] y` at start", "Prints `[MEMORY:behavior] y` at start"),
        ('[MEMORY:timing] Logs "ready" twice', 'Logs "ready" twice'),
        ('The 19" rack. [MEMORY:timing] x', "x"),
        ("It's slow. [MEMORY:timing] x", "x"),
        ("- item\n    - [MEMORY:timing] x", "x"),
        ("A line\n    [MEMORY:timing] x", "x"),
        ("The <code> tag. [MEMORY:timing] x", "x"),
        ("a\\\\[MEMORY:timing] x", "x"),
    ],
)
def test_what_stands_beside_code_and_quotes_is_stored(text: str, stored: str) -> None:
    assert kept(text) == [("timing", None, stored)]


@requirement("trust.quiet")
@pytest.mark.parametrize(
    "text",
    [
        "<private>[MEMORY:timing] x</private>",
        "<private>\n\n[MEMORY:timing] x",
        "<private>a <private>b</private> [MEMORY:timing] x</private>",
    ],
)
def test_a_marker_in_a_private_region_is_none(text: str) -> None:
    assert read(text, OPS) == []


@requirement("ops.events")
def test_events_have_the_levels_of_the_profile() -> None:
    text = "[EVENT:info] All checked\n[EVENT:critical:caddy] Is down [EVENT:fatal] no\n`[EVENT:info] quoted`"

    assert found(text) == [
        EventMarker("info", None, "All checked", "[EVENT:info] All checked"),
        EventMarker("critical", "caddy", "Is down", "[EVENT:critical:caddy] Is down"),
    ]
    assert reasons(text) == ["unknown level 'fatal': use one of info, warning, critical"]


@requirement("ops.cooldowns")
@pytest.mark.parametrize(
    ("text", "succeeded", "said"),
    [
        ("success - came back after 40s", True, "came back after 40s"),
        ("failure — still down", False, "still down"),
        ("success", True, None),
        ("failure: no route", False, "no route"),
        ("success came back", True, "came back"),
    ],
)
def test_a_cooldown_says_how_the_action_went(text: str, succeeded: bool, said: str | None) -> None:
    (marker,) = found(f"[COOLDOWN:restart:jellyfin] {text}")

    assert isinstance(marker, CooldownMarker)
    assert (marker.action, marker.service) == ("restart", "jellyfin")
    assert (marker.succeeded, marker.text) == (succeeded, said)


@pytest.mark.parametrize(
    "text",
    [
        "[COOLDOWN:restart] success - no service",
        "[COOLDOWN:reboot:x] success - another action",
        "[COOLDOWN:restart:x] done",
        "[COOLDOWN:restart:x] successful",
        "[COOLDOWN:restart:x]",
    ],
)
def test_a_cooldown_that_lacks_something_stores_nothing_and_says_what(text: str) -> None:
    assert found(text) == []
    assert len(reasons(text)) == 1


def test_a_profile_without_events_has_no_such_markers() -> None:
    assert read("[EVENT:info] x [COOLDOWN:restart:y] success", built_in("files")) == []


# ------------------------------------------------------------------------------------------------ any text

CATEGORIES = st.sampled_from(OPS.category_names)
SERVICES = st.none() | st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
# Words as people write them, without what would quote or end them.
SENTENCES = st.lists(
    st.from_regex(r"[A-Za-zäöü0-9][A-Za-zäöü0-9.,;:%/+-]{0,12}", fullmatch=True), min_size=1, max_size=8
).map(" ".join)
LEADS = st.sampled_from(["", "- ", "* ", "1. ", "Note: ", "  - ", "### ", "So "])


@given(st.lists(st.tuples(LEADS, CATEGORIES, SERVICES, SENTENCES), min_size=1, max_size=6))
def test_what_is_written_is_read(markers: list[tuple[str, str, str | None, str]]) -> None:
    text = "\n".join(
        lead + written("MEMORY", category, subject, said) for lead, category, subject, said in markers
    )

    assert kept(text) == [(category, subject, said) for _, category, subject, said in markers]


@given(st.lists(st.tuples(CATEGORIES, SERVICES, SENTENCES), min_size=1, max_size=4), st.integers(3, 6))
def test_nothing_in_a_fence_is_read(markers: list[tuple[str, str | None, str]], ticks: int) -> None:
    text = "\n".join(written("MEMORY", *marker) for marker in markers)

    assert read(f"Before.\n{'`' * ticks}\n{text}\n{'`' * ticks}\nAfter.", OPS) == []
    assert read("\n".join(f"> {line}" for line in text.split("\n")), OPS) == []
    assert all(read(f"`{line}`", OPS) == [] for line in text.split("\n"))


# What could open, close or break something.
_MARKERS = "[MEMORY:timing] |[MEMORY:misc:x] |[EVENT:info] |[COOLDOWN:restart:a] success|[MEMORY|]|("
_MARKUP = '`|```\n|~~~|> |    |- |**|"|“|”|\\|<pre>|</pre>|<private>|</private>|<!--|-->|<q>|</q>'
_BREAKS = "\n|\n\n|\r\n|\u2028|\t|word |é|\0|\ud800"
PIECES = st.sampled_from(f"{_MARKERS}|{_MARKUP}|{_BREAKS}".split("|"))
ANY_TEXT = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


@given(ANY_TEXT)
def test_any_text_is_read_and_every_marker_is_one_of_the_grammar(text: str) -> None:
    for marker in read(text, OPS):
        assert re.match(r"\[(MEMORY|EVENT|COOLDOWN)", marker.written)
        assert "\n" not in marker.written
        if isinstance(marker, MemoryMarker):
            assert marker.category in OPS.category_names
            assert marker.text == marker.text.strip() != ""
            assert marker.subject is None or re.fullmatch(r"[A-Za-z0-9_-]+", marker.subject)


@given(ANY_TEXT)
def test_the_rest_of_a_text_does_not_depend_on_its_line_ends(text: str) -> None:
    assert read(text.replace("\r\n", "\n"), OPS) == read(
        text.replace("\r\n", "\n").replace("\n", "\r\n"), OPS
    )


@given(ANY_TEXT)
def test_whatever_is_fenced_is_not_read(text: str) -> None:
    longest = max([0, *map(len, re.findall("`+", text))])
    fence = "`" * max(3, longest + 1)

    assert read(f"{fence}\n{text.replace('<private>', '')}\n{fence}", OPS) == []
