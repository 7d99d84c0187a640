"""What is wrong with models, keys and providers, for ``harness doctor``: each with its place and its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness_tui.config.problems import Problem
from harness_tui.config.settings import Settings
from harness_tui.core.errors import HarnessError
from harness_tui.models import local_engine
from harness_tui.models.key_store import KeyStore
from harness_tui.models.registry import ModelRegistry
from harness_tui.models.targets import Targets, gguf_fault


def model_faults(settings: Settings, registry: ModelRegistry) -> list[Problem]:
    """Return everything that is wrong. Reads files and may ask a keyring: call it in a thread."""
    found = [*_of_providers(settings, registry.targets), *_of_names(settings, registry)]
    if registry.keys is not None:
        found += _of_keys(registry.keys, registry)
    return found


def _of_providers(settings: Settings, targets: Targets) -> Iterator[Problem]:
    for provider in settings.providers.values():
        where = provider.source or f"providers.{provider.name}"
        if (fault := targets.fault(provider)) is not None:
            yield Problem(where, "provider", f"the provider {provider.name!r} cannot be used: {fault}")
        elif provider.kind == "local" and not local_engine.installed():
            message = f"the provider {provider.name!r} needs the extra 'local', which is not installed"
            yield Problem(where, "missing-extra", message, local_engine.INSTALL)
        elif provider.kind == "local":
            for name, limits in provider.models.items():
                if (fault := gguf_fault(Path(limits.path or ""))) is not None:
                    mend = "name the file of a model in GGUF format"
                    yield Problem(where, "model-file", f"the model {provider.name}/{name}: {fault}", mend)


def _of_names(settings: Settings, registry: ModelRegistry) -> Iterator[Problem]:
    """Look at every place that names a model: one that is chosen must be there, others may yet come."""
    named = {"model": settings.model, "small_model": settings.small_model}
    for key, name in named.items():
        if name is not None and (fault := registry.fault(name)) is not None:
            level = "error" if key == "model" else "warning"
            yield Problem(key, "model", f"{name} cannot be used: {fault.what}", fault.mend, level)
    for agent in settings.agents.values():
        if agent.model is not None and (fault := registry.fault(agent.model)) is not None:
            if fault.code == "no-model":  # ``main`` or ``small`` where nothing is configured: told once, elsewhere
                continue
            message = f"the agent {agent.name!r} names the model {agent.model}, which cannot be used: {fault.what}"
            yield Problem(agent.source, "model", message, fault.mend, "warning")


def _of_keys(keys: KeyStore, registry: ModelRegistry) -> Iterator[Problem]:
    try:
        stored = keys.all()
    except HarnessError as error:
        yield Problem(error.where or keys.path, error.code, error.what, error.mend)
        return
    if keys.wide_open():
        message = "others than you may read this file, which holds keys"
        yield Problem(keys.path, "keys-mode", message, f"chmod 600 {keys.path}", "warning")
    for provider, kept in stored.items():
        if kept.kept == "keyring":
            try:
                keys.key(provider)
            except HarnessError as error:
                yield Problem("keyring", error.code, f"the key of {provider}: {error.what}", error.mend, "warning")
        address = registry.address(provider)
        if address and not kept.fits(address):
            message = f"the stored key of {provider} is for {kept.base_url}, and the provider is at {address} now"
            yield Problem(keys.path, "keys-address", message, f"harness auth add {provider}", "warning")
