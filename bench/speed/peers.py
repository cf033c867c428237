"""The same work done by what a user would pick instead and by the bare floor: same texts, same vectors.

Each is used as its own documentation says, embedded in the process and kept on disk. What they send home
about their users is switched off.
"""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bench.speed.corpus import DIMENSIONS, Corpus, Fact, GeneratedEmbedder
from bench.speed.cost import Cost, Patience, cost_of, middle
from bench.speed.floor import Floor

if TYPE_CHECKING:
    from bench.speed.measuring import Figures

_BLOCK = 1_000
_USER = "bench"

#: The package of each.
PACKAGES = {
    "floor": "numpy",
    "chromadb": "chromadb",
    "mem0": "mem0ai",
    "langgraph": "langgraph-checkpoint",
}
_SILENT = {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False"}


class Peer(Protocol):
    """Another memory, or what one is built on."""

    def fill(self, facts: Sequence[Fact]) -> None: ...
    def add(self, fact: Fact) -> None: ...
    def search(self, question: str, hits: int, category: str | None) -> int: ...


def installed(name: str) -> str | None:
    """The version that is installed; none when it is not."""
    try:
        return version(PACKAGES[name])
    except PackageNotFoundError:
        return None


def measure(
    name: str, corpus: Corpus, size: int, folder: Path, told: Callable[[int], None] = lambda done: None
) -> "Figures":
    """Fills the store of a peer, searches it and adds to it; embedding is left out, as it is for ours."""
    from bench.speed.measuring import HITS, ROUNDS, SECONDS, as_figures, resident

    os.environ.update(_SILENT, MEM0_DIR=str(folder / "mem0"))
    embedder = GeneratedEmbedder()
    peer = _OPENED[name](folder, embedder)
    for start in range(0, size, _BLOCK):
        peer.fill(list(corpus.facts(start, min(size, start + _BLOCK))))
        told(min(size, start + _BLOCK))
    fresh = count(2 * size)

    def searched(number: int, category: str | None = None) -> Cost:
        question = corpus.question(number * 7_919 % size)
        return cost_of(lambda: peer.search(question, HITS, category), embedder.meter)

    def added() -> Cost:
        fact = corpus.fact(next(fresh))
        return cost_of(lambda: peer.add(fact), embedder.meter)

    searched(0)
    found = {
        "recall": middle([searched(number) for number in Patience(ROUNDS, SECONDS).rounds()]),
        "recall.filtered": middle(
            [searched(number, corpus.categories[0]) for number in Patience(ROUNDS, SECONDS).rounds()]
        ),
    }
    held = resident()
    found["remember.with_vector"] = middle([added() for _ in Patience(ROUNDS, SECONDS).rounds()])
    figures: Figures = {"memory_mb": held}
    for verb, cost in found.items():
        figures |= as_figures(verb, cost)
    return figures


class Chroma:
    """A collection of chromadb, as `PersistentClient` makes it."""

    def __init__(self, folder: Path, embedder: GeneratedEmbedder) -> None:
        chromadb: Any = import_module("chromadb")
        client = chromadb.PersistentClient(str(folder / "chroma"))
        self._collection: Any = client.create_collection(
            "bench", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )
        self._embedder = embedder
        self._numbers = count()

    def fill(self, facts: Sequence[Fact]) -> None:
        texts = [fact.content for fact in facts]
        self._collection.add(
            ids=[f"{next(self._numbers)}" for _ in facts],
            documents=texts,
            embeddings=self._embedder.matrix(texts),
            metadatas=[{"category": fact.category} for fact in facts],
        )

    def add(self, fact: Fact) -> None:
        with self._embedder.meter.running():
            [vector] = self._embedder.matrix([fact.content])
        self._collection.add(
            ids=[f"{next(self._numbers)}"],
            documents=[fact.content],
            embeddings=[vector],
            metadatas=[{"category": fact.category}],
        )

    def search(self, question: str, hits: int, category: str | None) -> int:
        with self._embedder.meter.running():
            [vector] = self._embedder.matrix([question])
        found = self._collection.query(
            query_embeddings=[vector], n_results=hits, where={"category": category} if category else None
        )
        return len(found["ids"][0])


class Mem0:
    """mem0 with its default store on disk and without inference: texts are kept as they are."""

    def __init__(self, folder: Path, embedder: GeneratedEmbedder) -> None:
        mem0: Any = import_module("mem0")
        store = {"collection_name": "bench", "embedding_model_dims": DIMENSIONS, "on_disk": True}
        self._memory = mem0.Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": {**store, "path": str(folder / "qdrant")}},
                # Neither is ever called: the vectors are ours, and nothing is inferred.
                "embedder": {"provider": "openai", "config": {"api_key": "none"}},
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Vectors(embedder)
        self._embedder = embedder

    def fill(self, facts: Sequence[Fact]) -> None:
        """Through its store: `add` takes one at a time, and would take hours."""
        import uuid

        texts = [fact.content for fact in facts]
        self._memory.vector_store.insert(
            vectors=self._embedder.matrix(texts).tolist(),
            ids=[str(uuid.uuid4()) for _ in facts],
            payloads=[
                {"data": fact.content, "user_id": _USER, "role": "user", "category": fact.category}
                for fact in facts
            ],
        )

    def add(self, fact: Fact) -> None:
        self._memory.add(fact.content, user_id=_USER, metadata={"category": fact.category}, infer=False)

    def search(self, question: str, hits: int, category: str | None) -> int:
        where = {"user_id": _USER} | ({"category": category} if category else {})
        return len(self._memory.search(question, top_k=hits, filters=where)["results"])


class _Vectors:
    """Our vectors as lists of numbers, as mem0 and langgraph ask for them."""

    def __init__(self, embedder: GeneratedEmbedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        with self._embedder.meter.running():
            vector: list[float] = self._embedder.matrix([text])[0].tolist()
        return vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


class LangGraph:
    """The store of langgraph that needs no server and no extension of SQLite: it keeps nothing on disk."""

    def __init__(self, folder: Path, embedder: GeneratedEmbedder) -> None:
        self._put: Any = import_module("langgraph.store.base").PutOp
        index = {"dims": DIMENSIONS, "embed": _Vectors(embedder).embed_batch, "fields": ["text"]}
        self._store: Any = import_module("langgraph.store.memory").InMemoryStore(index=index)
        self._numbers = count()

    def fill(self, facts: Sequence[Fact]) -> None:
        self._store.batch([self._put((_USER,), f"{next(self._numbers)}", _value(fact)) for fact in facts])

    def add(self, fact: Fact) -> None:
        self._store.put((_USER,), f"{next(self._numbers)}", _value(fact))

    def search(self, question: str, hits: int, category: str | None) -> int:
        where = {"category": category} if category else None
        return len(self._store.search((_USER,), query=question, filter=where, limit=hits))


def _value(fact: Fact) -> dict[str, str]:
    return {"text": fact.content, "category": fact.category}


_OPENED: dict[str, Callable[[Path, GeneratedEmbedder], Peer]] = {
    "floor": Floor,
    "chromadb": Chroma,
    "mem0": Mem0,
    "langgraph": LangGraph,
}
