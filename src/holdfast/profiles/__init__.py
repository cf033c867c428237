"""Parses profiles from TOML: the built-in ones in this package, and a user's own."""

import re
import tomllib
from dataclasses import MISSING, fields
from functools import cache, lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from holdfast.domain.profile import TOOLS, BriefLayout, Category, Cooldown, Level, Limits, Policy, Profile
from holdfast.errors import Invalid

BUILT_IN = ("default", "ops", "assistant", "semantic", "files")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_TOP = set("name says default_category unsorted tools category event cooldown limits policy block".split())
# Minimum and maximum of every number, by table.
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "limits": {
        "content_min": (1, 1_000_000),
        "content_max": (1, 1_000_000),
        "subject_max": (1, 10_000),
        "summary_max": (1, 10_000),
        "tag_max": (1, 10_000),
        "tags": (0, 1_000),
    },
    "policy": {
        "confidence": (0, 1),
        "finding_confidence": (0, 1),
        "floor": (0, 1),
        "reinforce_by": (0, 1),
        "weaken_by": (0, 1),
        "decay_by": (0, 1),
        "decay_after_days": (0, 36_500),
        "unused_days": (0, 36_500),
        "importance": (1, 5),
        "raise_importance_by": (0, 5),
    },
    "block": {"budget": (0, 10_000_000), "lines": (0, 1_000_000)},
}
#: The maximum of a category's retention rules; 0 is no rule.
_RETENTION = {"unused_days": 36_500, "keep_days": 36_500, "keep_most": 1_000_000}

_RENAMED = {("layout", "hits"): "rules-first"}  # values of profiles that were written for 0.1

Section = TypeVar("Section", Limits, Policy, BriefLayout, Category, Level, Cooldown)
Named = TypeVar("Named", Category, Level, Cooldown)


def built_in_text(name: str) -> str:
    """The TOML of a built-in profile. Raises: Invalid."""
    if name not in BUILT_IN:
        raise Invalid(
            f"unknown profile {name!r}: use one of {', '.join(BUILT_IN)}, or a TOML file", field="profile"
        )
    return Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")


@cache
def built_in(name: str) -> Profile:
    """A built-in profile by its name."""
    return parse(built_in_text(name), where=f"{name}.toml")


@lru_cache(maxsize=1_000)
def profile_named(name: str, text: str | None) -> Profile:
    """The profile of a space: a user's own `text`, or the built-in one of its name."""
    return built_in(name) if text is None else parse(text)


def parse(text: str, *, where: str = "profile") -> Profile:
    """The profile that `text` describes. Raises: Invalid, naming `where`, the line and the reason."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{where}: {error}", field="profile") from None
    return _Reader(text, where).profile(tree)


class _Reader:
    """A profile file: its values and their line numbers."""

    def __init__(self, text: str, where: str) -> None:
        self.lines = text.splitlines()
        self.where = where

    def profile(self, tree: dict[str, Any]) -> Profile:
        for key in tree:
            if key not in _TOP:
                raise self.wrong(key, f"unknown key {key!r}: use {', '.join(sorted(_TOP))}")
        name = self.text_of(tree, "name")
        if not _NAME.fullmatch(name):
            raise self.wrong(
                "name", f"invalid profile name {name!r}: use a-z, 0-9, _ and -, starting with a letter"
            )
        profile = Profile(
            name=name,
            says=self.text_of(tree, "says"),
            categories=self.categories(tree),
            default_category=tree.get("default_category"),
            limits=self.section(Limits, tree, "limits"),
            policy=self.section(Policy, tree, "policy"),
            block=self.section(BriefLayout, tree, "block"),
            tools=self.tools(tree),
            levels=self.named(Level, tree, "event"),
            cooldowns=self.cooldowns(tree),
            unsorted=self.text_of(tree, "unsorted") if "unsorted" in tree else None,
        )
        self.check(profile)
        return profile

    def categories(self, tree: dict[str, Any]) -> tuple[Category, ...]:
        found = self.named(Category, tree, "category")
        if not found:
            raise self.wrong("category", "at least one [[category]] is required")
        for category in found:
            for key, most in _RETENTION.items():
                if not 0 <= (value := getattr(category, key)) <= most:
                    raise self.wrong(key, f"{key} = {value} of {category.name!r}: expected 0 to {most:,}")
        return found

    def cooldowns(self, tree: dict[str, Any]) -> tuple[Cooldown, ...]:
        found = self.named(Cooldown, tree, "cooldown")
        for cooldown in found:
            if not (1 <= cooldown.most <= 1_000 and 0 < cooldown.hours <= 8_760):
                raise self.wrong(
                    cooldown.name, "expected most from 1 to 1,000 and hours above 0, up to 8,760"
                )
        return found

    def named(self, kind: type[Named], tree: dict[str, Any], key: str) -> tuple[Named, ...]:
        """The tables [[key]], each with a name of its own."""
        tables = tree.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.wrong(key, f"each {key} is a table: [[{key}]], then its name")
        found = tuple(self.filled(kind, table, key) for table in tables)
        names = [each.name for each in found]
        for name in names:
            if not _NAME.fullmatch(name):
                raise self.wrong(name, f"invalid {key} name {name!r}: use a-z, 0-9, _ and -")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise self.wrong(twice, f"{key} {twice!r} is defined twice", last=True)
        return found

    def tools(self, tree: dict[str, Any]) -> tuple[str, ...]:
        names = tree.get("tools", list(TOOLS))
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.wrong("tools", "tools must be a list of names")
        return tuple(dict.fromkeys(names))

    def section(self, kind: type[Section], tree: dict[str, Any], name: str) -> Section:
        table = tree.get(name, {})
        if not isinstance(table, dict):
            raise self.wrong(name, f"{name} must be a table: [{name}]")
        return self.filled(kind, table, name)

    def filled(self, kind: type[Section], table: dict[str, Any], name: str) -> Section:
        types = get_type_hints(kind)
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in types:
                raise self.wrong(key, f"unknown key {key!r} in [{name}]: use {', '.join(types)}")
            values[key] = self.typed(key, value, types[key])
        for field in fields(kind):
            if field.name not in values and field.default is MISSING:
                raise self.wrong(name, f"[{name}] needs {field.name}")
        return kind(**values)

    def typed(self, key: str, value: object, wanted: Any) -> object:
        """`value` as `wanted`, where TOML's idea of it is close enough."""
        if get_origin(wanted) is Literal:
            value = _RENAMED.get((key, value), value) if isinstance(value, str) else value
            if value in get_args(wanted):
                return value
            raise self.wrong(key, f"{key} = {value!r}: use one of {', '.join(get_args(wanted))}")
        if get_origin(wanted) is tuple and isinstance(value, list) and all(isinstance(v, str) for v in value):
            return tuple(value)
        if wanted is float and type(value) in (int, float):
            return float(value)  # type: ignore[arg-type]
        if not isinstance(wanted, UnionType) and type(value) is wanted:
            return value
        raise self.wrong(
            key, f"{key} = {value!r}: expected {getattr(wanted, '__name__', 'a list of strings')}"
        )

    def text_of(self, tree: dict[str, Any], key: str) -> str:
        value = tree.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, f"{key} is required and must be a string")
        return value

    def check(self, profile: Profile) -> None:
        default = profile.default_category
        if default is not None and default not in profile.category_names:
            raise self.wrong("default_category", f"{default!r} is not one of its categories")
        for table, ranges in _RANGES.items():
            for key, (least, most) in ranges.items():
                value = getattr(getattr(profile, table), key)
                if not least <= value <= most:
                    raise self.wrong(key, f"{key} = {value}: expected {least:,} to {most:,}")
        if profile.limits.content_min > profile.limits.content_max:
            raise self.wrong("content_max", "content_min must not be larger than content_max")

    def wrong(self, key: str, reason: str, *, last: bool = False) -> Invalid:
        """The error, with the line that sets `key`, opens its table or names it, where there is one."""
        name = re.escape(key)
        for form in (rf"\s*{name}\s*=", rf"\s*\[+\s*{name}\s*\]+", rf"[^#]*=\s*[\"']{name}[\"']"):
            found = [number for number, line in enumerate(self.lines, 1) if re.match(form, line)]
            if found:
                return Invalid(f"{self.where}, line {found[-1 if last else 0]}: {reason}", field="profile")
        return Invalid(f"{self.where}: {reason}", field="profile")
