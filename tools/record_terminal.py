"""Draws docs/images/terminal.svg: commands, run in a store of their own, and what they print.

Run as `python -m tools.record_terminal`. Time and ids are fixed: the same release gives the same picture.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from holdfast.app import wiring
from holdfast.cli import cli
from holdfast.cli.call import Call
from holdfast.cli.say import RECIPIENT, Recipient
from holdfast.engine.memories import Memories
from holdfast.engine.ports import Store
from holdfast.testing import FixedClock

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "terminal.svg"
WIDTH = 108
_IDS = ("4bkCdCI2", "LJO9cgho", "u7Xq2mWd", "Zr5TaP1e", "k3HvN8sB", "w9QyE4fL")
_JELLYFIN = ("-c", "timing", "-s", "jellyfin")
#: Each command, and how many days later it is run.
COMMANDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (0, ("remember", "Takes 60s to start after a restart", *_JELLYFIN)),
    (2, ("remember", "Takes about 60 seconds to start after restart", *_JELLYFIN)),
    (30, ("remember", "Takes 30s to start after a restart", *_JELLYFIN)),
    (1, ("recall", "how long does jellyfin take to start")),
    (0, ("why", _IDS[0])),
    (0, ("brief",)),
)
#: As rich draws it, without its fonts, which would be fetched from elsewhere.
_SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
font-size: {char_height}px; line-height: {line_height}px }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#1d2026" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, 20)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class _Call(Call):
    """A call that gives new things ids in a fixed order."""

    place: str
    ids: Iterator[str]

    @contextmanager
    def store(self, *, creates: bool = False) -> Iterator[Store]:
        """The store as if it were the one at home: a printed command does not name it."""
        store = wiring.open_store(self.place, clock=self.time())
        try:
            yield store
        finally:
            store.close()

    def space_in(self, store: Store, name: str | None) -> Memories:
        embedder = wiring.open_embedder("default")
        return Memories.of(
            store, name or "default", clock=self.time(), embedder=embedder, ids=lambda: next(self.ids)
        )


def recorded() -> str:
    """The commands and their output, with the colours of a terminal."""
    said = []
    with _store() as (place, clock):
        call = _Call(space="default", clock=clock)
        call.place = place
        call.ids = iter(_IDS)
        for days, words in COMMANDS:
            clock.advance(days=days)
            output = _run(list(words), call)
            typed = " ".join(f'"{word}"' if " " in word else word for word in words)
            said.append(f"\x1b[32m$\x1b[0m \x1b[1mholdfast {typed}\x1b[0m\n{output}")
    return "\n".join(said)


def _run(words: list[str], call: Call) -> str:
    recipient = Recipient(columns=WIDTH, colour=True, draws_colour=True, encoding="utf-8", program="holdfast")
    before = RECIPIENT.set(recipient)
    try:
        code = cli.carried_out(words, call, prog_name="holdfast")
    finally:
        RECIPIENT.reset(before)
    assert code == 0, (words, recipient.errors)
    return "".join(recipient.output)


@contextmanager
def _store() -> Iterator[tuple[str, FixedClock]]:
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "holdfast.db"), FixedClock()


def picture() -> str:
    """The same as SVG."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text.from_ansi(recorded()))
    return console.export_svg(title="", code_format=_SVG, unique_id="terminal")


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
