"""Tells when a process itself has exited, whatever still holds its pipes.

``asyncio``'s own ``Process.wait()`` also waits for the pipes: a grandchild that keeps one open would hold it for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable


def watch_exit(process: subprocess.Popen[bytes], on_exit: Callable[[int], None]) -> Callable[[], None]:
    """Call ``on_exit`` once on the running loop with the exit status (negative for a signal), after reaping.

    Returns a function that stops watching. Linux watches a descriptor of the process; elsewhere a thread waits.
    """
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return _watch_in_thread(process, on_exit, loop)

    def unwatch() -> None:
        nonlocal descriptor
        if descriptor >= 0:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            descriptor = -1

    def ready() -> None:
        status = process.poll()
        if status is not None:
            unwatch()
            on_exit(status)

    loop.add_reader(descriptor, ready)
    return unwatch


def _watch_in_thread(
    process: subprocess.Popen[bytes], on_exit: Callable[[int], None], loop: asyncio.AbstractEventLoop
) -> Callable[[], None]:
    watched = True

    def deliver(status: int) -> None:
        if watched:
            on_exit(status)

    def unwatch() -> None:
        nonlocal watched
        watched = False

    def wait() -> None:
        status = process.wait()
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
            loop.call_soon_threadsafe(deliver, status)

    threading.Thread(target=wait, name=f"exit of {process.pid}", daemon=True).start()
    return unwatch
