"""Which project and category something captured belongs to."""

import re
from collections.abc import Mapping

from holdfast.domain.profile import Profile

# How the rules and the models begin what a person says of himself.
_THE_PERSON = re.compile(r"The user\b(?! interface)")
# What points at where it was said.
_OF_THIS_PLACE = re.compile(r"\b(?:we|our|here|this project)\b", re.IGNORECASE)

#: What a kind becomes in a profile that has no category of its name: the first one that there is.
_NEAREST: Mapping[str, tuple[str, ...]] = {
    "decision": ("decision", "project", "context"),
    "insight": ("insight", "fact", "context", "project"),
    "fact": ("fact", "context", "project"),
    "preference": ("preference", "feedback"),
    "feedback": ("feedback", "preference"),
    "project": ("project", "decision", "context"),
    "person": ("person", "user", "fact", "context"),
    "context": ("context", "fact", "user"),
}


def captured_project(content: str, category: str, project: str | None, profile: Profile) -> str | None:
    """The project that it was said in; none for what is about the person or how to answer them.

    In doubt it belongs to the project: a person can promote it.
    """
    if profile.policy.space_wide:
        return None
    personal = bool(_THE_PERSON.match(content)) and not _OF_THIS_PLACE.search(content)
    return None if personal and profile.holds_everywhere(category) else project


def category_for(kind: str, profile: Profile) -> str | None:
    """The profile's category for what the rules found; none where it keeps nothing of the kind."""
    if profile.policy.subject_is_key:  # one name, one memory: nothing may be overwritten by a guess at a name
        return None
    known = profile.category_names
    return next((name for name in _NEAREST.get(kind, ()) if name in known), profile.default_category)
