"""Logins of MCP servers outside of a call: a person wants one, or wants it forgotten.

The page of a login is put to the person of the session that is open, as it is during a call.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness_tui.core.calls import AskPerson
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.mcp.people import asked_by
from harness_tui.mcp.token_store import TokenStore

if TYPE_CHECKING:
    from harness_tui.config.settings import McpServerSettings
    from harness_tui.core.seams import AuditSink
    from harness_tui.workspace.workspace import Workspace


class ServerLogins:
    """The logins of one workspace. ``ask`` puts a page to the person, ``None`` where there is nobody."""

    def __init__(self, workspace: Workspace, ask: AskPerson | None) -> None:
        self._workspace = workspace
        self._ask = ask

    async def restart(self, name: str) -> None:
        """Start a server afresh; one that wants a login shows its page. Raises ``HarnessError``."""
        with asked_by(self._ask):
            await self._workspace.mcp.restart(name)

    async def log_in(self, name: str) -> str:
        """Log in and say so. Raises ``HarnessError`` with the reason when no login came about."""
        self._entry(name)
        with asked_by(self._ask):
            status = await self._workspace.mcp.restart(name)
        if status.state != "ready":
            mend = "`harness mcp doctor` looks at it" if status.state == "failed" else None
            raise HarnessError(status.reason or f"it is {status.state}", where=name, mend=mend)
        return f"logged in to {name}"

    async def log_out(self, name: str) -> str:
        """Forget the login on this machine and say so; the server is asked again, without it."""
        self._entry(name)
        workspace = self._workspace
        told = await asyncio.to_thread(forget, TokenStore(workspace.places.logins_file), name, workspace.audit)
        with asked_by(None), contextlib.suppress(HarnessError):  # one that may not start needs not be asked
            await workspace.mcp.restart(name)
        return told

    def _entry(self, name: str) -> McpServerSettings:
        servers = self._workspace.loaded.settings.mcp
        entry = servers.get(name)
        if entry is None:
            raise UsageError(
                f"there is no MCP server {name!r}", mend=f"servers: {', '.join(sorted(servers)) or 'none'}"
            )
        if not entry.url:
            raise UsageError(f"{name} is started here and has no login", mend="its env holds what it needs")
        return entry


def forget(store: TokenStore, name: str, audit: AuditSink) -> str:
    """Remove the login of ``name`` from ``store``, record it, and say what came of it. Does file work."""
    place = urlsplit(store.address(name) or "").netloc
    if not store.remove(name):
        return f"there was no login of {name}"
    audit.record("mcp_auth", server=name, event="logout", host=place)
    return f"forgot the login of {name}; where its provider lists devices, it can be ended there too"
