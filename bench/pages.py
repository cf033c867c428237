"""The pages of the dashboard over a space of any size: fills one, asks for every page, says what each costs.

The application is called in this process, without a port between: what is measured is the server's own time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final
from urllib.parse import quote

from bench.speed.corpus import Corpus
from bench.speed.cost import Cost, Patience, cost_of, middle
from bench.speed.filling import Told, memory_id
from holdfast.domain.memory import Draft
from holdfast.engine.embedding import embed_missing
from holdfast.engine.remember import remember
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable

MOST_MS: Final = 300.0  # of server time for a page
MOST_KB: Final = 150.0
PROMISED: Final = 100_000  # memories at which this holds
_SECONDS: Final = 5.0  # for one page, once it was asked for
_BLOCK: Final = 1_000  # memories in one transaction
_SERVICES: Final = 300
_SESSIONS: Final = 100
_SAID: Final = 20  # messages of a session
_TABLES: Final = ("memories", "versions", "journal")
_STATES: Final = ("active",) * 84 + ("inactive",) * 14 + ("waiting", "forgotten")
_RARE: Final = "quillwort"  # in one memory of all

App = Callable[[Any, Any, Any], Awaitable[None]]
Message = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a page costs: its middle time, and its size without what a browser keeps."""

    address: str
    cost: Cost
    kilobytes: float

    @property
    def reached(self) -> bool:
        return self.cost.wall <= MOST_MS and self.kilobytes <= MOST_KB


def fill(ctx: SpaceContext, corpus: Corpus, size: int, told: Told = lambda done: None) -> None:
    """Brings an empty space to `size` memories of many services, states and sessions."""
    now = ctx.now()
    remember(Draft(content=corpus.fact(0).content, category=corpus.fact(0).category), ctx=ctx)
    with ctx.store.read(ctx.space) as tx:
        first = {table: next(tx.dump.rows(table)) for table in _TABLES}
    with ctx.store.write(ctx.space) as tx:
        for table, row in _happenings(now):
            tx.dump.insert(table, dict(row))
    for start in range(1, size, _BLOCK):
        numbers = range(start, min(size, start + _BLOCK))
        with ctx.store.write(ctx.space) as tx:
            last = tx.journal.last()
            for number in numbers:
                own = _own(number, corpus, now)
                journal = {"memory_id": own["id"], "seq": last + 1 + number - start}
                version = {"memory_id": own["id"], "content": own["content"]}
                for table, values in zip(_TABLES, (own, version, journal), strict=True):
                    tx.dump.insert(table, {**first[table], **values})
            tx.dump.reindex([memory_id(number) for number in numbers])
        embed_missing(ctx, limit=_BLOCK)
        told(numbers.stop)
    with ctx.store.write(ctx.space) as tx:
        tx.journal.count_growth(size)  # as the upkeep does


def views() -> dict[str, str]:
    """Every page that grows with its space, by what it shows."""
    shown = {
        "by recency": "",
        "by confidence": "sort=confidence",
        "oldest first": "sort=created",
        "by service": "group=subject",
        "by service, then confidence": "group=subject&sort=confidence",
        "by category": "group=category",
        "by category, then confidence": "group=category&sort=confidence",
        "with a word of nearly all": "q=the",
        "with a common word": "q=limit",
        "with a word of one memory": f"q={_RARE}",
        "with a part of a word": f"q={_RARE[2:7]}",
        "with a word of none": "q=nothing-there",
        "with two words, by confidence": "q=limit+included&sort=confidence",
        "with a common word, by service": "q=limit&group=subject",
        "of one service": "subject=service-7",
        "inactive": "state=inactive",
        "deleted": "state=deleted",
        "of one session": "session=session-7",
    }
    return {
        **{f"Memories, {name}": f"/memories?{asked}" for name, asked in shown.items()},
        "One memory": f"/memories/{memory_id(1)}",
        "Overview": "/",
        "Sessions": "/sessions",
        "One session": "/sessions/session-7",
        "Events": "/events",
        "Cooldowns": "/cooldowns",
        "Inbox": "/inbox",
        "Search": f"/search?q={quote('What did we say about the limit?')}",
        "Stats": "/stats",
        "Files": "/files",
        "Settings": "/settings",
    }


def measured(app: App, token: str, space: str, *, rounds: int) -> Iterator[tuple[str, Measured]]:
    """Each page and what it costs; the second page of a long list behind its first.

    Raises: Unavailable, when a page can't be had.
    """
    for name, address in views().items():
        address = f"{address}{'&' if '?' in address else '?'}space={space}"
        body = asked(app, address, token)
        yield name, _measured(app, address, token, rounds, body)
        following = _following(body)
        if following and name in ("Memories, by recency", "Memories, by service", "Memories, by confidence"):
            body = asked(app, following, token)
            yield f"{name}, next page", _measured(app, following, token, rounds, body)


def _measured(app: App, address: str, token: str, rounds: int, body: bytes) -> Measured:
    patience = Patience(rounds, _SECONDS, least=1)
    costs = [cost_of(lambda: asked(app, address, token)) for _ in patience.rounds()]
    return Measured(address, middle(costs), len(body) / 1_000)


def asked(app: App, address: str, token: str) -> bytes:
    """What the application answers.

    Raises: Unavailable.
    """
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {token}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]  # a coroutine, as all applications give
    status = sent[0]["status"] if sent else 0
    if status != 200:
        raise Unavailable(f"{path} answered {status}")
    return b"".join(message.get("body", b"") for message in sent[1:])


def _following(body: bytes) -> str:
    """The address of the next page, if there is one."""
    _, found, rest = body.decode().partition('rel="next" href="')
    return rest.partition('"')[0].replace("&amp;", "&") if found else ""


def _own(number: int, corpus: Corpus, now: datetime) -> dict[str, Any]:
    """What tells a memory from the first one."""
    chance = Random(f"pages {number}")
    fact = corpus.fact(number)
    created = now - timedelta(minutes=chance.randrange(10, 500_000))
    state = chance.choice(_STATES)
    return {
        "id": memory_id(number),
        "content": f"{fact.content} {_RARE}" if number == 1 else fact.content,
        "category": fact.category,
        "subject": chance.choice((None, *(f"service-{one}" for one in range(_SERVICES)))),
        "confidence": 0.25 if state == "inactive" else chance.choice((0.5, 0.7, 0.7, 0.7, 0.8, 0.9)),
        "state": state,
        "waiting_for": "a person has to look first" if state == "waiting" else None,
        "origin": "assistant",
        "session_id": f"session-{chance.randrange(_SESSIONS)}",
        "created_at": created,
        "updated_at": created + timedelta(minutes=chance.randrange(10)),
        "accesses": chance.randrange(20),
    }


def _happenings(now: datetime) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Sessions with what was said and what they reported, as rows."""
    for number in range(_SESSIONS):
        session, began = f"session-{number}", now - timedelta(hours=number + 1)
        yield "sessions", {"id": session, "name": f"Run {number}", "client": "bench", "started_at": began}
        of_it = {"session_id": session}
        for at in range(_SAID):
            said = {"number": at, "role": ("user", "assistant")[at % 2], "content": f"Step {at} is done."}
            when = began + timedelta(seconds=at)
            yield "messages", {**of_it, **said, "id": f"{session}-{at}", "said_at": when}
        event = {"id": f"event-{number}", "level": "info", "service": f"service-{number}"}
        yield "events", {**of_it, **event, "content": "It runs again.", "created_at": began}
