"""Embedders behind a server: what is asked of it, and what is made of its answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from holdfast.errors import Unavailable
from holdfast.models.remote import MAX_PARTS, MAX_TOKENS, RemoteEmbedder
from holdfast.models.specs import parse
from tests.loopback import Answer
from tests.models.stand_in import DIMENSIONS, FAULTS, Asked, StandIn, changed, vectors, well
from tests.requirements_ledger import requirement

NAMES = {"ollama": "ollama:some-model", "openai": "openai:some-model"}
# Seconds: for a server that answers, however busy the machine is, and for one that never does.
PATIENT, HASTY = 60.0, 0.3


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn().running() as server:
        yield server


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return NAMES[request.param]


@pytest.fixture
def embedder(name: str, stand_in: StandIn) -> RemoteEmbedder:
    return opened(name, stand_in)


def opened(
    name: str, stand_in: StandIn, *, key: str | None = None, within: float = PATIENT
) -> RemoteEmbedder:
    return RemoteEmbedder(
        parse(f"{name}@{stand_in.url}"), key=key, query_within=within, documents_within=within, rest=0.0
    )


def numbers(vector: bytes) -> np.ndarray:
    return np.frombuffer(vector, dtype="<f4")


@requirement("sem.embedder.ollama")
def test_nomic_gets_its_words_before_texts_and_questions(stand_in: StandIn) -> None:
    embedder = opened("ollama:nomic-embed-text", stand_in)

    embedder.documents(["Alec is the boss", "Lunch is at noon"])
    embedder.query("who is the boss")
    embedder.queries(["who leads", "who is the boss"])

    assert {asked.path for asked in stand_in.asked} == {"/api/embed"}
    assert [asked.texts for asked in stand_in.asked] == [
        ["search_document: Alec is the boss", "search_document: Lunch is at noon"],
        ["search_query: who is the boss"],
        ["search_query: who leads", "search_query: who is the boss"],
    ]


@pytest.mark.parametrize(
    ("name", "path"), [("ollama:some-model", "/api/embed"), ("openai:some-model", "/embeddings")]
)
def test_vectors_come_in_the_order_of_the_texts_and_of_length_1(
    stand_in: StandIn, name: str, path: str
) -> None:
    embedder = opened(name, stand_in)
    texts = [f"text number {number}" for number in range(7)]

    found = embedder.documents(texts)

    assert stand_in.asked[0].path == path
    for text, [vector] in zip(texts, found, strict=True):
        assert abs(np.linalg.norm(numbers(vector)) - 1) < 1e-6
        assert float(numbers(vector) @ numbers(embedder.query(text))) == pytest.approx(1, abs=1e-6)


def test_a_long_text_becomes_parts_and_many_parts_several_requests(
    embedder: RemoteEmbedder, stand_in: StandIn
) -> None:
    long = " ".join(f"item number {number} is blue" for number in range(3_000))

    short, parts = embedder.documents(["short", long])

    assert len(short) == 1
    assert len(parts) > 20
    assert sum(len(asked.texts) for asked in stand_in.asked) == 1 + len(parts)
    assert len(stand_in.asked) > 1
    assert all(len(asked.texts) <= MAX_PARTS for asked in stand_in.asked)
    assert all(len(text) <= 4 * MAX_TOKENS for asked in stand_in.asked for text in asked.texts)


def test_nothing_is_asked_for_nothing(embedder: RemoteEmbedder, stand_in: StandIn) -> None:
    assert embedder.documents([]) == []
    assert embedder.queries([]) == []
    assert stand_in.asked == []


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\x00", "🦜" * 3_000])
def test_any_text_can_be_sent(embedder: RemoteEmbedder, text: str) -> None:
    [parts] = embedder.documents([text])

    assert parts
    assert all(len(part) == 4 * DIMENSIONS for part in [*parts, embedder.query(text)])


@requirement("sem.embedder.down")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(name: str, stand_in: StandIn, fault: str) -> None:
    stand_in.play, said = FAULTS[fault]
    embedder = opened(name, stand_in, within=HASTY if fault == "never answers" else PATIENT)

    with pytest.raises(Unavailable) as trouble:
        embedder.documents(["a text"])
    with pytest.raises(Unavailable):
        embedder.query("a question")

    assert said in str(trouble.value)
    assert stand_in.url in str(trouble.value)


@requirement("sem.embedder.down")
def test_vectors_of_another_size_than_before_are_refused(embedder: RemoteEmbedder, stand_in: StandIn) -> None:
    embedder.query("first")
    stand_in.play = changed(lambda row: row[:32])

    with pytest.raises(Unavailable, match=f"returned 32 numbers, but {DIMENSIONS} before"):
        embedder.query("second")


def test_vectors_of_two_sizes_in_one_answer_are_refused(embedder: RemoteEmbedder, stand_in: StandIn) -> None:
    stand_in.play = lambda asked: vectors(asked, [[1.0] * (3 + place) for place in range(len(asked.texts))])

    with pytest.raises(Unavailable, match="another model"):
        embedder.documents(["one", "two"])


def test_vectors_that_are_numbered_wrongly_are_refused(stand_in: StandIn) -> None:
    stand_in.play = lambda _: Answer(b'{"data": [{"index": 1, "embedding": [1.0]}]}')

    with pytest.raises(Unavailable, match="instead of vectors"):
        opened("openai:some-model", stand_in).query("x")


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6, 1e150])
def test_a_vector_of_any_length_is_brought_to_length_1(
    embedder: RemoteEmbedder, stand_in: StandIn, length: float
) -> None:
    stand_in.play = changed(lambda _: [3 * length, 4 * length])

    assert numbers(embedder.query("x")).tolist() == pytest.approx([0.6, 0.8])


def test_a_server_that_failed_is_left_alone_for_a_while(stand_in: StandIn) -> None:
    stand_in.play = lambda _: Answer(b"", 404)
    embedder = RemoteEmbedder(parse(f"ollama:some-model@{stand_in.url}"), rest=60)

    for _ in range(3):
        with pytest.raises(Unavailable, match="answered 404"):
            embedder.query("x")

    assert len(stand_in.asked) == 1


def test_after_its_rest_a_server_is_asked_again(stand_in: StandIn) -> None:
    embedder = opened("ollama:some-model", stand_in)
    stand_in.play = lambda _: Answer(b"", 404)
    with pytest.raises(Unavailable):
        embedder.query("x")

    stand_in.play = well

    assert len(embedder.query("x")) == 4 * DIMENSIONS


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_text_that_is_too_long_for_the_model_is_cut_and_keeps_no_other_waiting(
    embedder: RemoteEmbedder, stand_in: StandIn, code: int
) -> None:
    def strict(asked: Asked) -> Answer:
        too_long = any(len(text) > 200 for text in asked.texts)
        return Answer(b"input length exceeds the context length", code) if too_long else well(asked)

    stand_in.play = strict
    texts = [f"short text {number}" for number in range(9)]
    texts[4] = "long " * 100

    found = embedder.documents(texts)

    assert [len(parts) for parts in found] == [1] * 9
    stand_in.play = well
    for text, [vector] in zip(texts, found, strict=True):
        assert float(numbers(vector) @ numbers(embedder.query(text[:125]))) == pytest.approx(1, abs=1e-6)


def test_a_server_that_refuses_everything_is_not_asked_for_every_half(
    embedder: RemoteEmbedder, stand_in: StandIn
) -> None:
    stand_in.play = lambda _: Answer(b"no such parameter", 400)

    with pytest.raises(Unavailable, match="answered 400: no such parameter"):
        embedder.documents(["a text of some length " * 20] * 64)

    assert len(stand_in.asked) < 15


def test_an_empty_text_is_not_sent_empty(embedder: RemoteEmbedder, stand_in: StandIn) -> None:
    embedder.documents(["", "x"])
    embedder.query(" ")

    assert all(text for asked in stand_in.asked for text in asked.texts)


@requirement("sem.embedder.down")
def test_texts_are_not_handed_to_a_server_that_hangs(stand_in: StandIn) -> None:
    """A question may be waiting for them, and a model may take its time: but somebody has to be there."""
    embedder = RemoteEmbedder(parse(f"ollama:some-model@{stand_in.url}"), query_within=0.2)
    stand_in.hangs = True

    with pytest.raises(Unavailable, match=r"did not answer within 0\.2 s"):
        embedder.documents(["a text"])

    assert (stand_in.probed, stand_in.asked) == (["/api/version"], [])


@pytest.mark.parametrize(("name", "path"), [("ollama:m", "/api/version"), ("openai:m", "/models")])
def test_a_server_that_answered_lately_is_not_probed(stand_in: StandIn, name: str, path: str) -> None:
    embedder = RemoteEmbedder(parse(f"{name}@{stand_in.url}"))

    for _ in range(3):
        embedder.documents(["a text"])
        embedder.query("a question")

    assert stand_in.probed == [path]


def test_a_key_goes_along(stand_in: StandIn) -> None:
    opened("openai:some-model", stand_in, key="sk-1").query("x")

    assert stand_in.asked[0].headers["Authorization"] == "Bearer sk-1"
