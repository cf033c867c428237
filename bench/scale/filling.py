"""Fills databases on servers with spaces by COPY, below the API, with the rows that the API would leave.

The product writes one memory into one space; every other row is a copy of its rows in which the names, texts,
words, ranks, numbers and vectors are those of another memory. What differs is computed by the product's code.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from bench.speed.corpus import Corpus, GeneratedEmbedder
from bench.speed.filling import draft_of, memory_id
from holdfast.app import wiring
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.render import rank_of, size_of
from holdfast.engine.embedding import embed_missing
from holdfast.engine.remember import remember
from holdfast.engine.spaces import create_space
from holdfast.profiles import built_in
from holdfast.store.full_text import MEMORIES, mark
from holdfast.store.types import server_text

LARGE = "large"
_PATTERN = "pattern"  # the space whose rows the product wrote
_PROFILE = built_in("default")
#: Tables with one row a memory, in an order that satisfies the keys, and with one row a space.
_OF_MEMORIES = ("memories", "versions", "journal", "brief_ranks", "memory_words", "memory_vectors")
_OF_SPACES = ("heads", "usage", "brief_totals", "vector_models")
_GIVEN_BY_SERVER = ("doc",)  # a number of the server's own
_COLUMNS = (
    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
)

Row = Mapping[str, str]  # of a table, as the text that COPY reads
_Rows = tuple[str, Sequence[Row]]  # of the table of that name


@dataclass(frozen=True, slots=True)
class Shape:
    """How many spaces there are to be, of how many memories each, and how many one more has."""

    spaces: int
    memories: int
    large: int

    @property
    def names(self) -> list[str]:
        return [f"space-{number:06}" for number in range(self.spaces)]

    def stored(self, spaces: int) -> int:
        """All memories when there are so many spaces: the large one grows along, and is complete at last."""
        filled = spaces * self.memories
        return filled + (self.large if spaces == self.spaces else min(filled, self.large))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A memory of the corpus, with all that does not depend on its space."""

    memory: Memory
    checksum: str
    words: Sequence[str]
    rank: str
    size: int
    vector: str


def fill_in_steps(
    owners: Sequence[str], corpus: Corpus, shape: Shape, steps: Sequence[int], told: Callable[[], None]
) -> Iterator[int]:
    """Brings all databases to the same rows; says at each step how many spaces there are.

    The large space grows along; at the last step it has the rows that say how much is in it.
    """
    first, pattern = _written_by_product(owners[0], corpus, GeneratedEmbedder())
    with ExitStack() as connections:
        targets = [connections.enter_context(psycopg.connect(owner)) for owner in owners]
        yield from _filled(targets, first, pattern, corpus, shape, steps, told)


def _filled(
    targets: "Sequence[psycopg.Connection[Any]]",
    first: Memory,
    pattern: Mapping[str, Row],
    corpus: Corpus,
    shape: Shape,
    steps: Sequence[int],
    told: Callable[[], None],
) -> Iterator[int]:
    embedder, each, size = GeneratedEmbedder(), shape.memories, 0

    def write(*rows: _Rows) -> None:
        texts = [(table, ", ".join(pattern[table]), _as_text(pattern[table], some)) for table, some in rows]
        with ThreadPoolExecutor(len(targets)) as threads:
            list(threads.map(lambda target: _copy(target, texts), targets))

    write(("spaces", [{"name": name, "key": secrets.token_hex(32)} for name in [*shape.names, LARGE]]))
    for number in range(max(shape.spaces, -(-shape.large // each))):
        block = _prepared(first, corpus, embedder, range(number * each, (number + 1) * each))
        if number < shape.spaces:
            name = shape.names[number]
            write(*_of_memories(name, 0, block), *_of_space(name, each, _bytes(block)))
        some = block[: max(0, shape.large - number * each)]
        size += _bytes(some)
        write(*_of_memories(LARGE, number * each, some))
        told()
        if number + 1 in steps[:-1]:
            _settle(targets)
            yield number + 1
    write(*_of_space(LARGE, shape.large, size))
    _settle(targets)
    yield shape.spaces


def _as_text(pattern: Row, rows: Iterable[Row]) -> str:
    return "".join("\t".join({**pattern, **row}.values()) + "\n" for row in rows)


def _copy(target: "psycopg.Connection[Any]", texts: Sequence[tuple[str, str, str]]) -> None:
    """Adds rows to tables in one transaction."""
    for table, columns, text in texts:
        with target.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as lines:
            lines.write(text)
    target.commit()


def _settle(targets: "Sequence[psycopg.Connection[Any]]") -> None:
    """Lets the planners know what is there, as the servers do by themselves in time."""
    for target in targets:
        target.autocommit = True
        target.execute("VACUUM ANALYZE")
        target.autocommit = False


def _written_by_product(
    owner: str, corpus: Corpus, embedder: GeneratedEmbedder
) -> tuple[Memory, dict[str, Row]]:
    """The memory that all others are copies of, and its rows."""
    store = wiring.open_store(owner)
    try:
        create_space(_PATTERN, store=store, clock=wiring.utc_now)
        ctx = wiring.context_for(_PATTERN, store, embedder=embedder)
        remember(draft_of(corpus.fact(0)), ctx=replace(ctx, embedder=None))
        embed_missing(ctx, limit=1)
        with store.read(_PATTERN) as tx:
            [memory] = tx.memories.find(Filter(), limit=1)
    finally:
        store.close()
    with psycopg.connect(owner) as connection:
        return memory, {
            table: _row_of_pattern(connection, table) for table in ("spaces", *_OF_MEMORIES, *_OF_SPACES)
        }


def _row_of_pattern(connection: "psycopg.Connection[tuple[str]]", table: str) -> Row:
    columns = [name for (name,) in connection.execute(_COLUMNS, [table]) if name not in _GIVEN_BY_SERVER]
    where = f"{'name' if table == 'spaces' else 'space'} = '{_PATTERN}'"
    query = f"COPY (SELECT {', '.join(columns)} FROM {table} WHERE {where}) TO STDOUT"
    with connection.cursor() as cursor, cursor.copy(query) as lines:
        text = b"".join(bytes(line) for line in lines).decode()
    return dict(zip(columns, text.rstrip("\n").split("\t"), strict=True))


def _prepared(
    first: Memory, corpus: Corpus, embedder: GeneratedEmbedder, numbers: Sequence[int]
) -> list[Prepared]:
    """The memories with these numbers of the corpus."""
    facts = [corpus.fact(number) for number in numbers]
    vectors = embedder.documents([fact.content for fact in facts])
    found = []
    for number, fact, [vector] in zip(numbers, facts, vectors, strict=True):
        memory = replace(first, id=memory_id(number), content=fact.content, category=fact.category)
        found.append(
            Prepared(
                memory=memory,
                checksum=hashlib.sha256(fact.content.encode()).hexdigest(),
                words=sorted(set(MEMORIES.words(memory))),
                rank=rank_of(memory, _PROFILE),
                size=size_of(memory, _PROFILE),
                vector=server_text(vector),
            )
        )
    return found


def _of_memories(space: str, before: int, block: Sequence[Prepared]) -> Iterator[_Rows]:
    """The rows of memories whose numbers go on from `before`."""
    numbered = [
        (each, f"{number}", {"space": space, "memory_id": each.memory.id})
        for number, each in enumerate(block, before + 1)
    ]
    texts = [{"content": each.memory.content} for each in block]
    yield (
        "memories",
        [
            {"space": space, "id": each.memory.id, "category": each.memory.category, **text}
            for each, text in zip(block, texts, strict=True)
        ],
    )
    yield (
        "versions",
        [
            {**row, **text, "checksum": each.checksum}
            for (each, _, row), text in zip(numbered, texts, strict=True)
        ],
    )
    yield "journal", [{**row, "seq": number} for _, number, row in numbered]
    yield "brief_ranks", [{**row, "rank": each.rank, "size": f"{each.size}"} for each, _, row in numbered]
    yield "memory_words", [{**row, "words": _marked(space, each.words)} for each, _, row in numbered]
    yield (
        "memory_vectors",
        [{**row, "number": number, "vector": each.vector} for each, number, row in numbered],
    )


def _of_space(space: str, amount: int, size: int) -> Iterator[_Rows]:
    """The rows that say how much the space has."""
    counts = {
        "heads": {"seq": f"{amount}", "vectors": f"{amount}"},
        "usage": {"memories": f"{amount}", "bytes": f"{size}"},
        "brief_totals": {"amount": f"{amount}"},
        "vector_models": {"memories_to": f"{amount}"},
    }
    for table, values in counts.items():
        yield table, [{"space": space, **values}]


def _marked(space: str, words: Sequence[str]) -> str:
    return " ".join(f"'{one}'" for one in sorted({mark(space, word) for word in words}))


def _bytes(block: Sequence[Prepared]) -> int:
    return sum(len(each.memory.content.encode()) for each in block)
