"""What holds for every text there is: no error, no second change, no slow match."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.domain.secrets import redact, redacting, spans
from tests.domain.secrets.benign import without_trigger
from tests.domain.secrets.generators import BASE64, TOKENS, chars, pem, planted
from tests.requirements_ledger import requirement

PIECES = (
    "password", "token", "=", ":", " ", "\n", '"', "'", '\\', "\\n", '\\"', "\\u005f", "is", "hunter2",
    "[redacted:", "]", "[private]", "<private>", "</private>", "<", ">", "://", "@", "a:b", "-----BEGIN ",
    "PRIVATE KEY", "-----", "-----END ", "Cookie: ", "Authorization: ", "Bearer ", "api_key",
    "x1y2z3a4b5c6", "${X}", "(", ")", ",", ";", "&", "é", '\ud800', "\u0000", "--", "-p ", "mysql ",
    "4111", "1111", "secret", "eyJ", ".", "sk-", "ghp_", "key", "value", "\t", "İ", "%3D", "curl -u ",
)  # fmt: skip

mixed = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)
with_token = st.tuples(st.integers(0, 10**6), st.sampled_from(sorted(TOKENS)), mixed, mixed).map(
    lambda drawn: drawn[2] + TOKENS[drawn[1]](Random(drawn[0])) + drawn[3]
)


@requirement("trust.secrets")
@given(mixed | with_token | st.text(alphabet=st.characters(), max_size=200))
@example("\ud800password=\udfff1a")
@example("İİİpassword=hunter2")
def test_a_second_time_changes_nothing(text: str) -> None:
    once = redact(text)

    twice = redact(once.text)

    assert twice.text == once.text
    assert twice.found == ()
    assert bool(once.found) == (once.text != text)


def many_secrets(seed: int) -> str:
    """Secrets of every kind, among other words and in a key of many lines, some of them cut or escaped."""
    rng = Random(seed)
    texts = [text for _, text, _ in rng.sample(list(planted(seed, 150)), 8)]
    texts += [pem(rng, rng.choice(("\n", "\\n")))[0], "<private>a", "b</private>", without_trigger(rng)]
    rng.shuffle(texts)
    return rng.choice(("\n", " ", "", "\\n")).join(texts)


@requirement("trust.secrets")
@given(mixed | with_token | st.integers(0, 10**9).map(many_secrets), st.integers(1, 300))
def test_a_text_is_read_in_pieces_as_if_it_were_one(text: str, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "PIECE", 10**9)
        whole = redact(text)
        patch.setattr(spans, "PIECE", piece)

        assert redact(text) == whole


@pytest.mark.parametrize(
    "unit", ["lorem ipsum ", "password=hunter2 ", "password is ", "\\n", "a.b@c:", "-p "]
)
def test_a_long_text_is_read_in_as_many_steps_as_it_has_pieces(unit: str) -> None:
    some, more = (unit * (size // len(unit)) for size in (2 * spans.PIECE, 8 * spans.PIECE))

    steps, more_steps = (sum(1 for _ in redacting(text)) for text in (some, more))

    patterns = 8  # that read all of any text
    assert more_steps - steps >= 6 * patterns


@given(st.integers(0, 10**9))
def test_plain_words_stay_identical(seed: int) -> None:
    text = without_trigger(Random(seed))

    assert redact(text).text == text


@given(mixed)
def test_what_stands_before_and_after_stays(text: str) -> None:
    result = redact("plain start\n\n" + text)

    assert result.text.startswith("plain start\n\n")


@requirement("trust.secrets")
@pytest.mark.parametrize(
    "unit",
    [
        "a", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "password=",
        "password=(", "token=a.", "<private>", "</private>", "<private ", '\\', "\\n", "eyJ-",
        "eyJaaaaaaaa.", "://a:", "Cookie: a=", "4 ", "M.", "Q~", "token ", '\ud800', "password: ",
        "curl -u a:", '\\\\\\"', "the password is ",
    ],
)  # fmt: skip
def test_a_long_text_made_to_be_slow_takes_its_share_and_no_more(unit: str) -> None:
    text = (unit * (100_000 // len(unit) + 1))[:100_000]

    assert grows_in_line(text)


def test_a_long_base64_takes_its_share_and_no_more() -> None:
    assert grows_in_line(chars(Random(2), BASE64, 100_000))


TRIES = 3  # a busy machine makes one run slow, not all of them


def grows_in_line(text: str) -> bool:
    """Whether eight times the text takes about eight times as long; by squares it would be 64 times."""
    redact(text[:1_000])  # compiles the patterns
    eighth = text[: len(text) // 8]
    return any(seconds(text) < 24 * max(seconds(eighth), 0.002) for _ in range(TRIES))


def seconds(text: str) -> float:
    began = time.process_time()
    redact(text)
    return time.process_time() - began
