"""The definition of a tool for a model, from which every API's format is made; validates arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.engine.memories import Memories

Kind = Literal["string", "integer", "boolean"]
_TYPES: Mapping[Kind, type] = {"string": str, "integer": int, "boolean": bool}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool."""

    name: str
    says: str
    kind: Kind = "string"
    required: bool = True
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None  # of a number, or of a text's length

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        limits = ("minimum", "maximum") if self.kind == "integer" else ("minLength", "maxLength")
        found: dict[str, Any] = {"type": self.kind, "description": self.says}
        if self.choices:
            found["enum"] = list(self.choices)
        for name, value in zip(limits, (self.least, self.most), strict=True):
            if value is not None:
                found[name] = value
        return found

    def checked(self, value: object) -> object:
        """`value`, if it fits. Raises: Invalid."""
        # True is an int to Python, and never what was meant.
        if not isinstance(value, _TYPES[self.kind]) or isinstance(value, bool) != (self.kind == "boolean"):
            raise Invalid(f"{self.name} must be of type {self.kind}, not {value!r:.60}", field=self.name)
        if self.choices and value not in self.choices:
            raise Invalid(
                f"unknown {self.name} {value!r:.60}: use one of {', '.join(self.choices)}", field=self.name
            )
        size = value if isinstance(value, int) else len(str(value))
        if (self.least is not None and size < self.least) or (self.most is not None and size > self.most):
            size_of = f"is {size:,}" if self.kind == "integer" else f"has {size:,} characters"
            limits = f"{self.least or 0:,} to {self.most:,}" if self.most else f"{self.least:,} or more"
            raise Invalid(f"{self.name} {size_of}: must be {limits}", field=self.name)
        return value


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a call on the memory; hosts use it to ask for permission."""

    reads_only: bool = False
    destroys: bool = False  # something is gone, or no longer shown, afterwards
    repeatable: bool = False  # the same call again changes nothing more


READS = Effect(reads_only=True, repeatable=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a model. `values` are for programs; a search returns text only."""

    text: str
    values: Mapping[str, Any] | None = None
    failed: bool = False


Run = Callable[["Memories", Mapping[str, Any]], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the memory."""

    name: str
    title: str
    says: str  # one line that also works as search text
    parameters: tuple[Parameter, ...] = ()
    effect: Effect
    returns: Mapping[str, Any] | None = None  # the JSON schema of `Answer.values`; None: text only
    run: Run

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {each.name: each.schema() for each in self.parameters},
            "required": [each.name for each in self.parameters if each.required],
            "additionalProperties": False,
        }

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """`arguments`, if the tool takes them; what is null counts as not given. Raises: Invalid."""
        known = {each.name: each for each in self.parameters}
        given = {name: value for name, value in arguments.items() if value is not None}
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise Invalid(
                f"unknown parameter {_join(unknown)} for {self.name}: use {_join(list(known))}",
                field=unknown[0],
            )
        missing = [each.name for each in self.parameters if each.required and each.name not in given]
        if missing:
            raise Invalid(f"{self.name} requires {_join(missing)}", field=missing[0])
        return {name: known[name].checked(value) for name, value in given.items()}


def _join(names: Sequence[str]) -> str:
    return ", ".join(names) or "no arguments"
