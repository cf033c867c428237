"""A text as messages that Telegram takes: whole lines, each page within its limit."""

from collections.abc import Iterator

MOST = 4_096  # UTF-16 units, as Telegram counts: an emoji is two


def units(text: str) -> int:
    """How long Telegram takes `text` to be."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def pages(text: str, most: int = MOST) -> list[str]:
    """`text` in pages; lines stay whole unless one is longer than a page. Nothing but blanks gives none."""
    found: list[str] = []
    page: list[str] = []
    size = 0
    for line in _lines(text, most):
        length = units(line) + 1
        if page and size + length - 1 > most:
            found.append("\n".join(page))
            page, size = [], 0
        page.append(line)
        size += length
    found.append("\n".join(page))
    return [trimmed for each in found if (trimmed := each.strip("\n")).strip()]


def _lines(text: str, most: int) -> Iterator[str]:
    for line in text.split("\n"):
        while units(line) > most:
            end = _fitting(line, most)
            yield line[:end]
            line = line[end:]
        yield line


def _fitting(line: str, most: int) -> int:
    """How many characters of `line` fit, to the last space among them where there is one."""
    size = 0
    for end, character in enumerate(line):
        size += units(character)
        if size > most:
            return space + 1 if (space := line.rfind(" ", 0, end)) > 0 else end
    return len(line)
