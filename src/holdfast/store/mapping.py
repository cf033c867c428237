"""Values as rows and rows as values: one mechanism, which reads the declarations of class and table.

A table says in `schema` which class it holds. A column stands for the field of its name, or of its name
without `_id`; one that the class does not have is looked for in the classes that it holds as a field (a
memory's `source` is four columns), and a name that differs altogether is given with the column. What has no
field is not part of the value.

The functions are made once for each class, as text, like those of dataclasses: a recall reads hundreds of
rows, and to look at the declarations for each costs more than twice as much.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import Boolean, Column, Table

from holdfast.store.schema import metadata
from holdfast.store.types import DamagedValue, JsonColumn, UtcTime, from_json, from_text

Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])

_KNOWN_PARTS = 1_000  # most memories of a space come from few sources


def _once(function: Function) -> Function:
    """The same function, called once for each class."""
    return cache(function)  # type: ignore[return-value]  # for mypy a class is not hashable


def value_of(kind: type[Value], row: Sequence[Any]) -> Value:
    """The value of a row that begins with the columns of its table, in their order.

    Raises: DamagedValue, for a text that is none; SQLite hands out what it finds.
    """
    value: Value = _reader(kind, stored=False)(row)
    return value


def values_of(kind: type[Value], rows: Iterable[Sequence[Any]], *, stored: bool = False) -> list[Value]:
    """The same for many; `stored` are rows as SQLite's driver gives them."""
    return list(map(_reader(kind, stored=stored), rows))


def row_of(value: Any, space: str | None = None) -> dict[str, Any]:
    """The columns that `value` has in its table, in a space."""
    return _writer(type(value))(value, space)


def table_of(kind: type[Any]) -> Table:
    """The table that holds values of a class."""
    return _TABLES[kind.__name__]


_TABLES: Mapping[str, Table] = {
    table.info["holds"]: table for table in metadata.sorted_tables if "holds" in table.info
}


@dataclass(frozen=True, slots=True)
class _Place:
    """One column of a value: under which field, perhaps of a part of the value, and what the field holds."""

    column: Column[Any]
    at: int  # of the column in its table
    path: tuple[str, ...]
    hint: Any

    @property
    def optional(self) -> bool:
        return NoneType in get_args(self.hint)

    def holds(self, *kinds: Any) -> bool:
        """Whether the field holds one of these, if it holds anything."""
        return any((get_origin(one) or one) in kinds for one in (self.hint, *_options(self.hint)))


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if NoneType in get_args(hint) else ()


@_once
def _places(kind: type[Any]) -> tuple[_Place, ...]:
    """The columns that stand for a field, in the order of the table."""
    return tuple(_found(kind))


def _found(kind: type[Any]) -> Iterator[_Place]:
    hints = _field_hints(kind)
    parts = {name: _field_hints(hint) for name, hint in hints.items() if is_dataclass(hint)}
    known: dict[tuple[str, ...], Any] = {(name,): hint for name, hint in hints.items() if name not in parts}
    known |= {(part, name): hint for part, inner in parts.items() for name, hint in inner.items()}
    for at, column in enumerate(table_of(kind).columns):
        names = [column.name, column.name.removesuffix("_id")]
        paths = [(name,) for name in names] + [(part, name) for part in parts for name in names]
        if "field" in column.info:
            paths = [tuple(column.info["field"].split("."))]
        path = next((path for path in paths if path in known), None)
        if path is not None:
            yield _Place(column, at, path, known[path])


def _field_hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


# -------------------------------------------------------------------------------------------- rows as values


@_once
def _reader(kind: type[Any], *, stored: bool) -> Callable[[Sequence[Any]], Any]:
    places = _places(kind)
    names = [f"c{at}" for at in range(len(table_of(kind).columns))]
    texts = [names[one.at] for one in places if one.holds(str) and not one.column.primary_key]
    given, scope = [], {"kind": kind, "Damaged": DamagedValue, "time": from_text, "json": from_json}
    for one in places:
        if len(one.path) == 1:
            given.append(f"{one.path[0]}={_read(one, names[one.at], stored)}")
    for part in dict.fromkeys(one.path[0] for one in places if len(one.path) > 1):
        inner = [one for one in places if one.path[0] == part]
        scope[f"make_{part}"] = _part(_field_hints(kind)[part], tuple(one.path[1] for one in inner))
        given.append(f"{part}=make_{part}({', '.join(_read(one, names[one.at], stored) for one in inner)})")
    damaged = " or ".join(f"type({name}) is bytes" for name in texts) or "False"
    return _compiled(
        "read(row)",
        f"    {', '.join(names)}, *_ = row",
        f"    if {damaged}: raise Damaged",
        f"    return kind({', '.join(given)})",
        scope=scope,
    )


def _read(place: _Place, name: str, stored: bool) -> str:
    read = name
    if stored and isinstance(place.column.type, UtcTime):
        read = f"time({read})"
    if stored and isinstance(place.column.type, JsonColumn):
        read = f"json({read})"
    if stored and isinstance(place.column.type, Boolean):
        read = f"bool({read})"
    if place.holds(tuple):
        read = f"tuple({read})" if not place.optional else f"None if {name} is None else tuple({read})"
    return read


def _part(kind: type[Any], names: Sequence[str]) -> Callable[..., Any]:
    made = _compiled(
        f"make({', '.join(names)})",
        f"    return kind({', '.join(f'{name}={name}' for name in names)})",
        scope={"kind": kind},
    )
    return lru_cache(maxsize=_KNOWN_PARTS)(made)


# -------------------------------------------------------------------------------------------- values as rows


@_once
def _writer(kind: type[Any]) -> Callable[[Any, str | None], dict[str, Any]]:
    columns = {one.column.name: _written(one) for one in _places(kind)}
    if "space" in table_of(kind).columns:
        columns = {"space": "space"} | columns | {"space": "space"}
    return _compiled(
        "write(value, space)",
        f"    return {{{', '.join(f'{name!r}: {source}' for name, source in columns.items())}}}",
        scope={},
    )


def _written(place: _Place) -> str:
    source = f"value.{'.'.join(place.path)}"
    if place.holds(Mapping):  # JSON knows only plain ones
        return f"None if {source} is None else dict({source})" if place.optional else f"dict({source})"
    return source


def _compiled(name: str, *body: str, scope: dict[str, Any]) -> Callable[..., Any]:
    text = "\n".join([f"def {name}:", *body])
    exec(text, scope)  # made of declared names alone
    function: Callable[..., Any] = scope[name.partition("(")[0]]
    return function
