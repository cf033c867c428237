"""What a browser is told next: that something was done or went wrong, and how to take it back."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Literal

Tone = Literal["done", "note", "wrong"]
_MOST: Final = 500  # browsers


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that takes it back: a form for `path`, with these fields."""

    label: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    text: str
    tone: Tone = "done"
    offer: Offer | None = None
    look: str = ""  # the address of what it is about


class Notices:
    """The latest notice for each browser, told once. Shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: OrderedDict[str, Notice] = OrderedDict()

    def put(self, browser: str, notice: Notice) -> None:
        with self._lock:
            self._latest[browser] = notice
            self._latest.move_to_end(browser)
            if len(self._latest) > _MOST:
                self._latest.popitem(last=False)

    def take(self, browser: str) -> Notice | None:
        with self._lock:
            return self._latest.pop(browser, None)
