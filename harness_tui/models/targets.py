"""From a model's name to what a request needs: which provider, where, with which limits, or why not.

Cheap: nothing is imported, no server is asked, and a stored key is not fetched.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness_tui.config.settings import PROVIDER_KINDS, ModelLimits, ProviderSettings, Settings
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.paths import expand
from harness_tui.core.record import record
from harness_tui.models import offline
from harness_tui.models.endpoint import Endpoint, check_endpoint
from harness_tui.models.key_store import KeyStore, StoredKey
from harness_tui.models.providers import (
    KEY_PROVIDERS,
    KeyProvider,
    LocalProvider,
    configured,
    hosted,
    local,
    no_key,
)

REPLAY: Final = "replay:"
LOCAL_FILE: Final = "local:"
ROLES: Final = ("main", "small")
"""Names for what ``model`` and ``small_model`` of the configuration say."""


@record
class Target:
    """A model that can be asked: at an ``endpoint``, or for kind ``local`` the GGUF file ``path``."""

    name: str
    model: str
    limits: ModelLimits
    endpoint: Endpoint
    path: Path | None = None


class Targets:
    """Finds models by name. ``start`` is what relative paths are read against."""

    def __init__(
        self,
        settings: Settings,
        *,
        start: Path,
        environ: Mapping[str, str],
        keys: KeyStore | None,
        local_providers: Sequence[LocalProvider],
    ) -> None:
        self.settings = settings
        self.environ = environ
        self.local = {provider.name: provider for provider in local_providers}
        self._start = start
        self._keys = keys

    def stored(self) -> Mapping[str, StoredKey]:
        """Return the stored keys; a damaged file counts as none here, ``harness doctor`` tells it."""
        try:
            return self._keys.all() if self._keys is not None else {}
        except HarnessError:
            return {}

    def role(self, name: str) -> str | None:
        """Return the model that ``main`` or ``small`` stands for; ``small`` is ``main`` where nothing else is."""
        main, small = self.settings.model, self.settings.small_model
        named = main if name == "main" else small
        if named is not None and named not in ROLES:
            return named
        if (found := self._alias(name)) is not None:
            return found
        return self.role("main") if name == "small" else None

    def find(self, name: str) -> Target:
        """Return the model of ``provider/model``, of an alias, or of ``local:FILE``. Raises ``UsageError``."""
        if name.startswith(LOCAL_FILE):
            path = self.file(name, LOCAL_FILE)
            return Target(name, path.name, ModelLimits(), Endpoint("local", "", source=name, kind="local"), path)
        provider, slash, model = name.partition("/")
        if slash and model:
            target = self._of_provider(provider, model)
            if target is not None:
                return target
        found = self._by_alias(name)
        if found is not None:
            return found
        raise self._unknown(name, provider if slash else None)

    def file(self, name: str, prefix: str) -> Path:
        """Return the absolute path of the file that ``name`` names after its ``prefix``. Raises ``UsageError``."""
        file = name.removeprefix(prefix).strip()
        if not file:
            what, example = ("a replay model names a script", "replay:script.yaml")
            if prefix == LOCAL_FILE:
                what, example = ("a local model names a GGUF file", "local:models/model.gguf")
            raise UsageError(what, where=name, mend=f"write it like {example}")
        try:
            return expand(file, self._start)
        except HarnessError as error:
            raise UsageError(error.what, where=name) from error

    def fault(self, provider: ProviderSettings) -> str | None:
        """Say why a configured provider cannot be used, ``None`` when it can."""
        if provider.kind not in PROVIDER_KINDS:
            known = ", ".join(PROVIDER_KINDS)
            return f"provider {provider.name!r} has the unknown kind {provider.kind!r}, known are {known}"
        if provider.kind == "local":
            return None
        try:
            check_endpoint(configured(provider, self.environ, self.stored()))
        except UsageError as error:
            return error.what
        return None

    def hosted(self, entry: KeyProvider) -> Endpoint | None:
        """Return the endpoint of a well-known provider, ``None`` where there is no key."""
        return hosted(entry, self.environ, self.stored())

    def no_key(self, entry: KeyProvider) -> str:
        """Say why there is no key of a well-known provider."""
        return no_key(entry, self.environ, self.stored())

    # --- parts -------------------------------------------------------------------------------------

    def _of_provider(self, provider: str, model: str) -> Target | None:
        settings = self.settings.providers.get(provider)
        if settings is not None:
            return self._configured(settings, model)
        reason = self.settings.unusable.get(f"providers.{provider}")
        if reason is not None:
            raise UsageError(f"the provider {provider!r} cannot be used: {reason}", where=f"providers.{provider}")
        for entry in KEY_PROVIDERS:
            if entry.name == provider:
                endpoint = self.hosted(entry)
                if endpoint is None:
                    raise UsageError(
                        f"there is no key for {provider}: {self.no_key(entry)}",
                        where=f"{provider}/{model}",
                        mend=key_remedy(entry),
                    )
                return Target(f"{provider}/{model}", model, ModelLimits(), endpoint)
        if provider in self.local:
            return Target(f"{provider}/{model}", model, ModelLimits(), local(self.local[provider]))
        return None

    def _configured(self, settings: ProviderSettings, model: str) -> Target | None:
        if (why := self.fault(settings)) is not None:
            raise UsageError(why, where=settings.source or settings.name)
        limits = settings.models.get(model)
        for full, candidate in settings.models.items():
            if limits is None and model in candidate.aliases:
                model, limits = full, candidate
        if limits is None and (settings.models or settings.kind == "local"):
            return None
        limits = limits or ModelLimits()
        endpoint = configured(settings, self.environ, self.stored())
        path = Path(limits.path) if limits.path else None
        return Target(f"{settings.name}/{model}", model, limits, endpoint, path)

    def _alias(self, name: str) -> str | None:
        found = self._called(name)
        return "/".join(found[0]) if len(found) == 1 else None

    def _called(self, name: str) -> list[tuple[str, str]]:
        return [
            (provider, model)
            for provider, settings in self.settings.providers.items()
            for model, limits in settings.models.items()
            if name == model or name in limits.aliases
        ]

    def _by_alias(self, name: str) -> Target | None:
        """Find a configured model by its bare name or alias, when only one is called so."""
        found = self._called(name)
        if len(found) > 1:
            names = ", ".join(f"{provider}/{model}" for provider, model in found)
            raise UsageError(f"several models are called so: {names}", where=name, mend="give the provider too")
        return self._of_provider(*found[0]) if found else None

    def _names(self) -> Iterable[str]:
        for provider in self.settings.providers.values():
            for model, limits in provider.models.items():
                yield f"{provider.name}/{model}"
                yield from limits.aliases
        yield from (f"{entry.name}/{entry.model}" for entry in KEY_PROVIDERS)
        yield offline.NAME

    def _unknown(self, name: str, provider: str | None) -> UsageError:
        near = difflib.get_close_matches(name, list(self._names()), n=3, cutoff=0.5)
        providers = [*self.settings.providers, *(entry.name for entry in KEY_PROVIDERS), *self.local]
        if provider is not None and provider not in providers:
            what = f"there is no provider {provider!r}"
            near += [f"{close}/..." for close in difflib.get_close_matches(provider, providers, n=1)]
        else:
            what = "there is no such model"
        mend = (
            f"did you mean {' or '.join(near)}?"
            if near
            else f"providers are {', '.join(providers)}; see 'harness models list'"
        )
        return UsageError(what, where=name, mend=mend, code="unknown-model")


def key_remedy(entry: KeyProvider) -> str:
    """Say how to give a well-known provider its key."""
    return f"set {' or '.join(entry.keys)}, or run: harness auth add {entry.name}"


def gguf_fault(path: Path) -> str | None:
    """Say why ``path`` cannot be a GGUF file, ``None`` when it may be one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO must not hang
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}"
    try:
        good = stat.S_ISREG(os.fstat(descriptor).st_mode) and os.read(descriptor, 4) == b"GGUF"
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}"
    finally:
        os.close(descriptor)
    return None if good else f"{path} is no GGUF file"
