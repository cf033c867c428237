"""What the messages of a token count as: who may post what a person said, from which rules are made."""

from __future__ import annotations

import pytest

from holdfast.app.wiring import open_store
from holdfast.engine.memories import Memories
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served, remembered

RULE = "From now on, always answer in English."


def heard(role: str) -> dict[str, object]:
    return {"session": "s1", "messages": [{"role": role, "content": RULE}]}


@requirement("trust.speakers")
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_token_of_scope_tools_posts_no_messages(served: Served, role: str) -> None:
    served.make("ours")
    secret = served.token("tools", spaces=("ours",))
    caller = served.caller(secret)

    posted = caller.post("/api/sessions/s1/messages", json={"messages": heard(role)["messages"]})
    hooked = served.caller(None).post(f"/webhook/{secret}/messages", json=heard(role))

    assert [posted.status_code, hooked.status_code] == [403, 403]
    assert posted.json()["detail"] == "this token may not post messages: it needs the scope 'write'"
    assert caller.get("/api/sessions").json()["sessions"] == []
    assert caller.post("/api/memory/", json={"content": RULE, "origin": "user"}).status_code == 403
    assert remembered(caller, RULE, category="preference")["origin"] == "assistant"
    assert "### Follow these" not in caller.get("/api/brief").json()["text"]


@requirement("trust.speakers")
def test_what_a_token_of_scope_write_posts_as_the_user_is_the_users_word(served: Served) -> None:
    served.make("ours")
    caller = served.caller(served.token("write", spaces=("ours",)))
    posted = caller.post("/api/sessions/s1/messages", json={"messages": heard("user")["messages"]})
    store = open_store(served.database)
    Memories.of(store, "ours").capture()
    store.close()

    text = caller.get("/api/brief").json()["text"]

    assert posted.status_code == 200
    assert "always answer in English" in text.partition("### Follow these")[2]
