"""What this process holds in memory: without garbage, and without what the allocator keeps for later."""

from __future__ import annotations

import ctypes
import gc

from bench.speed.measuring import resident


def held() -> int:
    """Megabytes. Else one body of ten megabytes shows as growth for as long as the process lives."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc
        trim(0)
    return round(resident())
