"""Names of embedders: which are understood, what they are called afterwards, who gets which key."""

from __future__ import annotations

import pytest

from holdfast.app import wiring
from holdfast.engine.ports import Embedder
from holdfast.errors import Invalid
from holdfast.models.embedders import BuiltinEmbedder, MultilingualEmbedder
from holdfast.models.remote import RemoteEmbedder
from holdfast.models.specs import EMBEDDERS, Spec, parse
from holdfast.settings import Settings
from tests.requirements_ledger import requirement


@requirement("sem.embedder.default")
def test_without_a_setting_the_default_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOLDFAST_EMBEDDER")

    assert isinstance(wiring.open_embedder(), BuiltinEmbedder)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("default", BuiltinEmbedder),
        ("multilingual", MultilingualEmbedder),
        ("ollama:nomic-embed-text", RemoteEmbedder),
        ("ollama:nomic-embed-text:v1.5@http://10.0.0.5:11434", RemoteEmbedder),
        ("ollama:hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0", RemoteEmbedder),
        ("openai:text-embedding-3-small", RemoteEmbedder),
        ("openai:BAAI/bge-m3@https://models.example.org/v1/", RemoteEmbedder),
        ("openai:bge@http://[::1]:8080/v1", RemoteEmbedder),
    ],
)
def test_an_embedder_can_be_opened_again_by_its_own_name(text: str, kind: type[Embedder]) -> None:
    embedder = wiring.open_embedder(text)

    assert isinstance(embedder, kind)
    again = wiring.open_embedder(embedder.name)
    assert isinstance(again, kind)
    assert again.name == embedder.name


def test_none_is_no_embedder() -> None:
    assert wiring.open_embedder("none") is None
    assert parse("none").name == "none"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ollama:nomic-embed-text@http://127.0.0.1:11434", "ollama:nomic-embed-text"),
        ("openai:x@https://api.openai.com/v1/", "openai:x"),
        ("openai:x@HTTPS://Models.Example.ORG/V1/", "openai:x@https://models.example.org/V1"),
    ],
)
def test_one_embedder_has_one_name_however_it_is_written(text: str, name: str) -> None:
    assert parse(text).name == name


@pytest.mark.parametrize(
    "text", ["gpt", "Default", "ollama", "ollama:", "openai:@http://h", "llama:x", "a:b:c"]
)
def test_an_unknown_name_is_answered_with_the_forms(text: str) -> None:
    with pytest.raises(Invalid) as wrong:
        parse(text)

    assert EMBEDDERS in str(wrong.value)
    assert wrong.value.field == "embedder"


@pytest.mark.parametrize(
    "address",
    [
        "https://me:hunter2@host/v1",
        "https://hunter2@host/v1",
        "https://host/v1?key=hunter2",
        "https://host/v1#hunter2",
        "https://hunter2@[::1/v1",
        "https://hunter2@host:99999/v1",
        "ftp://hunter2",
        "http://hunter2:0",
        "https:///hunter2",
        "http://hunter2 host",
        "http://hunter2\x00",
    ],
)
def test_an_address_that_could_hold_a_secret_is_refused_and_not_repeated(address: str) -> None:
    for text in (f"openai:model@{address}", f"opanai:model@{address}", f"ollama:@{address}"):
        with pytest.raises(Invalid) as wrong:
            parse(text)

        assert "hunter2" not in str(wrong.value)


def test_settings_name_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "word2vec")

    with pytest.raises(Invalid, match="HOLDFAST_EMBEDDER: unknown embedder 'word2vec': use default, none"):
        Settings.read()


def settings(embedder: str, **keys: str) -> Settings:
    return Settings.read({"HOLDFAST_EMBEDDER": embedder, **keys})


@pytest.mark.parametrize(
    ("configured", "asked", "key"),
    [
        ("openai:x@https://a.example/v1", "openai:x@https://a.example/v1", "own"),
        ("openai:x@https://a.example/v1", "openai:y@https://a.example/v1", "own"),
        ("openai:x@https://a.example/v1", "openai:x@https://b.example/v1", None),
        ("openai:x@https://a.example/v1", "openai:x@https://a.example/v2", None),
        ("openai:x@https://a.example/v1", "openai:x", "openai's"),
        ("openai:x", "openai:x", "own"),
        ("ollama:x", "ollama:x", "own"),
        ("ollama:x", "openai:x@https://b.example/v1", None),
        ("default", "openai:x@https://b.example/v1", None),
        ("default", "default", None),
    ],
)
def test_a_key_goes_only_to_the_server_that_it_was_set_for(
    configured: str, asked: str, key: str | None
) -> None:
    mine = settings(configured, HOLDFAST_EMBEDDER_KEY="own", OPENAI_API_KEY="openai's")

    assert mine.key_for(parse(asked)) == key


def test_the_key_of_openai_does_for_its_own_server() -> None:
    mine = settings("openai:text-embedding-3-small", OPENAI_API_KEY=" sk-1\n")

    assert mine.key_for(parse("openai:text-embedding-3-small")) == "sk-1"


def test_a_local_embedder_gets_no_key() -> None:
    assert settings("multilingual", HOLDFAST_EMBEDDER_KEY="own").key_for(Spec("multilingual")) is None


def test_no_setting_shows_a_key() -> None:
    mine = settings("openai:x", HOLDFAST_EMBEDDER_KEY="sk-own", OPENAI_API_KEY="sk-openai")

    assert "sk-" not in repr(mine)


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "bell\x07"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(Invalid, match="contains characters that are not allowed in a key") as wrong:
        settings("openai:x", HOLDFAST_EMBEDDER_KEY=key).key_for(parse("openai:x"))

    assert key not in str(wrong.value)


def test_a_broken_key_that_nobody_needs_does_no_harm() -> None:
    assert settings("default", OPENAI_API_KEY="two\nlines").embedder == "default"


def test_an_embedder_of_a_program_can_not_be_opened_again() -> None:
    assert wiring.reopened("brought along") is None
    assert wiring.reopened(BuiltinEmbedder.name) is wiring.reopened(BuiltinEmbedder.name)
