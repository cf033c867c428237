"""What both full-text indexes share: words that a text is found by, and words of a question that count.

Words are marked with their space, so that the list of a word's places belongs to one space.
"""

import heapq
import math
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType
from typing import Generic, TypeVar

from sqlalchemy import Connection, bindparam, select

from holdfast.domain.memory import Memory, Message
from holdfast.domain.ranking import said
from holdfast.domain.terms import stems
from holdfast.store.schema import heads

Owner = TypeVar("Owner", bound=Memory | Message)

#: Rows that one question may read: words are taken rarest first until their lists are together as long.
MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Indexed(Generic[Owner]):
    """What an index holds: its tables begin with `name`, and `text` is what an owner is found by."""

    name: str
    text: Callable[[Owner], str]

    @property
    def owner(self) -> str:
        """The column that names the owner."""
        return f"{self.name}_id"

    def words(self, owner: Owner, known: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Sequence[str]:
        """Those of its text; `known` has them by the owner's id, where the text was read already."""
        text = self.text(owner)
        return known[owner.id] if text and owner.id in known else stems(text)


MEMORIES: Indexed[Memory] = Indexed("memory", said)
MESSAGES: Indexed[Message] = Indexed("message", lambda message: (message.content or "") * message.findable)

#: How many texts a space's index holds, by space and index, with the space's counters at that time.
Totals = dict[tuple[str, str], tuple[int, int]]


def prefix(space: str) -> str:
    """A space's mark on its words: letters and digits only, and no mark begins another."""
    return space.replace("z", "zz").replace("-", "zh").replace("_", "zu") + "zq"


def mark(space: str, word: str) -> str:
    """Eight characters that stand for a space's word."""
    digest = blake2b(f"{space} {word}".encode(errors="replace"), digest_size=6).digest()
    return urlsafe_b64encode(digest).decode()


def telling(counts: Mapping[str, int], most_rows: int | None = None) -> dict[str, float]:
    """The words to look up, rarest first, each with its weight: at least one, if any stands anywhere."""
    chosen: dict[str, float] = {}
    rows = 0
    for word, count in sorted(counts.items(), key=lambda pair: (pair[1], pair[0])):
        if count and (not chosen or rows + count <= (most_rows or MOST_ROWS)):
            chosen[word] = math.log(1 + 1_000_000 / count)
            rows += count
    return chosen


_STATE = select(heads.c.seq + heads.c.messages).where(heads.c.space == bindparam("of"))


def counted(connection: Connection, space: str, index: str, totals: Totals, count: Callable[[], int]) -> int:
    """How many texts an index holds: counted anew only when one in a hundred may have changed."""
    now = int(connection.execute(_STATE, {"of": space}).scalar_one())
    then, total = totals.get((space, index), (-1, 0))
    if then < 0 or not 0 <= now - then <= total // 100:
        total = count()
        totals[space, index] = (now, total)
    return total


def best(scores: Mapping[int, float], limit: int) -> Sequence[int]:
    """The best places, of equal ones the newest."""
    # Thousands share a few scores. Bare numbers are compared much faster than pairs are.
    least = heapq.nlargest(limit, scores.values())[-1] if len(scores) > limit > 0 else -math.inf
    above = sorted([(score, place) for place, score in scores.items() if score > least], reverse=True)
    level = heapq.nlargest(limit - len(above), [place for place, score in scores.items() if score == least])
    return [place for _, place in above] + level
