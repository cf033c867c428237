"""Which project something belongs to that was captured in one."""

import re

from holdfast.domain.profile import Profile

# How the rules and the models begin what a person says of himself.
_THE_PERSON = re.compile(r"The user\b(?! interface)")
# What points at where it was said.
_OF_THIS_PLACE = re.compile(r"\b(?:we|our|here|this project)\b", re.IGNORECASE)


def captured_project(content: str, category: str, project: str | None, profile: Profile) -> str | None:
    """The project that it was said in; none for what is about the person or how to answer them.

    In doubt it belongs to the project: a person can promote it.
    """
    if profile.policy.space_wide:
        return None
    personal = bool(_THE_PERSON.match(content)) and not _OF_THIS_PLACE.search(content)
    return None if personal and profile.holds_everywhere(category) else project
