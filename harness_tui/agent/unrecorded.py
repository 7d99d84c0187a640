"""A session that leaves no record: calls by hand of the command line."""

from __future__ import annotations

from harness_tui.core.envelope import Envelope


class Unrecorded:
    """Takes a recorder's place in a session that leaves no record."""

    def listener(self, envelope: Envelope) -> None:
        """Let ``envelope`` go."""

    async def commit(self) -> None:
        """Return at once: there is nothing to wait for."""

    async def close(self) -> None:
        """Return at once."""
