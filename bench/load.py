"""Many callers at once against a running service, or several: what they waited, what failed, what was lost.

Speaks HTTP over plain sockets, so that little of what is measured is the measuring. Each caller has a session
of its own and goes from service to service with it; whatever was acknowledged in it has to be there
afterwards, in order and once, and its brief has to stay the same.
"""

import asyncio
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

#: What callers do, and how often out of ten times.
MIX = (("message", 5), ("recall", 2), ("remember", 1), ("brief", 1), ("list", 1))
Service = tuple[str, str]  # its address and a token
_TOPICS = "backup kettle invoice garden mirror signal ferry lantern ledger orchard".split()


@dataclass(slots=True)
class Load:
    """What came of it."""

    clients: int
    seconds: float = 0.0
    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # seconds, by kind
    errors: list[str] = field(default_factory=list)
    acknowledged: int = 0  # messages
    lost: int = 0
    displaced: int = 0  # sessions with a message twice, or in the wrong place
    briefs_changed: int = 0  # sessions whose brief was not always the same
    memory: list[int] = field(default_factory=list)  # bytes of the service, from time to time

    @property
    def requests(self) -> int:
        return sum(map(len, self.waits.values()))

    def wait(self, share: float, kind: str | None = None) -> float:
        """Seconds that this share of the requests stayed below."""
        every = self.waits[kind] if kind else [wait for waits in self.waits.values() for wait in waits]
        return sorted(every)[min(int(share * len(every)), len(every) - 1)] if every else 0.0


def put_under_load(
    services: Sequence[Service],
    *,
    clients: int = 64,
    seconds: float | None = None,
    each: int | None = None,
    space: str = "default",
) -> Load:
    """`clients` callers for so many seconds, or with so many requests each."""
    return asyncio.run(_run(Load(clients), services, seconds, each, space))


async def _run(
    load: Load, services: Sequence[Service], seconds: float | None, each: int | None, space: str
) -> Load:
    began = time.perf_counter()
    ends = began + seconds if seconds is not None else None

    def goes_on(done: int) -> bool:
        return (each is None or done < each) and (ends is None or time.perf_counter() < ends)

    watching = asyncio.create_task(_watch_memory(load, services[0]))
    callers = [_Caller(number, services, space, load) for number in range(load.clients)]
    await asyncio.gather(*(caller.live(goes_on) for caller in callers))
    load.seconds = time.perf_counter() - began
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    for caller in callers:
        await caller.check()
    return load


async def _watch_memory(load: Load, service: Service) -> None:
    wire = Wire(service)
    try:
        while True:
            status, body = await wire.ask("GET", "/metrics")
            for line in body.decode().splitlines():
                if status == 200 and line.startswith("process_resident_memory_bytes "):
                    load.memory.append(int(float(line.split()[1])))
            await asyncio.sleep(2)
    finally:
        await wire.close()


class _Caller:
    """Somebody with a conversation of their own."""

    def __init__(self, number: int, services: Sequence[Service], space: str, load: Load) -> None:
        self._wires = [Wire(service) for service in services]
        self._session = f"load-{number}"
        self._query = f"space={quote(space)}"
        self._load = load
        self._chance = random.Random(number)
        self._acknowledged: list[str] = []
        self._briefs: set[str] = set()

    async def live(self, goes_on: Callable[[int], bool]) -> None:
        kinds = [kind for kind, often in MIX for _ in range(often)]
        done = 0
        while goes_on(done):
            kind = self._chance.choice(kinds)
            method, path, body = self._request(kind, done)
            began = time.perf_counter()
            try:
                status, answer = await self._wires[done % len(self._wires)].ask(method, path, body)
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                self._load.errors.append(f"{kind}: {type(error).__name__}")
                return
            self._load.waits[kind].append(time.perf_counter() - began)
            if status >= 400:
                self._load.errors.append(f"{kind}: {status} {answer[:120]!r}")
            elif kind == "message":
                self._acknowledged.append(f"{self._session}-{done}")
            elif kind == "brief":
                self._briefs.add(json.loads(answer)["sha256"])
            done += 1

    def _request(self, kind: str, number: int) -> tuple[str, str, Any]:
        topic = self._chance.choice(_TOPICS)
        match kind:
            case "message":
                message_id = f"{self._session}-{number}"
                text = f"The {topic} of caller {self._session} is at step {number}"
                said = {"messages": [{"id": message_id, "role": "user", "content": text}]}
                return "POST", f"/api/sessions/{self._session}/messages?{self._query}", said
            case "recall":
                return "GET", f"/api/recall?{self._query}&query={quote(f'where is the {topic}')}", None
            case "remember":
                text = f"The {topic} numbered {number} belongs to {self._session}"
                return "POST", f"/api/memory/?{self._query}", {"content": text, "subject": self._session}
            case "brief":
                return "GET", f"/api/sessions/{self._session}/brief?{self._query}", None
            case _:
                return "GET", f"/api/memory/?{self._query}&limit=20", None

    async def check(self) -> None:
        """Whether all that was acknowledged is there, once and in order."""
        for wire in self._wires:
            await wire.close()  # whoever is idle for a while is hung up on: begin anew
        found: list[str] = []
        cursor = ""
        while self._acknowledged:
            path = f"/api/sessions/{self._session}/messages?{self._query}&limit=1000{cursor}"
            status, body = await self._wires[0].ask("GET", path)
            if status != 200:
                self._load.errors.append(f"check: {status}")
                break
            page = json.loads(body)
            found += [message["id"] for message in page["messages"]]
            if not page.get("next"):
                break
            cursor = f"&cursor={quote(page['next'])}"
        await self._wires[0].close()
        self._load.acknowledged += len(self._acknowledged)
        self._load.lost += len(set(self._acknowledged) - set(found))
        if [one for one in found if one in set(self._acknowledged)] != self._acknowledged:
            self._load.displaced += 1
        self._load.briefs_changed += len(self._briefs) > 1


class Wire:
    """One connection that is kept, for one request at a time."""

    def __init__(self, service: Service) -> None:
        url, token = service
        split = urlsplit(url)
        self._host, self._port = split.hostname or "", split.port or 80
        self._head = f"Host: {split.netloc}\r\nAuthorization: Bearer {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Status and body.

        Raises: OSError, asyncio.IncompleteReadError, ValueError.
        """
        if self._streams is None or self._streams[0].at_eof():
            await self.close()
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        kind = "" if body is None else "Content-Type: application/json\r\n"
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(content)}\r\n\r\n"
        writer.write(head.encode() + content)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        if headers.get("transfer-encoding") == "chunked":
            return int(lines[0].split()[1]), await _chunks(reader)
        answer = await reader.readexactly(int(headers.get("content-length", 0)))
        return int(lines[0].split()[1]), answer

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            with suppress(OSError):
                await self._streams[1].wait_closed()
            self._streams = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    whole = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        whole += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return whole


def growth(memory: Sequence[int]) -> float:
    """How much the last third of the readings lies above the second, as a share; the first one warms up."""
    third = len(memory) // 3
    if third == 0:
        return 0.0
    middle, last = memory[third : 2 * third], memory[-third:]
    return (sum(last) / len(last)) / (sum(middle) / len(middle)) - 1
