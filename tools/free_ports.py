"""Prints the first of so many free ports in a row: `python tools/free_ports.py 3`."""

import socket
import sys
from contextlib import ExitStack
from itertools import count


def first_of(amount: int) -> int:
    """The first port of a row of free ones on loopback, from a place that the system chooses."""
    with socket.socket() as any_free:
        any_free.bind(("127.0.0.1", 0))
        begin: int = any_free.getsockname()[1] % 20_000 + 20_000
    return next(port for port in count(begin, amount) if _are_free(range(port, port + amount)))


def _are_free(ports: range) -> bool:
    with ExitStack() as held:
        try:
            for port in ports:
                held.enter_context(socket.socket()).bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    sys.stdout.write(f"{first_of(int(sys.argv[1]))}\n")
