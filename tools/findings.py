"""What a check found and where, printed the same way by every check."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing to put right."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def run(
    check: Callable[[Path], Iterable[Finding]], report: Callable[[Path], Iterable[str]] = lambda root: ()
) -> int:
    """Check the source tree named on the command line (`src` if none); the exit code is 1 for any finding.

    The findings are printed, then the lines of the report.
    """
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    if not root.is_dir():
        sys.stderr.write(f"{root}: no such directory; run from the top of the repository\n")
        return 2
    findings = sorted(check(root))
    for finding in findings:
        sys.stdout.write(f"{finding}\n")
    for line in report(root):
        sys.stdout.write(f"{line}\n")
    return 1 if findings else 0
