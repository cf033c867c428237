"""What was said, in the form that the finder compares with memories: the passage, then its context."""

from dataclasses import dataclass

_AROUND = 200  # characters before and behind, in the same message
_BEFORE = 160  # of the message before


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A passage of a message that may make a memory outdated."""

    role: str
    text: str
    start: int
    end: int
    before: str = ""  # the message before

    @property
    def part(self) -> str:
        return self.text[self.start : self.end].strip()

    def told(self) -> str:
        """The passage, the message around it, and the end of the message before."""
        part = self.part
        around = self.text[max(self.start - _AROUND, 0) : self.end + _AROUND].strip()
        last = self.before[-_BEFORE:].strip()
        lines = [part, f"{self.role}: {around}" if around != part else self.role, last]
        return "\n".join(line for line in lines if line)
