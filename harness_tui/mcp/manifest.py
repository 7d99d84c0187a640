"""Cached manifests: what lazy servers offer, known before they run.

One file a server, named by a fingerprint over everything that makes it the server that it is, so that a changed entry
never shows the old entry's tools. Secrets of the entry enter the hash only. A damaged file counts as absent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.codec import decode, encode
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MCP_MESSAGE_BYTES
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic
from harness_tui.core.record import record
from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.mcp.listing import Listing

FORMAT: Final = 3
"""Goes up when the file's shape changes; other formats count as absent."""


@record
class Manifest:
    """One cached file."""

    format: int
    server: str
    listing: Listing


def fingerprint(server: McpServerSettings, root: Path) -> str:
    """Return the SHA-256 of what is started or connected to. ``root`` counts where the working folder depends on it."""
    parts = {
        "command": list(server.command),
        "env": server.env,
        "inherit": sorted(server.inherit),
        "cwd": str(root / (server.cwd or ".")),
        "url": server.url,
        "headers": server.headers,
        "transport": server.transport,
        "server_name": server.server_name,
    }
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class ManifestCache:
    """The folder of cached manifests. Its methods do file work: call them in a thread."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._folder = folder
        self._root = root

    def path(self, server: McpServerSettings) -> Path:
        """Return where the manifest of ``server`` is kept."""
        return self._folder / f"{fingerprint(server, self._root)}.json"

    def load(self, server: McpServerSettings) -> Listing | None:
        """Return what was cached for ``server``, or ``None``."""
        try:
            data = json.loads(read_regular(self.path(server), max_bytes=MCP_MESSAGE_BYTES))
            manifest = decode(Manifest, data, server.name)
        except (HarnessError, ValueError, RecursionError):  # absent, damaged, or of another version
            return None
        if manifest.format != FORMAT:
            return None
        listing = manifest.listing
        return replace(listing, tools=tuple(tool.weighed() for tool in listing.tools))

    def save(self, server: McpServerSettings, listing: Listing) -> None:
        """Keep ``listing``, readable by its owner only. Raises ``OSError``."""
        make_private_folder(self._folder)
        data = json.dumps(encode(Manifest(FORMAT, server.name, listing)), ensure_ascii=True)
        write_atomic(self.path(server), data.encode("ascii"), mode=0o600)

    def forget(self, server: McpServerSettings) -> None:
        """Remove the cached manifest of ``server``. Raises ``OSError``."""
        self.path(server).unlink(missing_ok=True)


def known_skills(servers: Mapping[str, McpServerSettings], folder: Path, root: Path) -> list[RemoteSkill]:
    """Return the skills of ``servers`` as each told them last, by server, then label. Starts nothing; reads files."""
    cache = ManifestCache(folder, root)
    able = (servers[name] for name in sorted(servers))
    listings = (cache.load(server) for server in able if server.enabled and server.trusted and server.error is None)
    return [skill for listing in listings if listing is not None for skill in listing.skills]
