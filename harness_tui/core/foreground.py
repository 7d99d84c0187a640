"""Who goes first: a person's key, before work in a thread that can wait.

The interpreter runs one thread at a time and knows no priorities, so a long import beside the loop doubles what a key
costs. Whoever reads keys says so here; whoever works in pieces lets them pass between two pieces.
"""

from __future__ import annotations

import sys
import threading
import time
from importlib.abc import MetaPathFinder
from typing import Final

_HOLD_S: Final = 0.025
"""A key is read, handled and drawn within it on a quiet machine."""
_LONGEST_S: Final = 0.1
"""One piece never waits longer: a key that is held down must not stop the work."""

_until = 0.0


def key_arrived() -> None:
    """Say that a person waits for an answer on the screen. Costs under a microsecond; any thread."""
    global _until
    _until = time.monotonic() + _HOLD_S


def let_keys_pass() -> None:
    """Wait in a worker thread while a key is being handled, at most a tenth of a second."""
    last = time.monotonic() + _LONGEST_S
    while (now := time.monotonic()) < min(_until, last):
        time.sleep(min(_until, last) - now)


class KeysFirst(MetaPathFinder):
    """While entered, lets keys pass before each module that this thread imports. As a finder it finds nothing.

    For libraries that take a second to import; ``with KeysFirst(): import it``. Nests; other threads do not notice.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, *_: object) -> None:
        """Wait if need be; another finder knows the module."""
        if threading.get_ident() == self._thread:
            let_keys_pass()

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)
