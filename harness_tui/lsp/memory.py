"""Language servers that have grown too large are started anew while nobody waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB

if TYPE_CHECKING:
    from harness_tui.lsp.client import Client

_AGAIN_S: Final = 600.0
"""One that is too large again so soon needs that much: it is left alone, and the person is told once."""

Tell = Callable[["Client", str, str], None]


class MemoryGuard:
    """Looks at servers with what they started. ``limit`` is in MiB, 0 for none; ``rest`` in seconds without a use."""

    def __init__(self, limit: int, rest: float, monotonic: Callable[[], float], tell: Tell) -> None:
        self._limit = limit
        self._rest = rest
        self._monotonic = monotonic
        self._tell = tell
        self._restarted: dict[tuple[str, Path], float] = {}
        self._told: set[tuple[str, Path]] = set()

    async def look(self, clients: Iterable[Client]) -> None:
        """Start those anew that are over the limit and have rested."""
        if self._limit <= 0:
            return
        for client in clients:
            connection = client.connection
            if connection is None or client.idle_for < self._rest:
                continue
            size = await connection.memory()
            if size > self._limit * MIB and client.connection is connection and client.idle_for >= self._rest:
                await self._take(client, size)

    async def _take(self, client: Client, size: int) -> None:
        name, key = client.spec.name, (client.spec.name, client.root)
        before, now = self._restarted.get(key), self._monotonic()
        more = f"lsp.memory_mb sets the limit, now {self._limit}; 0 is none"
        if before is not None and now - before < _AGAIN_S:
            if key not in self._told:
                self._told.add(key)
                self._tell(client, f"{name} uses {size // MIB} MiB again and is left alone", more)
            return
        self._restarted[key] = now
        self._tell(client, f"{name} used {size // MIB} MiB and was started anew", more)
        try:
            await client.restart()
        except (HarnessError, TimeoutError):
            return  # told by the start that failed
