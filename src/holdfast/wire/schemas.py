"""The JSON of engine values as pydantic models, made from the same declarations, for OpenAPI.

Only the service imports this. `values` serializes; a test compares the two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from types import GenericAlias, NoneType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, create_model

from holdfast.wire.values import hints_of, is_value, members, parts_of, shape_of

#: By name: a type, and its default or `...`.
_Fields = dict[str, tuple[Any, Any]]

_LITERAL: Any = Literal
_UNION: Any = Union


@cache
def schema_of(kind: Any) -> type[BaseModel]:
    """The model of a class, or of a union of classes, whose shapes have one name then."""
    several = members(kind) or (kind,)
    shape = shape_of(several[0])
    says = " ".join(filter(None, map(_says, several)))
    own: dict[str, Any] = _fields(kind)
    return create_model(
        shape.schema or several[0].__name__,
        __config__=ConfigDict(extra="allow" if shape.open else "ignore" if shape.optional else "forbid"),
        __doc__=says or None,
        **own,
    )


def _says(kind: type) -> str | None:
    """The docstring, unless it is the one that dataclasses write."""
    text = kind.__doc__ or ""
    return None if text.startswith(f"{kind.__name__}(") else " ".join(text.split())


def _fields(kind: Any) -> _Fields:
    """The fields of an object; of a union all that its members have, optional where some lack them."""
    if (several := members(kind)) is not None:
        found: dict[str, list[Any]] = {}
        for one in several:
            for name, (hint, _) in _fields(one).items():
                found.setdefault(name, []).append(hint)
        return {
            name: (_one_of(hints), ...) if len(hints) == len(several) else (_one_of([*hints, NoneType]), None)
            for name, hints in found.items()
        }
    shape, hints = shape_of(kind), hints_of(kind)
    defaults = {each.name: each.default for each in fields(kind)} if shape.optional else {}
    own: _Fields = {name: (_constant(value), ...) for name, value in shape.constants.items()}
    for part in parts_of(kind):
        hint = hints[part.attribute]
        if part.inlined:
            own |= _fields(hint)
            continue
        default = defaults.get(part.attribute, MISSING)
        own[part.name] = (_in_json(hint), ... if default is MISSING else default)
    for name in shape.last:
        own[name] = own.pop(name)
    return own


def _in_json(hint: Any) -> Any:
    """The type that a value of this type has in JSON."""
    inner = get_args(hint)
    if hint is datetime:
        return str
    if is_value(hint):
        return schema_of(hint)
    if (several := members(hint)) is not None:
        objects = len(several) > 1 and all(map(is_value, several))
        found = [schema_of(hint)] if objects else list(map(_in_json, several))
        return _one_of([*found, NoneType] if NoneType in inner else found)
    kind = get_origin(hint)
    if kind is Sequence or (kind is tuple and inner[-1] is Ellipsis):
        return GenericAlias(list, (_in_json(inner[0]),))
    if kind in (tuple, dict, Mapping):
        return GenericAlias(tuple if kind is tuple else dict, tuple(map(_in_json, inner)))
    return hint


def _constant(value: str | None) -> Any:
    return NoneType if value is None else _LITERAL[value]


def _one_of(hints: Iterable[Any]) -> Any:
    """One type for several; their constants are one list."""
    several = list(hints)
    constants = tuple(value for hint in several if get_origin(hint) is Literal for value in get_args(hint))
    others = [hint for hint in several if get_origin(hint) is not Literal]
    return _UNION[(*([_LITERAL[constants]] if constants else []), *others)]
