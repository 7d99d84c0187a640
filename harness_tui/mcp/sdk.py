"""The SDK, imported once, in a thread, with its logging turned inwards.

Importing it costs half a second and 55 MiB, so nothing that the start path loads may do it. Its loggers would otherwise
print to the standard error that a terminal application draws on; what they say is told by states, reasons and notices.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from harness_tui.core.foreground import KeysFirst

if TYPE_CHECKING:
    from harness_tui.mcp.connection import Connection

_LOGGERS: Final = ("mcp", "mcp_types", "httpx2", "httpcore2", "client")


def _quieten() -> None:
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _connection_class() -> type[Connection]:
    _quieten()
    with KeysFirst():
        from harness_tui.mcp.connection import Connection

    return Connection


async def load() -> type[Connection]:
    """Return the class ``connection.Connection``, importing it (and the SDK) in a thread at the first call."""
    return await asyncio.to_thread(_connection_class)
