"""Prompts for agents: templates beside this module, filled in from the profile.

A user's folder replaces any of them with a file of the same name. The vocabulary comes from the profile, by
placeholders such as `{{vocabulary}}`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from holdfast.domain.markers import written
from holdfast.domain.operations import CooldownStatus
from holdfast.domain.profile import Category, Profile
from holdfast.domain.render import label
from holdfast.errors import Invalid

TIERS = {1: "tier1-observe.md", 2: "tier2-investigate.md", 3: "tier3-remediate.md"}
_ENVIRONMENT = "environment.md"
_RECORDING = "memory-recording.md"
FILES = (*TIERS.values(), _ENVIRONMENT, _RECORDING)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The shipped texts; where a folder is given, its files take the place of those of the same name."""

    folder: Path | None = None

    @classmethod
    def in_folder(cls, folder: str | None) -> "Prompts":
        """Raises: Invalid, if the folder does not exist."""
        if not folder:
            return cls()
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise Invalid(
                f"there is no folder {folder!r}: create it and put {', '.join(FILES)} there, or some of them",
                field="prompts",
            )
        return cls(path)

    def task(self, tier: int | None, profile: Profile | None) -> str:
        """The prompt for a session of `tier`, with the instructions for recording.

        Without a profile nothing can be recorded, and the prompt does not mention it.
        """
        recording = self.recording(profile) if profile is not None else ""
        if tier is None:
            return recording
        text = self._text(TIERS[tier])
        if "{{memory_recording}}" not in text and "[MEMORY:" not in text:
            text += "\n\n{{memory_recording}}\n"  # a person's own text that forgot it would learn nothing
        return _filled(text, {"memory_recording": recording})

    def recording(self, profile: Profile) -> str:
        """The section on markers."""
        values = {
            "forms": "\n".join(_forms(profile)),
            "vocabulary": "\n\n".join(_vocabulary(profile)),
            "examples": "\n".join(written("MEMORY", *example) for example in examples(profile)),
        }
        return _filled(self._text(_RECORDING), values)

    def chat(self) -> str:
        """The system prompt of the chat."""
        return self._text("chat.md").strip()

    def environment(self, facts: Iterable[tuple[str, str]], cooling: Sequence[CooldownStatus] = ()) -> str:
        """The environment of a session, and the actions on cooldown."""
        text = self._text(_ENVIRONMENT)
        if "{{cooldowns}}" not in text:
            text += "\n\n{{cooldowns}}\n"
        values = {
            "facts": "\n".join(f"- {name}: {label(value)}" for name, value in facts),
            "cooldowns": "\n".join(_not_allowed(cooling)),
        }
        return _filled(text, values)

    def _text(self, name: str) -> str:
        """Raises: Invalid, when a person's own file can't be read."""
        if self.folder is not None and (own := self.folder / name).exists():
            try:
                return own.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise Invalid(f"{own} can't be read: {error}", field="prompts") from None
        return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def shipped(name: str) -> str:
    """A prompt of the package that users can't replace."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


def examples(profile: Profile) -> list[tuple[str, str | None, str]]:
    """Category, subject and text of what an agent might record; at least one."""
    told = [each for each in profile.categories if each.example]
    if not told:
        told = [Category(name=profile.category_names[0], example="What you saw, in one sentence")]
    return [(each.name, each.example_subject or None, each.example) for each in told]


def _forms(profile: Profile) -> Iterator[str]:
    yield written("MEMORY", "category", None, "what you learned")
    yield written("MEMORY", "category", "service", "what you learned about that service")
    if profile.levels:
        yield written("EVENT", "level", None, "what happened")
        yield written("EVENT", "level", "service", "what happened to that service")
    if profile.cooldowns:
        yield written("COOLDOWN", "action", "service", "success - what you did")
        yield written("COOLDOWN", "action", "service", "failure - what you did, and how it failed")


def _vocabulary(profile: Profile) -> Iterator[str]:
    yield _listed("Categories", ((each.name, each.says) for each in profile.categories))
    if profile.levels:
        yield _listed("Event levels", ((each.name, each.says) for each in profile.levels))
    if profile.cooldowns:
        often = (
            (
                each.name,
                f"{each.says} At most {each.most} within {each.hours:g} hours for one service.".strip(),
            )
            for each in profile.cooldowns
        )
        yield _listed("Actions with a cooldown; record each one that you take", often)


def _listed(title: str, entries: Iterable[tuple[str, str]]) -> str:
    return "\n".join([f"{title}:", *(f"- {name}: {says}".rstrip(": ") for name, says in entries)])


def _not_allowed(cooling: Sequence[CooldownStatus]) -> Iterator[str]:
    blocked = [each for each in cooling if not each.allowed]
    if blocked:
        yield "Not allowed now (cooldown):"
    for each in blocked:
        assert each.free_at is not None
        often = f"{len(each.attempts)} within {each.cooldown.hours:g} hours, at most {each.cooldown.most}"
        what = f"{each.cooldown.name} of {label(each.service)}"
        yield f"- {what} ({often}), until {each.free_at:%Y-%m-%d %H:%M} UTC"


def _filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with its placeholders filled in; where one is empty no blank lines are left behind."""
    for name, value in values.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()
