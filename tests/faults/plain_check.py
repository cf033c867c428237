"""Holds a database against a ledger of acknowledged writes, with plain sqlite3 and nothing of the product.

Run as `python -I -S plain_check.py DATABASE LEDGER`; prints what it counted as JSON.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

Ask = Callable[[str], list[tuple[object, ...]]]


def check(database: Path, ledger: Path) -> dict[str, object]:
    connection = sqlite3.connect(database)

    def ask(query: str) -> list[tuple[object, ...]]:
        return connection.execute(query).fetchall()

    return held_against(ask, ledger) | {
        "integrity": ask("PRAGMA integrity_check")[0][0],
        "foreign keys": len(ask("PRAGMA foreign_key_check")),
    }


def held_against(ask: Ask, ledger: Path) -> dict[str, object]:
    """What differs between the ledger and a database that is asked in plain SQL."""
    acked = dict(line.split() for line in ledger.read_text().splitlines())
    stored = {str(key): value for key, *value in ask("SELECT id, subject, content FROM memories")}
    answered = {
        key: json.loads(str(outcome))["memory"] for key, outcome in ask("SELECT key, outcome FROM calls")
    }
    first = {
        str(memory): text for memory, text in ask("SELECT memory_id, content FROM versions WHERE number = 1")
    }
    added = Counter(memory for (memory,) in ask("SELECT memory_id FROM journal WHERE action = 'added'"))
    texts = Counter(content for _, content in stored.values())
    ((entries, last),) = ask("SELECT count(*), coalesce(max(seq), 0) FROM journal")
    # A copy from before the first checkpoint has no head yet.
    ((head,),) = ask("SELECT coalesce(max(seq), 0) FROM heads")
    return {
        "acked": len(acked),
        "stored": len(stored),
        "lost": sum(stored.get(memory) != [key, _text(key)] for key, memory in acked.items()),
        "doubled": sum(times > 1 for times in texts.values()) + sum(times > 1 for times in added.values()),
        "key answers another": sum(answered.get(key) != memory for key, memory in acked.items()),
        "without key": len(set(stored) - set(answered.values())),
        "without version 1": sum(first.get(memory) != content for memory, (_, content) in stored.items()),
        "without journal entry": sum(memory not in added for memory in stored),
        "journal has gaps": int(not entries == last == head),
    }


def _text(key: str) -> str:
    writer, number = key.split("-")
    return f"Writer {writer} noted the item numbered {number}"


if __name__ == "__main__":
    json.dump(check(Path(sys.argv[1]), Path(sys.argv[2])), sys.stdout)
