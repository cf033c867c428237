"""Serializes engine values to JSON and back: a dataclass is an object with its declared fields.

Differences from a declaration are in `SHAPES`, by class name, so that values need not be imported for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints, overload

Class = TypeVar("Class", bound=type)
Value = TypeVar("Value")
Writer = Callable[[Any], Any]
Reader = Callable[[Any, Mapping[str, Any]], Any]

_AS_IS = frozenset({str, int, float, bool, NoneType})


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonShape:
    """How the JSON of a class differs from its declaration."""

    constants: Mapping[str, Any] = field(default_factory=dict)  # come first, and identify a union's member
    left_out: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    inlined: tuple[str, ...] = ()  # values that are replaced by their own fields
    computed: Mapping[str, str] = field(default_factory=dict)  # a property, and the name that it follows
    last: tuple[str, ...] = ()  # names in JSON that come behind all others
    schema: str | None = None  # the name in the OpenAPI document, if it is not that of the class
    open: bool = False  # whether that document allows further fields
    optional: bool = False  # whether fields with a default may be missing, and others may be there


_PLAIN = JsonShape()

#: By the name of the class; those that are not here are as declared.
SHAPES: dict[str, JsonShape] = {
    "Memory": JsonShape(
        left_out=("space", "decayed_weeks"), inlined=("source",), computed={"redacted": "accesses"}
    ),
    "Source": JsonShape(left_out=("taken_from",)),
    "Version": JsonShape(left_out=("memory",), renamed={"number": "version"}, inlined=("source",)),
    "Repetition": JsonShape(left_out=("memory",), inlined=("source",)),
    "Link": JsonShape(renamed={"from_id": "from", "to_id": "to"}),
    "Session": JsonShape(left_out=("space",)),
    "Message": JsonShape(left_out=("off_record",), computed={"redacted": "said_at"}),
    "Entry": JsonShape(left_out=("memory",)),
    # What a client sends.
    "Draft": JsonShape(left_out=("source", "doubtful")),
    "Filter": JsonShape(left_out=("proposals",)),
    "NewMessage": JsonShape(renamed={"message_id": "id"}),
    # Outcomes name themselves, and `memory` is what was stored, or null.
    "Added": JsonShape(constants={"outcome": "added"}),
    "Reinforced": JsonShape(constants={"outcome": "reinforced"}),
    "Merged": JsonShape(constants={"outcome": "merged"}),
    "Contradicting": JsonShape(constants={"outcome": "contradicting"}),
    "UpdateSuggested": JsonShape(constants={"outcome": "update_suggested", "memory": None}),
    "Waiting": JsonShape(constants={"outcome": "waiting"}),
    "Refused": JsonShape(constants={"outcome": "refused", "memory": None}),
    "ImportResult": JsonShape(inlined=("outcome",), schema="ImportedDraft"),
    "Captured": JsonShape(left_out=("spoken", "without")),
    "Forgotten": JsonShape(inlined=("memory",)),
    "Item": JsonShape(computed={"reason": "memory"}, schema="Waiting"),
    "MemoryHit": JsonShape(constants={"kind": "memory"}, schema="Hit"),
    "MessageHit": JsonShape(constants={"kind": "message"}, schema="Hit"),
    "Context": JsonShape(computed={"sha256": "text"}),
    "Attempt": JsonShape(left_out=("action", "service")),
    "CooldownStatus": JsonShape(inlined=("cooldown",), computed={"allowed": "cooldown"}),
    "Cooldown": JsonShape(left_out=("says",), renamed={"name": "action"}),
    "Usage": JsonShape(
        renamed={"input": "input_tokens", "output": "output_tokens", "cached": "cached_tokens"},
        last=("output_tokens",),
    ),
    "Spent": JsonShape(
        left_out=("micro_dollars", "unpriced"),
        renamed={"unpriced_calls": "calls_without_price"},
        inlined=("usage",),
        computed={"dollars": "micro_dollars"},
    ),
    "SpentBy": JsonShape(inlined=("spent",)),
    "SpendReport": JsonShape(
        left_out=("groups", "caps"),
        renamed={"by_name": "groups"},
        computed={"by_name": "groups", "daily_cap": "caps", "session_cap": "daily_cap"},
        schema="Spend",
    ),
    "Tended": JsonShape(
        left_out=("decayed", "archived"),
        renamed={"faded": "decayed", "reasons": "archived"},
        computed={"faded": "decayed", "deactivated": "faded", "reasons": "archived"},
    ),
    "Preview": JsonShape(
        left_out=("decayed",),
        renamed={"faded": "decayed"},
        computed={"faded": "decayed", "deactivated": "faded"},
        schema="TendPreview",
    ),
    "Due": JsonShape(schema="Archived"),
    "Proposal": JsonShape(left_out=("wording",), computed={"content": "wording"}, schema="Proposed"),
    "Audit": JsonShape(computed={"clean": "memories"}),
    "Finding": JsonShape(computed={"count": "kind"}),
    "EmbeddingProgress": JsonShape(computed={"complete": "total"}),
    "Health": JsonShape(left_out=("beyond_row_security",)),
    "Space": JsonShape(left_out=("profile_text", "key"), inlined=("quota",)),
    "Overview": JsonShape(inlined=("space",), last=("created_at",), schema="Space"),
    "Job": JsonShape(left_out=("payload", "leased_until")),  # it may work on anything
    "Token": JsonShape(left_out=("hash", "old_hash"), inlined=("quota",)),
}


def shaped(**differences: Any) -> Callable[[Class], Class]:
    """Gives a class that is declared elsewhere its shape."""

    def add(kind: Class) -> Class:
        SHAPES[kind.__name__] = JsonShape(**differences)
        return kind

    return add


@dataclass(frozen=True, slots=True)
class Part:
    """One field or property of a class, and its name in JSON."""

    attribute: str
    name: str
    inlined: bool
    computed: bool


def shape_of(kind: type) -> JsonShape:
    return SHAPES.get(kind.__name__, _PLAIN)


@cache
def parts_of(kind: type) -> tuple[Part, ...]:
    """The parts of a class's JSON, in order."""
    shape = shape_of(kind)
    order = [each.name for each in fields(kind)]
    for name, before in shape.computed.items():
        order.insert(order.index(before) + 1, name)
    return tuple(
        Part(name, shape.renamed.get(name, name), name in shape.inlined, name in shape.computed)
        for name in order
        if name not in shape.left_out
    )


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The types of the fields and properties of a class."""
    properties = {part.attribute: getattr(kind, part.attribute) for part in parts_of(kind) if part.computed}
    computed = {name: get_type_hints(each.fget)["return"] for name, each in properties.items()}
    return {**get_type_hints(kind), **computed}


def is_value(kind: Any) -> TypeGuard[type]:
    """Whether it is a class of values."""
    return is_dataclass(kind) and isinstance(kind, type)


def members(hint: Any) -> tuple[Any, ...] | None:
    """The members of a union except None; empty for other types."""
    if get_origin(hint) not in (Union, UnionType):
        return None
    return tuple(each for each in get_args(hint) if each is not NoneType)


# ---------------------------------------------------------------------------------------------------- writing


def to_json(value: Any) -> Any:
    """A value in JSON's terms; what JSON does not know either comes back as it is."""
    kind: Any = type(value)
    return _writer(kind)(value)


@cache
def _writer(kind: Any) -> Writer:
    if issubclass(kind, datetime):
        return _utc_text
    if is_value(kind):
        return _object_writer(kind)
    if issubclass(kind, tuple | list):
        return lambda value: [to_json(each) for each in value]
    if issubclass(kind, Mapping):
        return lambda value: {name: to_json(each) for name, each in value.items()}
    return lambda value: value


def _utc_text(value: datetime) -> str:
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _object_writer(kind: type) -> Writer:
    shape = shape_of(kind)
    parts = [(part.attribute, part.name, part.inlined) for part in parts_of(kind)]

    def write(value: Any) -> dict[str, Any]:
        data = dict(shape.constants)
        for attribute, name, inlined in parts:
            each = getattr(value, attribute)
            if inlined:
                data |= to_json(each)
            else:
                data[name] = each if type(each) in _AS_IS else to_json(each)
        for name in shape.last:
            data[name] = data.pop(name)
        return data

    return write


# ---------------------------------------------------------------------------------------------------- reading


@overload
def from_json(kind: type[Value], data: Any, **given: Any) -> Value: ...


@overload
def from_json(kind: UnionType, data: Any, **given: Any) -> Any: ...


def from_json(kind: Any, data: Any, **given: Any) -> Any:
    """The value that `to_json` wrote; `given` are fields that it leaves out, here and further inside.

    What the JSON does not have is left at its default.
    """
    return _reader(kind)(data, given)


@cache
def _reader(hint: Any) -> Reader:
    if hint is datetime:
        return lambda data, given: datetime.fromisoformat(data)
    if is_value(hint):
        return _object_reader(hint)
    if (several := members(hint)) is not None:
        return _union_reader(several)
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        if inner[-1] is Ellipsis:
            item = _reader(inner[0])
            return lambda data, given: tuple(item(each, given) for each in data)
        items = tuple(map(_reader, inner))
        return lambda data, given: tuple(read(each, given) for read, each in zip(items, data, strict=True))
    return lambda data, given: data


def _object_reader(kind: Any) -> Reader:
    hints, left_out = hints_of(kind), shape_of(kind).left_out
    readers = [(part, _reader(hints[part.attribute])) for part in parts_of(kind) if not part.computed]

    def read(data: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        values = {name: given[name] for name in left_out if name in given}
        for part, reader in readers:
            if part.inlined:
                values[part.attribute] = reader(data, given)
            elif part.name in data:
                values[part.attribute] = reader(data[part.name], given)
        return kind(**values)

    return read


def _union_reader(several: tuple[Any, ...]) -> Reader:
    if len(several) == 1:
        only = _reader(several[0])
        return lambda data, given: None if data is None else only(data, given)
    known = [(shape_of(each).constants, _reader(each)) for each in several if is_value(each)]
    if not known:
        return lambda data, given: data

    def read(data: Any, given: Mapping[str, Any]) -> Any:
        for constants, reader in known:
            if constants.items() <= data.items():
                return reader(data, given)
        raise ValueError(f"none of {', '.join(each.__name__ for each in several)}")

    return read
