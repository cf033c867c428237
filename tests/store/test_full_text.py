"""Words of memories and of messages: found in every script, the same on both databases, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Memories
from holdfast.domain.terms import stems
from holdfast.engine.ports import FullText, Store, Transaction
from holdfast.engine.spaces import create_space
from holdfast.store import full_text, full_text_postgres
from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

Index = Callable[[Transaction], FullText[Any]]
Tell = Callable[[Memories, str], str]
NUMBERS = count()


def remember(memories: Memories, text: str) -> str:
    return add(memories, text, subject=f"subject{next(NUMBERS)}").id  # or near texts would be taken for one


def say(memories: Memories, text: str) -> str:
    return memories.say("s1", "user", text).id


KINDS: dict[str, tuple[Tell, Index]] = {
    "memories": (remember, lambda tx: tx.words),
    "messages": (say, lambda tx: tx.message_words),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


def matching(memories: Memories, kind: str, question: str, limit: int = 10) -> list[str]:
    with memories.store.read(memories.space) as tx:
        return KINDS[kind][1](tx).matching(stems(question), limit)


@requirement("sem.search")
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Das Café öffnet um acht", "cafe OFFNET"),
        ("Обновление сервера назначено на пятницу", "сервера"),
        ("服务器在星期五更新", "星期五"),
        ("サーバーは金曜日に更新", "金曜"),
        ("เซิร์ฟเวอร์อัปเดตวันศุกร์", "วันศุกร์"),
        ("الخادم يتحدث يوم الجمعة", "الجمعة"),
        ("The naïve façade 🫖 broke", "naive facade"),
    ],
)
def test_text_in_any_script_is_found_by_its_words(
    memories: Memories, kind: str, text: str, question: str
) -> None:
    tell = KINDS[kind][0]
    wanted = tell(memories, text)
    tell(memories, "Something else entirely, about gardens")

    assert matching(memories, kind, question) == [wanted]


@requirement("sem.search")
def test_more_and_rarer_words_come_first_and_then_the_newer(memories: Memories, kind: str) -> None:
    tell = KINDS[kind][0]
    older = tell(memories, "The router hums in the cellar")
    newer = tell(memories, "The router hums in the attic")
    rare = tell(memories, "The router smells of marzipan")
    for number in range(4):
        tell(memories, f"Something hums, thing number {number} of its kind")

    assert matching(memories, kind, "router") == [rare, newer, older]
    assert matching(memories, kind, "hums marzipan")[0] == rare
    assert matching(memories, kind, "router hums")[:2] == [newer, older]
    assert matching(memories, kind, "router", limit=1) == [rare]
    assert matching(memories, kind, "nobody said this word: xylophone") == []
    assert matching(memories, kind, "") == []


def test_both_databases_find_the_same_in_the_same_order(
    new_sqlite_database: NewDatabase, new_postgresql_database: NewDatabase, kind: str, clock: FixedClock
) -> None:
    words = "router cellar attic hums marzipan friday backup disk".split()
    found = []
    for url in (new_sqlite_database(), new_postgresql_database()):
        with Memories.open(url, clock=clock) as memories:
            texts = {}
            for number in range(40):
                chosen = [word for place, word in enumerate(words) if (number * 7 + place) % (place + 2) == 0]
                texts[KINDS[kind][0](memories, f"Number {number}: {' '.join(chosen)}")] = number
            questions = ["router disk", "marzipan friday backup", "cellar attic hums", "number 7 disk"]
            found.append([[texts[each] for each in matching(memories, kind, one, 8)] for one in questions])

    assert found[0] == found[1]
    assert all(found[0])


@requirement("sem.search")
def test_common_words_are_left_out_while_rarer_ones_are_there(
    memories: Memories, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "MOST_ROWS", 5)
    monkeypatch.setattr(full_text_postgres, "MOST_ROWS", 5)
    tell = KINDS[kind][0]
    common = [tell(memories, f"The router hums, story number {number}") for number in range(9)]
    rare = tell(memories, "The marzipan story")

    assert matching(memories, kind, "router marzipan hums") == [rare]
    assert matching(memories, kind, "router", limit=3) == common[:-4:-1]


def test_how_often_a_word_stands_is_counted_for_the_space_alone(
    store: Store, memories: Memories, kind: str, clock: FixedClock
) -> None:
    create_space("other", store=store, clock=clock)
    tell = KINDS[kind][0]
    for number in range(3):
        tell(memories, f"The router hums, story number {number}")
        tell(Memories.of(store, "other", clock=clock), f"The router hums there, story number {number}")
    tell(memories, "router router router and marzipan")

    with store.read("default") as tx:
        counts = KINDS[kind][1](tx).frequencies(["router", "marzipan", "nothing"])
        none = KINDS[kind][1](tx).frequencies([])
        total = KINDS[kind][1](tx).total()

    assert counts == {"router": 4, "marzipan": 1, "nothing": 0}
    assert none == {}
    assert total == 4


def test_the_total_follows_what_is_written(memories: Memories, kind: str) -> None:
    seen = []
    for number in range(4):
        KINDS[kind][0](memories, f"Story number {number} of its own kind and sort")
        with memories.store.read("default") as tx:
            seen.append(KINDS[kind][1](tx).total())

    assert seen == [1, 2, 3, 4]


@requirement("sem.search")
def test_what_tools_and_systems_put_in_and_what_has_no_words_is_not_found(memories: Memories) -> None:
    for role, speaker in (("tool", None), ("system", None), ("tool", "Ada")):
        memories.say("s1", role, "The marzipan is in the log", speaker=speaker)
    memories.say("s1", "user", "?!")
    said = [
        memories.say("s1", "user", "Marzipan!").id,
        memories.say("s1", "user", "marzipan", speaker="Bo").id,
    ]

    assert sorted(matching(memories, "messages", "marzipan")) == sorted(said)


@requirement("trust.export-erase")
def test_what_was_erased_is_not_found_by_its_words(memories: Memories) -> None:
    said = memories.say("s1", "user", "I keep marzipan in the drawer")
    memory = add(memories.speaking_as("user", session="s1"), "Keeps marzipan in the drawer", message=said.id)

    memories.erase(memory.id)

    for kind in KINDS:
        assert matching(memories, kind, "marzipan") == []
        with memories.store.read("default") as tx:
            assert KINDS[kind][1](tx).frequencies(["marzipan"]) == {"marzipan": 0}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=60), words=st.lists(st.text(max_size=12), max_size=4))
def test_no_question_breaks_the_search(memories: Memories, question: str, words: list[str]) -> None:
    for kind in KINDS:
        matching(memories, kind, question)
        with memories.store.read("default") as tx:
            index = KINDS[kind][1](tx)
            plain = [word.encode("utf-8", "replace").decode() for word in words]
            assert set(index.frequencies(plain)) == set(plain)
            index.matching(plain, 5)


@pytest.mark.parametrize(
    "word", ['"', '" OR "', "a OR b", "NEAR(", "*", "'", "\\", "a:b", "", "-", "^a", "{a}"]
)
def test_words_that_mean_something_to_a_database_mean_nothing_here(
    memories: Memories, kind: str, word: str
) -> None:
    KINDS[kind][0](memories, "A plain text about b and OR and NEAR")

    with memories.store.read("default") as tx:
        assert KINDS[kind][1](tx).matching([word], 5) == []
