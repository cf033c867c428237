"""Small hand-written files in the formats of the public benchmarks."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Anna",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Anna", "dia_id": "D1:1", "text": "I bought a red bicycle yesterday."},
                {
                    "speaker": "Ben",
                    "dia_id": "D1:2",
                    "text": "Look at this!",
                    "blip_caption": "a photo of a sailing boat",
                    "img_url": ["https://example.org/boat.jpg"],
                },
            ],
            "session_2_date_time": "10:05 am on 25 May, 2023",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "My sister Clara is a dentist in Porto."},
                {"speaker": "Anna", "dia_id": "D2:2", "text": "Rehearsals of the choir start in June."},
            ],
        },
        "qa": [
            {"question": "Which bicycle did Anna buy?", "evidence": ["D1:1"], "category": 4, "answer": "red"},
            {"question": "What does Ben's sister do?", "evidence": ["D2:1; D:2:02"], "category": 1},
            {"question": "What did Anna photograph?", "evidence": ["D1:2"], "category": 5},
            {"question": "Is Anna happy?", "evidence": [], "category": 3},
        ],
    }
]

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where did I park the car?",
        "answer": "level 3",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer_session_ids": ["answer_1"],
        "haystack_session_ids": ["noise_1", "answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 04:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "Suggest a soup for tonight."},
                {"role": "assistant", "content": "Tomato soup with basil."},
            ],
            [
                {"role": "user", "content": "I parked the car on level 3.", "has_answer": True},
                {"role": "assistant", "content": "I will keep that in mind.", "has_answer": False},
            ],
        ],
    },
    {
        "question_id": "q2_abs",
        "question_type": "single-session-user",
        "question": "Where did I park the boat?",
        "answer": "You did not say.",
        "question_date": "2023/05/30 (Tue) 23:50",
        "answer_session_ids": ["answer_2"],
        "haystack_session_ids": ["answer_2"],
        "haystack_dates": ["2023/05/21 (Sun) 04:00"],
        "haystack_sessions": [[{"role": "user", "content": "I parked the car on level 3."}]],
    },
]


def locomo() -> list[dict[str, Any]]:
    """A copy that a test may spoil."""
    return copy.deepcopy(LOCOMO)


def longmemeval() -> list[dict[str, Any]]:
    return copy.deepcopy(LONGMEMEVAL)


def written(path: Path, entries: list[dict[str, Any]]) -> Path:
    """The entries as a list, as lines (`.jsonl`), gzipped (`.gz`) or not: as the name says."""
    if ".jsonl" in path.suffixes:
        text = "\n".join(json.dumps(entry) for entry in entries)
    else:
        text = json.dumps(entries, indent=1)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path
