"""Logins of MCP servers on disk: tokens, the registration of this client, and where the server's logins are given.

One file (0600, written whole, under a lock). An entry belongs to one address and to one holder (a person, or a client
by its grant): an entry of the configuration that points a name elsewhere, or asks in another's name, finds nothing.
Whatever is read or written is redacted everywhere from then on.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.locking import locked
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic
from harness_tui.core.redaction import REDACTOR

_FORMAT: Final = 1
_SECRETS: Final = ("access_token", "refresh_token", "client_secret", "key")
PERSON: Final = ""
"""The holder of a login that a person does in their browser."""


class TokenStore:
    """All logins of one person. Every method does file work: call them in a thread. Raise ``HarnessError``."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.lock = file.with_name("locks") / "mcp-logins.lock"

    def read(self, server: str, url: str, holder: str = PERSON) -> dict[str, Any]:
        """Return what is known of ``server`` at ``url`` for ``holder``; empty for nothing."""
        entry = self._all().get(server)
        if entry is None or not _is_for(entry, url, holder):
            return {}
        _redact(entry)
        return entry

    def write(self, server: str, url: str, holder: str = PERSON, **parts: Any) -> None:
        """Keep parts: ``tokens``, ``client``, ``metadata``, ``resource``, ``dpop``; ``None`` removes one."""
        _redact(parts)
        with locked(self.lock):
            entries = self._all()
            entry = entries.get(server)
            kept = entry if entry is not None and _is_for(entry, url, holder) else {}
            merged = {**kept, **parts, "url": url, "holder": holder or None}
            if parts.get("tokens") is not None:
                merged["received"] = time.time()
            entries[server] = {name: value for name, value in merged.items() if value is not None}
            self._save(entries)

    def address(self, server: str) -> str | None:
        """Return the address that the login of ``server`` was given for."""
        return self._all().get(server, {}).get("url")

    def remove(self, server: str) -> bool:
        """Forget the login of ``server``; tell whether there was one."""
        with locked(self.lock):
            entries = self._all()
            if entries.pop(server, None) is None:
                return False
            self._save(entries)
            return True

    def _save(self, entries: dict[str, Any]) -> None:
        make_private_folder(self._file.parent)
        text = json.dumps({"format": _FORMAT, "servers": entries}, indent=1)
        write_atomic(self._file, text.encode("utf-8"), mode=0o600)

    def _all(self) -> dict[str, dict[str, Any]]:
        try:
            data: object = json.loads(read_regular(self._file, max_bytes=MIB))
        except HarnessError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return {}
            raise
        except ValueError as error:
            raise self._damaged(f"it is no JSON: {error}") from error
        fields = cast(dict[str, Any], data) if isinstance(data, dict) else {}
        servers: object = fields.get("servers")
        if fields.get("format") != _FORMAT or not isinstance(servers, dict):
            raise self._damaged("it has another form than this version writes")
        entries = cast(dict[str, Any], servers)
        return {name: cast(dict[str, Any], entry) for name, entry in entries.items() if isinstance(entry, dict)}

    def _damaged(self, why: str) -> HarnessError:
        mend = "move it away; servers ask for a login again then"
        return HarnessError(f"the logins of MCP servers cannot be read: {why}", where=str(self._file), mend=mend)


def _is_for(entry: dict[str, Any], url: str, holder: str) -> bool:
    return (entry.get("url"), entry.get("holder", PERSON)) == (url, holder)


def seconds_left(entry: dict[str, Any]) -> float | None:
    """Return how long the token of ``entry`` is valid, negative for an old one, ``None`` where it does not say."""
    tokens, received = entry.get("tokens"), entry.get("received")
    lasts: object = tokens.get("expires_in") if isinstance(tokens, dict) else None
    if not isinstance(lasts, (int, float)) or not isinstance(received, (int, float)):
        return None
    return received + lasts - time.time()


def _redact(parts: dict[str, Any]) -> None:
    for part in parts.values():
        for name in _SECRETS if isinstance(part, dict) else ():
            value: object = part.get(name)
            if isinstance(value, str):
                REDACTOR.add(value)
