"""The SDK, imported once, in a thread, without its half for servers, with its logging turned inwards.

Importing it costs half a second, so nothing that the start path loads may do it. Its client imports servers and what
serves HTTP, only to connect to one in the same process, which nobody does here: that third of it is left out. Its
loggers would otherwise print to the standard error that a terminal application draws on; what they say is told by
states, reasons and notices.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import threading
import warnings
from functools import partial
from typing import TYPE_CHECKING, Final

from harness_tui.core.foreground import KeysFirst
from harness_tui.core.lean_imports import forget_stand_ins, import_lean, no_pauses

if TYPE_CHECKING:
    from harness_tui.mcp.connection import Connection

_LOGGERS: Final = ("mcp", "mcp_types", "httpx2", "httpcore2", "client")
UNUSED: Final = ("mcp.server",)
"""Packages of the SDK that a client has no use for."""
OVER_HTTP: Final = ("harness_tui.mcp.streamable", "harness_tui.mcp.authorisation")
"""What only servers behind a URL need: cryptography for their logins is a seventh of the memory of an idle shell."""
_importing: Final = threading.Lock()


def _quieten() -> None:
    # Who leaves oauth.issuer out is told so by the documentation; a warning would be drawn over the screen.
    warnings.filterwarnings("ignore", message="Omitting `issuer` is deprecated")
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _import_client() -> None:
    _quieten()
    with no_pauses(), KeysFirst():
        import_lean(partial(importlib.import_module, "mcp"), library="mcp", unused=UNUSED)
        forget_stand_ins("mcp")
        importlib.import_module("harness_tui.mcp.connection")


def _import_http() -> None:
    with no_pauses(), KeysFirst():
        for name in OVER_HTTP:
            importlib.import_module(name)


def _connection_class(over_http: bool) -> type[Connection]:
    with _importing:  # servers start at once, each of them in a thread
        if "harness_tui.mcp.connection" not in sys.modules:
            _import_client()
        if over_http and not all(name in sys.modules for name in OVER_HTTP):
            _import_http()
        from harness_tui.mcp.connection import Connection

    return Connection


async def load(*, over_http: bool = False) -> type[Connection]:
    """Return the class ``connection.Connection``, importing it (and the SDK) in a thread at the first call.

    With ``over_http`` what servers behind a URL need besides is there afterwards.
    """
    return await asyncio.to_thread(_connection_class, over_http)
