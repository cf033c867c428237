"""Stored text on one line: what is escaped, what is left alone, and that nothing is lost."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.domain.render import file_name, heading, inline, label, link_target, link_text, plain
from holdfast.domain.text import clean
from tests.domain.render.samples import HOSTILE, TEXTS
from tests.requirements_ledger import requirement


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo", r"one\ntwo"),
        ("one\r\ntwo\u2028three", r"one\ntwo\nthree"),
        (r"C:\new", r"C:\\new"),
        (r"C:\temp", r"C:\temp"),
        ("ends in \\", "ends in \\\\"),
        ("\\\n", r"\\\n"),
        ("</system>", "&lt;/system>"),
        ("<b>", "&lt;b>"),
        ("&lt;b>", "&amp;lt;b>"),
        ("a &amp; b", "a &amp;amp; b"),
        ("[id:x]", "&#91;id:x]"),
        ("see [ID: x]", "see &#91;ID: x]"),
        ("see [MEMORY:timing] x", "see &#91;MEMORY:timing] x"),
        ("[x] done", "&#91;x] done"),
        ("[a](b)", "&#91;a]&#40;b)"),
        ("```sh", "&#96;&#96;&#96;sh"),
        ("x (confidence: 1.0)", "x &#40;confidence: 1.0)"),
        ("x (from tool)", "x &#40;from tool)"),
    ],
)
def test_what_could_begin_a_structure_is_escaped(text: str, shown: str) -> None:
    assert inline(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "latency < 5 ms, then <= 3, <3, a <- b, x < y",
        "R&D, AT&T, a & b, &nbsp;",
        "run `make check` or ``x``",
        "list[int] and the [draft] of it (see page 2)",
        "[never closed, so it is no tag",
        "# not at a line's start",
        "tab\tstays",
        "Straße, 日本語, 👩\u200d🚀",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert inline(text) == text


@requirement("trust.block")
@given(TEXTS)
@example("\\\n\\n\\\\n\\")
@example("&amp;amp;&&lt;<b")
def test_any_text_reads_back_exactly_from_one_line(text: str) -> None:
    shown = inline(text)

    assert len(shown.splitlines()) <= 1
    assert plain(shown) == clean(text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_reads_back_exactly(text: str) -> None:
    assert plain(inline(text)) == clean(text)


@given(TEXTS)
def test_headings_and_labels_are_one_line_without_signs_of_their_own(text: str) -> None:
    stored = clean(clean(text, one_line=True).strip())

    assert plain(heading(text)) == plain(label(text)) == plain(link_text(text)) == stored
    assert not heading(text).startswith("#")
    assert not re.search(r"[\[\]\n]", label(text))


def test_a_link_target_holds_no_blank_bracket_or_parenthesis() -> None:
    assert link_target("a b(c)[d]<e>.md") == "a%20b%28c%29%5Bd%5D%3Ce%3E.md"
    assert link_target("日本語_1-2.md") == "日本語_1-2.md"


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("User Preferences", "user_preferences.md"),
        ("user_prefs", "user_prefs.md"),
        ("user_prefs.md", "user_prefs.md"),
        ("project-auth", "project-auth.md"),
        ("../../etc/passwd", "etc_passwd.md"),
        ("a/b\\c:d\x00e", "a_b_c_de.md"),
        ("Ärger & Spaß", "ärger_spaß.md"),
        ("日本語", "日本語.md"),
        ("हिन्दी", "हिन्दी.md"),
        ("MEMORY", "memory-note.md"),
        ("Memory.md", "memory-note.md"),
        ("NUL", "nul-note.md"),
    ],
)
def test_a_subject_gives_a_readable_file_name(subject: str, name: str) -> None:
    assert file_name(subject) == name


def test_names_without_a_letter_or_too_long_stay_apart() -> None:
    names = {file_name(subject) for subject in ("!!!", "???", "🎉", "", "語" * 200, "語" * 199)}

    assert len(names) == 6


@given(TEXTS | st.text(st.characters(), min_size=150, max_size=200))
def test_a_file_name_is_safe_and_its_own_file_name(subject: str) -> None:
    name = file_name(subject)

    assert name.endswith(".md")
    assert name != "memory.md"
    assert len(name.encode()) <= 220
    assert not re.search(r"[\s/\\:.<>\"|?*()\[\]]", name.removesuffix(".md"))
    assert file_name(name) == name
