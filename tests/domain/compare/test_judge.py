"""What the judge of texts says about pairs of statements."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.domain.compare import Statement, TextJudge, Verdict
from holdfast.domain.compare.likeness import Likeness

# Any text a store may be handed, halves of surrogate pairs included.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
_PARTS = (
    "not no never always only before after the cache Redis Berlin 60s 2 minutes 5 GB is was moved to off on "
    "safe delete keep prefers over Monday 14 March 9am without unless every fails needs optional"
)
WORDS = st.sampled_from(_PARTS.split())
SENTENCES = st.lists(WORDS, max_size=14).map(" ".join)


def compare(known: str, draft: str) -> Verdict:
    return TextJudge().compare(Statement(text=known), Statement(text=draft))


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("Takes 60s to start after restart", "Takes about 60 seconds to start after a restart"),
        ("Takes 60s to start after restart", "TAKES 60S, TO START AFTER RESTART!"),
        ("Takes 60s to start after restart", "After restart takes 60s to start"),
        ("The job runs weekly", "The job runs every seven days"),
        ("Local retention is 15 days", "Local retention is 360 hours"),
        ("The launch is on 14 March", "The launch is on 14/03"),
        ("Reminders fire at 9am", "Reminders fire at nine in the morning"),
        ("The importer may use 2 GB of memory", "The importer may use 2048 MB of memory"),
        ("Run the linter before the formatter", "Run the formatter after the linter"),
        ("The scheduler does not start without the database", "The scheduler needs the database to start"),
        ("Replies should be short", "Replies should not be long"),
        ("Unsealing takes an hour and a half", "Unsealing takes 90 minutes"),
        ("Wildcard imports are forbidden", "Don't use wildcard imports"),
        ("Never push to the main branch by force", "Pushing to the main branch by force is never allowed"),
    ],
)
def test_one_fact_in_other_words_is_the_same(known: str, draft: str) -> None:
    verdict = compare(known, draft)

    assert (verdict.relation, verdict.certain) == ("same", True)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("Takes 60s to start after restart", "Takes 30s to start after restart"),
        ("Takes about 60 seconds to start after a restart", "Takes 30s to start after restart"),
        ("Must be started after WireGuard", "Can be started independently of WireGuard"),
        ("Sarah works on the Platform team", "Sarah works on the Design team"),
        ("Alec is my boss", "Alec is no longer my boss"),
        ("The cache key includes the tenant", "The cache key does not include the tenant"),
        ("Prefers tea over coffee", "Prefers coffee over tea"),
        ("Run the linter before the formatter", "Run the formatter before the linter"),
        ("Deleting the topic is safe", "Deleting the topic is dangerous"),
        ("Docstrings are required", "Docstrings are optional"),
        ("The lamp is on", "The lamp is off"),
        ("The link is encrypted", "The link is unencrypted"),
        ("Always lock the door", "Never lock the door"),
        ("Listens on port 8080", "Listens on port 9090"),
        ("Ana lives in Lisbon", "Ana has moved to Porto"),
        ("Ines reports to Paul", "Paul reports to Ines"),
        ("Prefer composition to inheritance", "Prefer inheritance to composition"),
        ("Write tests before the code", "Write the code first, tests later"),
        ("The app cannot run without Redis", "Redis is optional for the app"),
        ("Media is kept for a week", "Media is kept forever"),
        ("Salaries are paid on the 25th", "Salaries are paid on the 28th"),
        ("Orion is behind schedule", "Orion is ahead of schedule"),
    ],
)
def test_what_cannot_hold_together_contradicts(known: str, draft: str) -> None:
    verdict = compare(known, draft)

    assert (verdict.relation, verdict.certain) == ("contradicts", True)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("Alec is the user's boss", "Alec's birthday is 2 June"),
        ("Project X uses Python", "Project Y uses Python"),
        ("The staging API listens on port 8080", "The production API listens on port 9090"),
        ("The left knee was operated on", "The right knee was operated on"),
        ("Broker 1 is slow", "Broker 2 is slow"),
        ("The Windows build is broken", "The macOS build is broken"),
        ("Is afraid of dogs", "Is afraid of heights"),
        ("The flight to Lisbon leaves at 7:10", "The flight back from Lisbon leaves at 18:40"),
        ("Returns 302 when healthy", "Returns 503 while the lists are being updated"),
        ("Bea works at the hospital", "Bea's sister works at the hospital"),
        ("Sessions expire after 8 hours", "Password reset links expire after 8 hours"),
        ("Hello", "Goodbye"),
        ("", "Something"),
    ],
)
def test_what_can_stand_side_by_side_is_distinct(known: str, draft: str) -> None:
    assert compare(known, draft).relation == "distinct"


def test_the_reasons_name_the_evidence() -> None:
    agreeing = compare("Takes 60s to start after restart", "Takes 1 minute to start after restart")
    clashing = compare("Takes 60s to start after restart", "Takes 30s to start after restart")

    assert any("60s" in reason and "1 minute" in reason for reason in agreeing.reasons)
    assert any("60s" in reason and "30s" in reason for reason in clashing.reasons)


def test_an_uncertain_verdict_is_always_distinct_and_says_what_was_near() -> None:
    verdict = compare(
        "Flushing the cache releases stuck sessions", "Hanging sessions are cured by a restart of the worker"
    )

    assert verdict.relation == "distinct"
    assert verdict.certain or any(reason.startswith("nearly") for reason in verdict.reasons)


def test_a_denial_in_one_of_two_like_texts_keeps_them_apart() -> None:
    verdict = compare(
        "Replace the USB cable if the printer disconnects",
        "A new USB cable does not help if the printer disconnects",
    )

    assert verdict.relation != "same"


def test_two_long_texts_with_one_opening_are_not_merged() -> None:
    opening = "The importer reads one file after the other. " * 100

    verdict = compare(
        opening + "Then it stops.", opening + "Then it goes on to the mail server and sends all of it."
    )

    assert (verdict.relation, verdict.certain) == ("distinct", False)


@given(ANY_TEXT)
def test_a_text_is_always_the_same_as_itself(text: str) -> None:
    assert compare(text, text).relation == "same"


@given(ANY_TEXT, ANY_TEXT)
def test_no_text_breaks_the_judge(known: str, draft: str) -> None:
    verdict = compare(known, draft)

    assert 0.0 <= verdict.similarity <= 1.0
    assert verdict.certain or verdict.relation == "distinct"


@settings(max_examples=300)
@given(SENTENCES, SENTENCES)
def test_the_relation_is_the_same_from_both_sides(one: str, other: str) -> None:
    assert compare(one, other) == compare(other, one)


@given(SENTENCES)
def test_case_and_punctuation_change_nothing(text: str) -> None:
    assert compare(text, f"  {text.upper()}. ").relation == "same" or not text.strip()


@pytest.mark.parametrize(
    "unit",
    ["word ", "one ", "1 ", "not ", "12:", "half an ", "every ", "3 may ", "no, ", "a", "x.y/", "1,000"],
)
def test_a_text_eight_times_as_long_takes_no_square_of_the_time(unit: str) -> None:
    text = (unit * 16384)[:16384]
    compare("warm", "up")

    short = max(seconds(text[:2048]), 0.002)

    assert seconds(text) < 24 * short


def seconds(text: str) -> float:
    began = time.process_time()
    compare(text, text[:-9] + " the end")
    return time.process_time() - began


ALIKE = Likeness(whole=0.95, covered=0.95, least=0.9, weakest=0.95, rests=0.95, shared=0.98)
UNLIKE = Likeness(whole=0.1, covered=0.2, least=0.1, weakest=0.2, rests=0.0, shared=0.3)


def test_likeness_in_meaning_is_one_more_piece_of_evidence() -> None:
    known = Statement(text="Deploys are announced in the ops channel", subject="deploys")
    draft = Statement(text="Post in the ops channel before deploying", subject="deploys")

    alike = TextJudge(meaning=lambda one, other: ALIKE).compare(known, draft)
    unlike = TextJudge(meaning=lambda one, other: UNLIKE).compare(known, draft)

    assert alike.relation == "same"
    assert unlike.relation == "distinct"


def test_no_likeness_merges_over_figures_that_differ() -> None:
    known, draft = Statement(text="Listens on port 8080"), Statement(text="Listens on port 9090")

    assert TextJudge(meaning=lambda one, other: ALIKE).compare(known, draft).relation != "same"


def test_nobody_is_asked_about_texts_that_share_nothing_or_everything() -> None:
    asked: list[str] = []

    def meaning(one: str, other: str) -> None:
        asked.append(one)

    judge = TextJudge(meaning=meaning)
    judge.compare(Statement(text="Lives in Lisbon"), Statement(text="The build takes an hour"))
    judge.compare(Statement(text="Lives in Lisbon"), Statement(text="lives in Lisbon."))

    assert asked == []


def test_where_no_likeness_can_be_had_the_text_decides_alone() -> None:
    known, draft = Statement(text="Backups run at two in the night"), Statement(text="Backups run at 2 am")

    assert TextJudge(meaning=lambda one, other: None).compare(known, draft) == TextJudge().compare(
        known, draft
    )
