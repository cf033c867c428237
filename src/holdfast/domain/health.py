"""Findings about a database and the rows of a space, with advice. The facts are passed in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LONG_LAG = 10.0  # seconds that a replica is behind
LONG_LOG = 64 * 1024 * 1024  # bytes of write-ahead log that writers should have emptied long ago


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A server of a cluster."""

    name: str  # host and port
    reached: bool
    coordinator: bool
    holds: bool  # whether spaces may be on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The servers that the tables are spread over, by space."""

    nodes: tuple[ClusterNode, ...]
    shards: int  # parts of each table
    places: Mapping[str, str]  # the node of each space
    left: tuple[str, ...] = ()  # tables that are on the coordinator alone

    @property
    def lost(self) -> list[str]:
        """The nodes that can't be reached."""
        return [node.name for node in self.nodes if not node.reached]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Facts about a database; None for what its kind does not have."""

    where: str
    kind: Literal["sqlite", "postgresql"]
    exists: bool = True
    version: str | None = None  # of the library or server
    size: int | None = None  # bytes
    mode: int | None = None  # permission bits of the file
    log_size: int | None = None  # bytes of write-ahead log
    revision: str | None = None  # of the schema; None: no tables
    head: str  # the revision that this release needs
    damage: tuple[str, ...] = ()  # what the integrity check found
    beyond_row_security: bool = False  # a superuser's connection, or another that sees all rows
    cluster: Cluster | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """How a read replica stands."""

    where: str
    trouble: str | None = None  # why it can't be used now
    bytes_behind: int = 0  # of the write-ahead log
    seconds_behind: float = 0.0  # since the last commit that it shows; 0 if nothing is missing
    reads: Mapping[str, int] = field(default_factory=dict)  # of this process, by who answered


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """A finding with advice. A note is only information."""

    level: Literal["problem", "note"]
    says: str
    advice: str
    command: str | None = None  # shown on the command line instead of `advice`


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Damaged rows of one space: content that Holdfast never writes."""

    space: str
    texts: tuple[str, ...] = ()  # "ID version N": the text does not match its checksum or its memory
    vectors: int = 0  # texts whose vector is missing or is none
    words: int = 0  # texts that the word index lacks, or should not hold
    orphans: int = 0  # rows that belong to something that is gone


def findings(health: Health, *, upgrade: str) -> list[HealthFinding]:
    """All findings, problems first; `upgrade` is the command that installs a newer release."""
    found = [*_schema(health, upgrade), *_file(health), *_role(health), *_cluster(health)]
    return sorted(found, key=lambda finding: finding.level != "problem")


def unread(space: str, failed: int, error: str | None, put_off: str | None) -> list[HealthFinding]:
    """The finding about chunks that a language model failed to read; the built-in model has read them all."""
    found = []
    if failed:
        pieces = "passage" if failed == 1 else "passages"
        why = error or "its worker process died"
        says = f"a model could not read {failed:,} {pieces} in space {space!r}: {why}"
        advice = "what the built-in model found is kept"
        command = f"{advice}; `holdfast capture --again --space {space}` retries them, --leave drops them"
        found.append(HealthFinding("problem", says, advice, command))
    if put_off is not None:
        later = "the rest is read tomorrow, or now if you raise HOLDFAST_DAILY_CAP"
        advice = f"what the built-in model found is kept; {later}"
        found.append(HealthFinding("note", f"models are paused in space {space!r}: {put_off}", advice))
    return found


def _schema(health: Health, upgrade: str) -> list[HealthFinding]:
    if not health.exists:
        command = "the first `holdfast remember` creates it"
        return [HealthFinding("note", "there is no database yet", "the first memory creates it", command)]
    if health.damage:
        says = f"the database is damaged: {health.damage[0]}"
        advice = "stop all writers, keep the file, and restore a backup to a new file"
        command = (
            "stop all writers, keep the file, and restore with `holdfast backup FILE --restore --db NEW`"
        )
        return [HealthFinding("problem", says, advice, command)]
    if health.revision is not None and health.revision > health.head:
        says = f"the schema is at {health.revision}, newer than this release's {health.head}"
        return [HealthFinding("problem", says, f"upgrade with `{upgrade}`")]
    if health.revision != health.head:
        at = health.revision or "no tables"
        says = f"the schema is at {at}, this release needs {health.head}"
        return [HealthFinding("problem", says, "migrate the database", command="run `holdfast migrate`")]
    return []


def _file(health: Health) -> list[HealthFinding]:
    found = []
    if health.mode is not None and health.mode & 0o077:
        says = f"other users can read the database file (mode {health.mode:04o})"
        found.append(HealthFinding("problem", says, f"run `chmod 600 {health.where}`"))
    if health.log_size is not None and health.log_size > LONG_LOG:
        says = f"the write-ahead log has grown to {health.log_size // 2**20} MiB"
        advice = "stop long-running readers; the next write then truncates it"
        found.append(HealthFinding("problem", says, advice))
    return found


def _role(health: Health) -> list[HealthFinding]:
    if not health.beyond_row_security:
        return []
    who = "is a superuser or has BYPASSRLS"
    who += ", or owns the tables" * (health.cluster is not None)
    says = f"the database role {who}: row-level security does not apply to it"
    return [
        HealthFinding("note", says, "connect as a role without these rights: see the guide on PostgreSQL")
    ]


def _cluster(health: Health) -> list[HealthFinding]:
    found: list[HealthFinding] = []
    if health.cluster is None:
        return found
    for name in health.cluster.lost:
        there = sum(place == name for place in health.cluster.places.values())
        says = f"the node {name} can't be reached: {_count(there, 'space')} on it answer nothing"
        found.append(HealthFinding("problem", says, "start the node; what was saved there is safe"))
    if health.cluster.left:
        says = f"not distributed: {', '.join(health.cluster.left)}"
        advice = "distribute the rest of the tables"
        found.append(HealthFinding("problem", says, advice, command="run `holdfast migrate --citus`"))
    return found


def replica_findings(replica: ReplicaState) -> list[HealthFinding]:
    """The finding about a replica that is of no use, or late."""
    if replica.trouble is not None:
        says = f"the read replica can't be used: {replica.trouble}"
        advice = "reads go to the primary: start the replica, or correct HOLDFAST_DB_READ"
        return [HealthFinding("problem", says, advice)]
    if replica.seconds_behind < LONG_LAG:
        return []
    says = f"the read replica is {replica.seconds_behind:,.0f} s behind ({replica.bytes_behind:,} bytes)"
    return [HealthFinding("note", says, "reads of what it does not show yet go to the primary")]


def damage_findings(damage: Damage) -> list[HealthFinding]:
    """The findings about damaged rows, one for each kind."""
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
