"""Which providers have a key and where it comes from, for people: nothing of any key is in here."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from harness_tui.config.settings import Settings
from harness_tui.core.errors import UsageError
from harness_tui.core.record import record
from harness_tui.models.failures import shown_url
from harness_tui.models.key_store import KeyStore, origin
from harness_tui.models.providers import KEY_PROVIDERS, address_of, configured


@record
class KeyRow:
    """One key. ``source`` names a variable, ``file:line`` of the configuration, ``keyring`` or the file.

    ``address`` is where it goes, ``why`` says why it is not the one ``in_use``.
    """

    provider: str
    source: str
    in_use: bool
    address: str
    added: str | None = None
    why: str | None = None


def address(provider: str, settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the address that a key of ``provider`` would be sent to. Raises ``UsageError`` for an unknown one."""
    own = settings.providers.get(provider)
    if own is not None:
        if own.kind == "local":
            raise UsageError(f"{provider!r} is a file on this machine and needs no key", where=own.source)
        return configured(own, {}).base_url
    for entry in KEY_PROVIDERS:
        if entry.name == provider:
            return address_of(entry, environ)
    if (reason := settings.unusable.get(f"providers.{provider}")) is not None:
        raise UsageError(f"the provider {provider!r} cannot be used: {reason}", where=f"providers.{provider}")
    known = [*(entry.name for entry in KEY_PROVIDERS), *settings.providers]
    near = difflib.get_close_matches(provider, known, n=1)
    mend = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}; others go into config.yaml first"
    raise UsageError("there is no such provider", where=provider, mend=mend, code="unknown-provider")


def checked_key(given: str, where: str, mend: str) -> str:
    """Return the key in what somebody gave. Raises ``UsageError``, which never shows it, for what is none."""
    key = given.strip()
    if not key:
        raise UsageError("there is no key", where=where, mend=mend)
    if not key.isascii() or any(character.isspace() or not character.isprintable() for character in key):
        alone = "give the key alone, on one line"
        raise UsageError("a key holds no blanks and no special characters", where=where, mend=alone)
    return key


def list_keys(settings: Settings, environ: Mapping[str, str], keys: KeyStore) -> list[KeyRow]:
    """Return every key that there is, the one in use first for each provider. Raises ``HarnessError``."""
    stored = keys.all()
    names = [*(entry.name for entry in KEY_PROVIDERS), *settings.providers, *stored]
    return [row for name in dict.fromkeys(names) for row in _of(name, settings, environ, keys)]


def _of(name: str, settings: Settings, environ: Mapping[str, str], keys: KeyStore) -> Iterator[KeyRow]:
    own = settings.providers.get(name)
    entry = next((entry for entry in KEY_PROVIDERS if entry.name in (own.kind if own else name, name)), None)
    there = configured(own, {}).base_url if own else address_of(entry, environ) if entry else ""
    shown = shown_url(there)
    used = False
    if own is not None and own.api_key is not None:
        used = True
        yield KeyRow(name, own.source or "config.yaml", True, shown)
    for variable in entry.keys if entry is not None else ():
        if not environ.get(variable, "").strip():
            continue
        # A key of the environment goes to its own provider only, never to an address that a file names.
        elsewhere = own is not None and own.base_url is not None
        why = "the configuration names another address" if elsewhere else "another one comes first" if used else None
        yield KeyRow(name, variable, why is None, shown, why=why)
        used = used or why is None
    kept = keys.all().get(name)
    if kept is not None:
        source = "keyring" if kept.kept == "keyring" else keys.path
        why = None if there else "there is no such provider here"
        if there and not kept.fits(there):
            why = f"the provider is at {origin(there)} now"
        elif used:
            why = "another one comes first"
        yield KeyRow(name, source, why is None, shown_url(kept.base_url), kept.added, why)
