"""The rules of a profile, in words that a person reads. Knows nothing of pages."""

from holdfast.domain.profile import Policy, Profile

_ON_SAME = {
    "reinforce": "raises the confidence of the known memory",
    "suggest": "returns the known memory, to be updated instead",
    "merge": "is merged into the known memory",
    "overwrite": "replaces the known memory",
}
_ON_CONTRADICTION = {
    "weaken": "lowers the confidence of the known memory; both are kept",
    "suggest": "returns the known memory, to be updated instead",
    "keep": "both are kept",
    "overwrite": "replaces the known memory",
}
_LAYOUTS = {
    "by-subject": "grouped by subject",
    "by-category": "grouped by category",
    "hits": "memories relevant to the last messages",
    "index": "an index of files",
}


def rules(profile: Profile) -> list[tuple[str, str]]:
    """Each rule's name and what it says."""
    policy, block, limits = profile.policy, profile.block, profile.limits
    lines = f", at most {block.lines:,} lines" if block.lines else ""
    told = [
        ("Duplicate", _ON_SAME[policy.on_same] + _by("+", policy.reinforce_by)),
        ("Contradiction", _ON_CONTRADICTION[policy.on_contradiction] + _by("−", policy.weaken_by)),
        ("Confidence", _belief(policy)),
        ("Decay", _fading(policy)),
        ("Deleting", _REMOVAL[policy.removal]),
        ("Text length", _texts(limits.content_min, limits.content_max, one_line=limits.one_line)),
        ("Brief", f"{_LAYOUTS[block.layout]}, at most {block.budget:,} tokens{lines}"),
        ("Tools for models", ", ".join(profile.tools)),
    ]
    if policy.subject_is_key:
        told.insert(2, ("Names", "one memory per name, as with files"))
    return told


_REMOVAL = {
    "soft": "soft-deletes: can be restored; the same text is not stored again",
    "permanent": "deletes for good; the same text is not stored again",
}


def _by(sign: str, amount: float) -> str:
    return f" ({sign}{amount:g})" if amount else ""


def _belief(policy: Policy) -> str:
    if not policy.weighs_confidence:
        return "not used"
    floor = f"; inactive below {policy.floor:g}" if policy.floor else ""
    return f"starts at {policy.confidence:g}{floor}"


def _fading(policy: Policy) -> str:
    told = []
    if policy.decay_by:
        days = policy.decay_after_days
        told.append(f"loses {policy.decay_by:g} a week if not confirmed for {days} days")
    if policy.unused_days:
        told.append(f"archived if not used for {policy.unused_days} days")
    return "; ".join(told) or "never"


def _texts(least: int, most: int, *, one_line: bool) -> str:
    shortest = f"{least:,} to {most:,}" if least > 1 else f"up to {most:,}"
    return f"{shortest} characters{', one line' if one_line else ''}"
