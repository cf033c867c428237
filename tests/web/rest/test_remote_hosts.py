"""What hosts build on `Memories` works with a `Client` in its place."""

from __future__ import annotations

from examples.langgraph_store import HoldfastStore
from holdfast import Client
from holdfast.agents.memory_command import answer
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import OWN, URL, Served


def _remote(served: Served, space: str, profile: str) -> Client:
    served.registry.memories()
    served.make(space, profile)
    return Client(URL, OWN, space=space, http=served.caller(None))


@requirement("asst.command")
def test_the_memory_command_answers_the_same_over_http(served: Served) -> None:
    remote = _remote(served, "me", "assistant")
    here = served.registry.memories("me")
    remote.remember("Alec is the user's boss", category="person", subject="Alec")
    remote.remember("The user prefers Friday due dates", category="preference")
    alec, friday = (memory.id for memory in here.find().memories)

    assert answer(remote, "/memory") == answer(here, "/memory")
    assert answer(remote, f"/memory delete {alec}").startswith("Deleted: 'Alec is the user's boss'")
    for text in (f"/memory delete {alec}", "/memory restore zzzzzzzz", "/memory fly", "/memory inbox"):
        assert answer(remote, text) == answer(here, text)
    assert answer(remote, f"/memory restore {alec}") == "Restored: 'Alec is the user's boss'"
    assert answer(remote, f"/memory approve {friday}") == answer(here, f"/memory approve {friday}")


def test_the_langgraph_store_works_over_http(served: Served) -> None:
    store = HoldfastStore(_remote(served, "graph", "files"))
    store.put(("users", "ada"), "day", {"text": "Releases go out on Tuesdays"})
    store.put(("users", "ada"), "n", {"n": 1, "m": [2]})
    store.put(("users", "ada"), "day", {"text": "Releases go out on Mondays"})
    store.delete(("users", "ada"), "n")

    found = store.get(("users", "ada"), "day")

    assert found is not None
    assert found.value == {"text": "Releases go out on Mondays"}
    assert [item.key for item in store.search(("users",))] == ["day"]
    assert [item.key for item in store.search(("users",), query="releases on mondays")] == ["day"]
    assert store.list_namespaces() == [("users", "ada")]
