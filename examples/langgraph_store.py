"""LangGraph's long-term store on Holdfast: other agents can read what a graph stores, with its history.

    pip install holdfast-memory langgraph
    holdfast space create graph --profile files
    python examples/langgraph_store.py

`HoldfastStore` is a complete `BaseStore`: pass it as `compile(store=...)`. It needs a space with
the profile `files`, which has one memory per name, in this process (`Memories`) or on a service (`Client`).
A `put` creates a new version of the memory, a `delete` can be undone with `holdfast restore`. Unlike in plain
key-value stores, secrets are redacted before a text is stored, and a search returns only what is relevant,
which may be nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict
from urllib.parse import quote, unquote

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from holdfast import Client, Filter, Memories, Memory, Refused, Waiting

Namespace = tuple[str, ...]

_CATEGORY = "reference"
_MARK = "langgraph"  # on everything that came through here
_MOST_FOUND = 1_000
_MOST_TAG = 64  # characters
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class HoldfastStore(BaseStore):
    """Items as memories: the namespace and the key are the subject, the value is the text."""

    def __init__(self, memories: Memories | Client) -> None:
        self._memories = memories

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self._known(op.namespace, op.key)
                return None if found is None else Item(**_fields(found))
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise TypeError(f"{type(op).__name__} is no operation of a store")

    def _known(self, namespace: Namespace, key: str) -> Memory | None:
        found = self._memories.find(Filter(subject=_address(namespace, key), tags=(_MARK,))).memories
        return found[0] if found else None

    def _put(self, op: PutOp) -> None:
        if op.value is None:
            known = self._known(op.namespace, op.key)
            if known is not None:
                self._memories.forget(known.id)
            return
        text, field = _text(op.value)
        tags = [_MARK, *(_within(op.namespace[:depth]) for depth in range(1, len(op.namespace) + 1))]
        outcome = self._memories.remember(
            text,
            category=_CATEGORY,
            subject=_address(op.namespace, op.key),
            tags=[*tags, f"field:{field}"] if field else tags,
            anyway=True,  # if a program stores again what it deleted, that is intended
        )
        if isinstance(outcome, Refused | Waiting):  # the token lacks the scope for it
            raise ValueError(f"{op.key!r} was not stored: {outcome.reason}")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = [_within(op.namespace_prefix)] if op.namespace_prefix else []
        where = Filter(tags=(_MARK, *prefix))
        if op.query:
            most = _MOST_FOUND if op.filter else op.offset + op.limit
            hits = self._memories.recall(op.query, where=where, limit=most, messages=False).memories
            found = [SearchItem(**_fields(hit.memory), score=hit.score) for hit in hits]
        else:
            listed = self._memories.find(where, order="created").memories
            found = [SearchItem(**_fields(memory)) for memory in listed]
        admitted = [item for item in found if _admits(op.filter or {}, item.value)]
        return admitted[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        listed = self._memories.find(Filter(tags=(_MARK,))).memories
        known = {_place(memory)[0] for memory in listed}
        matching = {name for name in known if all(_matches(each, name) for each in op.match_conditions or ())}
        return sorted({name[: op.max_depth] for name in matching})[op.offset : op.offset + op.limit]


# ----------------------------------------------------------------------------------- an item and its memory


def _address(namespace: Namespace, key: str) -> str:
    """`("users", "ada")` and `tone` as `users/ada/tone`, with any characters in the parts."""
    return "/".join(quote(part, safe=" @:+") for part in (*namespace, key))


def _place(memory: Memory) -> tuple[Namespace, str]:
    *namespace, key = map(unquote, (memory.subject or "").split("/"))
    return tuple(namespace), key


def _within(namespace: Namespace) -> str:
    """The tag of everything in a namespace or below it."""
    tag = f"in:{'/'.join(quote(part, safe=' @:+') for part in namespace)}"
    return tag if len(tag) <= _MOST_TAG else f"in:{hashlib.sha256(tag.encode()).hexdigest()[:32]}"


def _text(value: Mapping[str, Any]) -> tuple[str, str | None]:
    """A single text as it is, so that people and other agents can read it; anything else as JSON."""
    if len(value) == 1:
        [(field, text)] = value.items()
        if isinstance(text, str) and text and text == text.strip() and len(field) < 50:
            return text, field
    return json.dumps(value, ensure_ascii=False), None


def _fields(memory: Memory) -> dict[str, Any]:
    namespace, key = _place(memory)
    field = next((tag.removeprefix("field:") for tag in memory.tags if tag.startswith("field:")), None)
    return {
        "value": json.loads(memory.content) if field is None else {field: memory.content},
        "key": key,
        "namespace": namespace,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def _admits(wanted: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    return all(name in value and _fits(value[name], what) for name, what in wanted.items())


def _fits(has: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and wanted and all(name in _OPERATORS for name in wanted):
        return all(_OPERATORS[name](has, what) for name, what in wanted.items())
    if isinstance(wanted, dict):
        return isinstance(has, dict) and _admits(wanted, has)
    return bool(has == wanted)


def _matches(condition: MatchCondition, name: Namespace) -> bool:
    pattern = tuple(condition.path)
    if len(name) < len(pattern):
        return False
    part = name[: len(pattern)] if condition.match_type == "prefix" else name[len(name) - len(pattern) :]
    return all(wanted in ("*", has) for has, wanted in zip(part, pattern, strict=True))


# --------------------------------------------------------------------------------------- a graph that uses it


class State(TypedDict):
    user: str
    said: str
    answer: str


def answer(state: State, *, store: BaseStore) -> dict[str, str]:
    """Stores what it is asked to, and answers questions from it."""
    namespace = ("users", state["user"])
    if state["said"].startswith("Remember: "):
        text = state["said"].removeprefix("Remember: ")
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        store.put(namespace, key, {"text": text})
        return {"answer": "I'll remember that."}
    found = store.search(namespace, query=state["said"], limit=1)
    return {"answer": found[0].value["text"] if found else "I don't know."}


def graph(store: BaseStore) -> Any:
    made = StateGraph(State)
    made.add_node("answer", answer)
    made.add_edge(START, "answer")
    made.add_edge("answer", END)
    return made.compile(store=store)


def main() -> None:
    with Memories.open(space="graph") as memories:
        agent = graph(HoldfastStore(memories))
        for user, said in [
            ("ada", "Remember: Releases go out on Tuesdays"),
            ("ada", "On which day do releases go out?"),
            ("bob", "On which day do releases go out?"),
        ]:
            told = agent.invoke({"user": user, "said": said, "answer": ""})
            print(f"{user}: {said}\n  {told['answer']}")


if __name__ == "__main__":
    main()
