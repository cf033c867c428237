"""What is wrong inside of a space, and what to do about it. Pure: the facts are passed in."""

from dataclasses import dataclass

from holdfast.domain.health import HealthFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What was found in the rows of one space that the product would never write."""

    space: str
    texts: tuple[str, ...] = ()  # "ID version N": the text is not what its checksum or its memory says
    vectors: int = 0  # texts whose vector is missing or is none
    words: int = 0  # texts that the word index lacks, or should not hold
    orphans: int = 0  # rows that belong to something that is gone


def damage_findings(damage: Damage) -> list[HealthFinding]:
    """What is said of it, a line for each kind."""
    found = []
    if damage.texts:
        named = ", ".join(damage.texts[:5]) + (" …" if len(damage.texts) > 5 else "")
        says = f"{_count(len(damage.texts), 'damaged text')} in space {damage.space!r}: {named}"
        command = "`holdfast doctor --repair` repairs what has a second copy; restore the rest from a backup"
        found.append(
            HealthFinding(
                "problem",
                says,
                "a repair fixes what has a second copy; restore the rest from a backup",
                command,
            )
        )
    counts = (
        (damage.vectors, "damaged or missing vector", "damaged or missing vectors", "in"),
        (damage.words, "wrong entry in the word index", "wrong entries in the word index", "of"),
        (damage.orphans, "orphaned row", "orphaned rows", "in"),
    )
    for amount, one, several, place in counts:
        if amount:
            says = f"{_count(amount, one, several)} {place} space {damage.space!r}"
            command = "`holdfast doctor --repair` rebuilds or removes them"
            found.append(HealthFinding("problem", says, "a repair rebuilds or removes them", command))
    return found


def _count(amount: int, one: str, several: str | None = None) -> str:
    return f"{amount:,} {one if amount == 1 else several or one + 's'}"
