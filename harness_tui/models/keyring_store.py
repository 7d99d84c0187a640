"""Keys in the keyring of the desktop or the system, where there is one that works.

A keyring may be missing, locked, or wait for a dialog that nobody sees. So each question is asked in a thread of its
own that is given up after a few seconds, and everything that goes wrong is a ``HarnessError`` that says what to do.
"""

from __future__ import annotations

import importlib
import importlib.util
import queue
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from harness_tui.core.errors import HarnessError

T = TypeVar("T")

SERVICE: Final = "harness"
WAIT_S: Final = 5.0
_LOWEST_PRIORITY: Final = 1.0
"""What the library asks of a keyring that is fit for use; those that keep plain text lie below."""


def installed() -> bool:
    """Tell whether the library is there (extra ``keyring``); imports nothing."""
    return importlib.util.find_spec("keyring") is not None


def usable(*, wait: float = WAIT_S) -> str | None:
    """Return the name of the keyring that would be used, ``None`` where there is none. Takes ``wait`` at most."""
    if not installed():
        return None
    try:
        return _bounded(_backend_name, wait)
    except HarnessError:
        return None


def read(provider: str, *, wait: float = WAIT_S) -> str:
    """Return the key of ``provider``. Raises ``HarnessError`` when it is not to be had."""
    key = _bounded(lambda: _library().get_password(SERVICE, provider), wait)
    if not isinstance(key, str) or not key:
        raise HarnessError(
            f"the keyring holds no key of {provider} any more",
            where="keyring",
            mend=f"add it again: harness auth add {provider}",
            code="keyring",
        )
    return key


def write(provider: str, key: str, *, wait: float = WAIT_S) -> None:
    """Keep ``key``, and look whether it can be read again. Raises ``HarnessError``."""

    def keep() -> bool:
        library = _library()
        library.set_password(SERVICE, provider, key)
        return library.get_password(SERVICE, provider) == key

    if not _bounded(keep, wait):
        raise _failed("it did not keep what it was given")


def delete(provider: str, *, wait: float = WAIT_S) -> None:
    """Remove the key of ``provider``; one that is not there is no fault. Raises ``HarnessError``."""

    def remove() -> None:
        library = _library()
        if library.get_password(SERVICE, provider) is not None:
            library.delete_password(SERVICE, provider)

    _bounded(remove, wait)


def _library() -> Any:
    return importlib.import_module("keyring")  # an extra: it need not be there


def _backend_name() -> str | None:
    backend = _library().get_keyring()
    return str(backend.name) if backend.priority >= _LOWEST_PRIORITY else None


def _bounded(work: Callable[[], T], wait: float) -> T:
    """Return what ``work`` gives within ``wait`` seconds; a thread that hangs is left to itself and ends with us."""
    if not installed():
        raise _failed("the package keyring is not installed")
    results: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            results.put((True, work()))
        except Exception as error:  # noqa: BLE001 - back ends raise what they like
            results.put((False, error))

    threading.Thread(target=run, name="keyring", daemon=True).start()
    try:
        good, value = results.get(timeout=wait)
    except queue.Empty:
        raise _failed(f"it did not answer within {wait:g} s") from None
    if good:
        return value
    raise _failed(type(value).__name__) from None  # its text may hold what it was given


def _failed(why: str) -> HarnessError:
    return HarnessError(
        f"the keyring cannot be used: {why}",
        where="keyring",
        mend="unlock it, or keep the key in a file: harness auth add PROVIDER --store file",
        code="keyring",
    )
