"""Keys of providers that a person stored with ``harness auth add``: in a keyring, else in a file of theirs alone.

The file ``keys.json`` (0600, written whole, under a lock) says of each provider where its key is and which address it
was given for. A key goes to that address only: a configuration that points the provider elsewhere does not get it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from harness_tui.config.locking import locked
from harness_tui.config.places import Places
from harness_tui.core.clock import SystemClock, rfc3339
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic
from harness_tui.core.record import record
from harness_tui.core.redaction import REDACTOR
from harness_tui.models import keyring_store

Kept: TypeAlias = Literal["keyring", "file"]

_FORMAT: Final = 1


@record
class StoredKey:
    """Where the key of ``provider`` is, and the address that it is for. Never the key itself."""

    provider: str
    kept: Kept
    base_url: str
    added: str

    def fits(self, base_url: str) -> bool:
        """Tell whether ``base_url`` is at the address that the key was given for."""
        return origin(base_url) == origin(self.base_url)


def origin(url: str) -> str:
    """Return scheme, host and port of ``url``, for comparing and showing; ``""`` for no address."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
        return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}" if parts.hostname else ""
    except ValueError:
        return ""


class KeyStore:
    """The keys of one person. Every method reads the file; call them in a thread, but :meth:`all` takes little."""

    def __init__(self, places: Places) -> None:
        self._path = places.keys_file
        self._lock = places.state / "locks" / "keys.lock"

    @property
    def path(self) -> str:
        """The file."""
        return str(self._path)

    def all(self) -> dict[str, StoredKey]:
        """Return what is stored, by provider. Raises ``HarnessError`` for a file that cannot be understood."""
        return {name: _stored(name, entry) for name, entry in self._read().items()}

    def key(self, provider: str) -> str:
        """Return the key of ``provider``, and have it redacted from now on. Raises ``HarnessError``."""
        entry = self._read().get(provider)
        if entry is None:
            raise HarnessError(f"no key of {provider} is stored", mend=f"harness auth add {provider}", code="no-key")
        key = keyring_store.read(provider) if entry["kept"] == "keyring" else str(entry["key"])
        REDACTOR.add(key)
        return key

    def add(self, provider: str, key: str, base_url: str, *, kept: Kept | None = None) -> StoredKey:
        """Store ``key`` in the place of an older one: in ``kept``, else in a keyring where there is one that works.

        Raises ``HarnessError``; nothing is changed then.
        """
        REDACTOR.add(key)
        if kept is None:
            kept = "keyring" if keyring_store.usable() is not None and _in_keyring(provider, key) else "file"
        elif kept == "keyring":
            if keyring_store.usable() is None:
                mend = "keep the key in a file: --store file"
                raise HarnessError("there is no keyring that can be used", where="keyring", mend=mend, code="keyring")
            keyring_store.write(provider, key)
        entry = {"kept": kept, "base_url": base_url, "added": rfc3339(SystemClock().now())}
        old = self._change(lambda keys: keys.update({provider: entry | ({"key": key} if kept == "file" else {})}))
        if kept == "file" and old.get(provider, {}).get("kept") == "keyring":
            keyring_store.delete(provider)
        return _stored(provider, entry)

    def remove(self, provider: str) -> StoredKey | None:
        """Remove the key of ``provider`` and return where it was, ``None`` when there was none.

        Raises ``HarnessError`` when it is left in a keyring; it is not used any more then.
        """
        entry = self._change(lambda keys: keys.pop(provider, None)).get(provider)
        if entry is None:
            return None
        if entry["kept"] == "keyring":
            try:
                keyring_store.delete(provider)
            except HarnessError as error:
                raise HarnessError(
                    f"the key of {provider} is not used any more, but it is still in the keyring: {error.what}",
                    where="keyring",
                    mend=f"remove it there: service {keyring_store.SERVICE}, name {provider}",
                    code="keyring",
                ) from error
        return _stored(provider, entry)

    def wide_open(self) -> bool:
        """Tell whether others than the person may read the file."""
        try:
            return bool(self._path.stat().st_mode & 0o077)
        except OSError:
            return False

    def _change(self, change: Callable[[dict[str, dict[str, Any]]], object]) -> dict[str, dict[str, Any]]:
        """Change the entries under the lock, and return what they were before."""
        with locked(self._lock):
            before = self._read()
            after = dict(before)
            change(after)
            if after != before:
                text = json.dumps({"version": _FORMAT, "keys": after}, indent=1)
                try:
                    make_private_folder(self._path.parent)
                    write_atomic(self._path, text.encode(), mode=0o600)
                except OSError as error:
                    message = f"the file cannot be written: {error.strerror or error}"
                    raise HarnessError(message, where=self.path, code="unwritable") from error
        return before

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self._path.exists():
            return {}
        try:
            data: Any = json.loads(read_regular(self._path, max_bytes=MIB))
            keys = cast(dict[str, dict[str, Any]], data["keys"])
            good = data["version"] == _FORMAT and all(map(_is_entry, keys.values()))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            good, keys = False, {}
        if not good:
            mend = "move it away and add the keys again"
            raise HarnessError("the stored keys cannot be understood", where=self.path, mend=mend, code="keys")
        return keys


def _in_keyring(provider: str, key: str) -> bool:
    try:
        keyring_store.write(provider, key)
    except HarnessError:  # locked or broken: the file does as well, and whoever adds it is told where it is
        return False
    return True


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    fields = cast(dict[str, Any], entry)
    wanted = ["base_url", "added", *(["key"] if fields.get("kept") == "file" else [])]
    return fields.get("kept") in ("keyring", "file") and all(isinstance(fields.get(name), str) for name in wanted)


def _stored(provider: str, entry: dict[str, Any]) -> StoredKey:
    return StoredKey(provider, entry["kept"], entry["base_url"], entry["added"])
