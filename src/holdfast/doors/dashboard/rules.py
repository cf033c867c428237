"""The rules of a profile, in words that a person reads. Knows nothing of pages."""

from holdfast.domain.profile import Policy, Profile

_ON_SAME = {
    "reinforce": "makes the known memory more certain",
    "suggest": "is answered with the known memory, to be updated instead",
    "merge": "is taken into the known memory",
    "overwrite": "takes the known memory’s place",
}
_ON_CONTRADICTION = {
    "weaken": "makes the known memory less certain and is kept beside it",
    "suggest": "is answered with the known memory, to be updated instead",
    "keep": "is kept beside the known memory",
    "overwrite": "takes the known memory’s place",
}
_LAYOUTS = {
    "by-subject": "by what memories are about",
    "by-category": "by category",
    "hits": "what fits what was just said",
    "index": "an index of files",
}


def rules(profile: Profile) -> list[tuple[str, str]]:
    """Each rule's name and what it says."""
    policy, block, limits = profile.policy, profile.block, profile.limits
    lines = f", at most {block.lines:,} lines" if block.lines else ""
    told = [
        ("What is said again", _ON_SAME[policy.on_same] + _by("+", policy.reinforce_by)),
        ("What contradicts", _ON_CONTRADICTION[policy.on_contradiction] + _by("−", policy.weaken_by)),
        ("Belief", _belief(policy)),
        ("Fading", _fading(policy)),
        ("Deleting", _REMOVAL[policy.removal]),
        ("Texts", _texts(limits.content_min, limits.content_max, one_line=limits.one_line)),
        ("The brief", f"{_LAYOUTS[block.layout]}, at most {block.budget:,} tokens{lines}"),
        ("Tools for models", ", ".join(profile.tools)),
    ]
    if policy.subject_is_key:
        told.insert(2, ("Names", "one memory for each name, as with files"))
    return told


_REMOVAL = {
    "soft": "takes out of sight; it can be restored, and the text does not come back by itself",
    "permanent": "removes for good, and the text does not come back by itself",
}


def _by(sign: str, amount: float) -> str:
    return f" ({sign}{amount:g})" if amount else ""


def _belief(policy: Policy) -> str:
    if not policy.weighs_confidence:
        return "is not weighed: what is kept is believed"
    floor = f"; below {policy.floor:g} it is inactive" if policy.floor else ""
    return f"a new memory begins with {policy.confidence:g}{floor}"


def _fading(policy: Policy) -> str:
    told = []
    if policy.decay_by:
        days = policy.decay_after_days
        told.append(f"loses {policy.decay_by:g} a week when nobody confirmed it for {days} days")
    if policy.unused_days:
        told.append(f"archived when not used for {policy.unused_days} days")
    return "; ".join(told) or "never"


def _texts(least: int, most: int, *, one_line: bool) -> str:
    shortest = f"{least:,} to {most:,}" if least > 1 else f"up to {most:,}"
    return f"{shortest} characters{', in one line' if one_line else ''}"
