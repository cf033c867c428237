"""The default embedder: the right file, the right tokens, vectors that mean something."""

import os
import subprocess
import sys
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest

from holdfast.errors import Unavailable
from holdfast.models import own_models
from holdfast.models.embedders import OVERLAP, PART, BuiltinEmbedder, _split
from holdfast.models.wordpiece import WordPiece, basic_words
from tests.requirements_ledger import requirement

VOCABULARY = Path(own_models.__file__).parent / "wordpiece_data" / "vocab.txt"


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def cosine(one: bytes, other: bytes) -> float:
    return float(np.frombuffer(one, dtype="<f4") @ np.frombuffer(other, dtype="<f4"))


@requirement("sem.embedder.default")
def test_texts_become_unit_vectors_without_key_download_or_server(embedder: BuiltinEmbedder) -> None:
    [[vector]] = embedder.documents(["The router was set up anew"])

    assert len(vector) == 4 * 384
    assert abs(np.linalg.norm(np.frombuffer(vector, dtype="<f4")) - 1) < 1e-4


@requirement("sem.embedder.default")
def test_what_means_the_same_is_nearer_than_what_does_not(embedder: BuiltinEmbedder) -> None:
    question = embedder.query("who is my manager")
    [[boss], [cheese]] = embedder.documents(["Alec is the user's boss", "Cheese is made of milk"])

    assert cosine(question, boss) > cosine(question, cheese) + 0.2


@requirement("trust.local")
def test_the_library_under_the_model_leaves_no_device_id_and_has_nothing_to_report(tmp_path: Path) -> None:
    home = tmp_path / "nobody"
    home.mkdir()
    # Only what Python needs: among the rest may stand what keeps the library silent, such as a mark of CI.
    bare = {"HOME": str(home), "PATH": os.environ["PATH"]}
    embeds = (
        "from holdfast.models.embedders import BuiltinEmbedder; BuiltinEmbedder().query('who is my manager')"
    )

    subprocess.run([sys.executable, "-B", "-c", embeds], env=bare, check=True, timeout=120)

    assert list(home.rglob("*")) == []


def test_one_text_or_many_at_once_give_the_same_vector(embedder: BuiltinEmbedder) -> None:
    texts = ["Lunch is at noon", "The build takes twenty minutes on a slow machine", "x"]

    together = embedder.documents(texts)

    for text, [vector] in zip(texts, together, strict=True):
        assert cosine(embedder.query(text), vector) > 0.999


def test_a_long_text_is_split_into_overlapping_parts(embedder: BuiltinEmbedder) -> None:
    long = " ".join(f"item number {number} is blue" for number in range(300)) + " the parrot is called Rio"

    [parts] = embedder.documents([long])

    assert len(parts) > 5
    question = embedder.query("the parrot is called Rio")
    assert max(cosine(question, part) for part in parts) == cosine(question, parts[-1])


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800", "日本語のテキスト", "🦜" * 50, "ﬁ½①Å", "a" * 5_000]
)
def test_any_text_has_a_vector(embedder: BuiltinEmbedder, text: str) -> None:
    for vector in embedder.documents([text])[0]:
        assert np.isfinite(np.frombuffer(vector, dtype="<f4")).all()


def test_no_more_of_a_long_text_is_read_than_the_parts_that_are_made() -> None:
    taken = count(1)
    parts = _split(islice(taken, 100_000))

    next(parts)
    read = next(taken)
    left = list(parts)

    assert read < 300
    assert len(left) == (100_000 - OVERLAP) // (PART - OVERLAP)


def test_words_are_cut_into_the_longest_known_pieces() -> None:
    pieces = WordPiece.load(VOCABULARY)
    names = {number: piece for piece, number in pieces.numbers.items()}

    found = [names[number] for number in pieces.numbers_of("Unbelievably, Jellyfin's 60s café")]

    assert found == ["un", "##bel", "##ie", "##va", "##bly", ",", "jelly", "##fin", "'", "s", "60s", "cafe"]


def test_punctuation_and_ideographs_are_words_of_their_own() -> None:
    assert basic_words("Hello, WORLD! 東京x\u200by") == ["hello", ",", "world", "!", "東", "京", "xy"]


def test_a_file_that_is_not_the_known_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / own_models.FILE).write_bytes(b"something else")

    with pytest.raises(Unavailable, match="is not the embedder that this release needs"):
        BuiltinEmbedder(str(tmp_path)).query("anything")


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no embedder") as raised:
        BuiltinEmbedder(str(tmp_path)).query("anything")

    assert raised.value.command == "run `pip install holdfast-embedder==1.1.0`"
