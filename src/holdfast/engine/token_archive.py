"""The tokens of a backup: one section after the spaces, with the hash of each secret and never the secret.

A row has also what the token has added to each space, which its quota limits.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from holdfast.domain.access import SCOPES, is_person
from holdfast.domain.space import Stored
from holdfast.engine.archive_lines import FORMAT, is_time, line_of
from holdfast.engine.ports import Store
from holdfast.engine.quota import LARGEST
from holdfast.errors import Invalid

KIND = "tokens"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TokenArchive:
    """The rows of the tokens that a backup holds."""

    rows: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class TokensRestored:
    """How many tokens a restore added, and those that it left out, by id."""

    added: int
    left_out: tuple[str, ...]


def token_lines(store: Store) -> Iterator[str]:
    """The section, or nothing where there are no tokens."""
    rows = store.tokens.rows()
    if not rows:
        return
    added = _added(store)
    digest = hashlib.sha256()
    yield line_of({"holdfast": KIND, "format": FORMAT})
    for row in rows:
        line = line_of({"token": {**row, "added": added.get(row["id"], {})}})
        digest.update(line.encode())
        yield line
    yield line_of({"end": None, "counts": {KIND: len(rows)}, "sha256": digest.hexdigest()})


def _added(store: Store) -> dict[str, dict[str, dict[str, int]]]:
    """What each token has added, by space."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for space in store.spaces():
        with store.read(space.name) as tx:
            for token, stored in tx.usage.by_token().items():
                found.setdefault(token, {})[space.name] = asdict(stored)
    return found


class TokenReader:
    """Collects the lines of the section."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.digest = hashlib.sha256()

    def take(self, entry: dict[str, Any], line: str, number: int) -> TokenArchive | None:
        """The section, when this was its last line. Raises: Invalid."""
        if "end" in entry:
            if entry.get("counts") != {KIND: len(self.rows)} or entry["sha256"] != self.digest.hexdigest():
                raise Invalid(f"line {number}: the tokens were changed or damaged; nothing was changed")
            return TokenArchive(self.rows)
        row = entry.get("token")
        if not isinstance(row, dict) or (reason := _wrong(row)):
            said = reason if isinstance(row, dict) else "is missing"
            raise Invalid(f"line {number}: a token {said}; nothing was changed")
        self.digest.update(line.encode())
        self.rows.append(row)
        return None


def restore_tokens(archive: TokenArchive, spaces: Sequence[str], *, store: Store) -> TokensRestored:
    """Adds the tokens that reach only `spaces`, which were restored with them.

    A token that the store has stays as it is, except that one revoked in the backup is revoked here too. One
    that would open spaces that the backup does not hold is left out. No quota has more room than before.
    """
    everything = {space.name for space in store.spaces()}
    known = {token.id for token in store.tokens.all()}
    added, left_out = 0, []
    for row in archive.rows:
        if row["id"] in known:
            if row.get("revoked_at"):
                store.tokens.revoke(row["id"], datetime.fromisoformat(row["revoked_at"]))
        elif (everything if row["spaces"] is None else set(row["spaces"])) <= set(spaces):
            added += store.tokens.insert(row)
        else:
            left_out.append(str(row["id"]))
    for space in spaces:
        sums = {row["id"]: (row.get("added") or {}).get(space) for row in archive.rows}
        found = {token: Stored(**one) for token, one in sums.items() if one and token not in left_out}
        if found:
            with store.write(space) as tx:
                tx.usage.raise_to(found)
    return TokensRestored(added, tuple(left_out))


def _wrong(row: dict[str, Any]) -> str | None:
    """What is invalid in a row; None if it is valid."""
    if not isinstance(row.get("id"), str) or not _HASH.fullmatch(str(row.get("hash"))):
        return "has no id or no hash"
    scopes, spaces = row.get("scopes"), row.get("spaces", False)
    if not isinstance(scopes, list) or not scopes or not set(scopes) <= set(SCOPES):
        return f"has {scopes!r} for scopes, expected some of {', '.join(SCOPES)}"
    if spaces is not None and not (isinstance(spaces, list) and all(isinstance(one, str) for one in spaces)):
        return f"has {row.get('spaces')!r} for spaces, expected a list of names or null"
    if (person := row.get("person")) is not None and not is_person(person):
        return f"has {person!r} for person, expected a name or null"
    for name, value in row.items():
        if name.endswith("_at") and value is not None and not is_time(value):
            return f"has {value!r} for {name}, expected a time"
    if not _is_added(row.get("added") or {}):
        return f"has {row['added']!r:.60} for added, expected numbers by space"
    return None if row.get("created_at") else "has no created_at"


def _is_added(added: object) -> bool:
    names = set(asdict(Stored()))
    return isinstance(added, dict) and all(
        isinstance(sums, dict)
        and set(sums) == names
        and all(type(one) is int and 0 <= one <= LARGEST for one in sums.values())
        for sums in added.values()
    )
