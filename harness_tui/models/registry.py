"""Models by name: ``provider/model``, ``replay:FILE``, ``offline``, and what is used when nobody named one."""

from __future__ import annotations

import builtins
import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness_tui.config.settings import PROVIDER_KINDS, ModelLimits, ProviderSettings, Settings
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.paths import expand
from harness_tui.core.seams import Model
from harness_tui.models import detect as detection
from harness_tui.models import offline
from harness_tui.models.detect import Detected
from harness_tui.models.endpoint import Endpoint, check_endpoint
from harness_tui.models.openai_compatible import OpenAICompatibleModel
from harness_tui.models.providers import (
    KEY_PROVIDERS,
    LOCAL_PROVIDERS,
    LocalProvider,
    configured,
    first_chat,
    hosted,
    local,
    preferred,
)
from harness_tui.models.replay import ReplayModel

REPLAY: Final = "replay:"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model that could be named. ``context`` in tokens, ``why`` says why it is not ``available``."""

    name: str
    provider: str
    context: int | None = None
    aliases: tuple[str, ...] = ()
    available: bool = True
    why: str | None = None


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """The model that is used because nobody named one; ``notice`` tells the person which, and why."""

    model: Model
    notice: str


@dataclass(frozen=True, slots=True)
class _Target:
    endpoint: Endpoint
    model: str
    limits: ModelLimits


class ModelRegistry:
    """The models of one project, one instance each. ``replay:FILE`` is relative to ``project_start``."""

    def __init__(
        self,
        settings: Settings,
        *,
        project_start: Path,
        environ: Mapping[str, str],
        local_providers: Sequence[LocalProvider] = LOCAL_PROVIDERS,
    ) -> None:
        self._settings = settings
        self._start = project_start
        self._environ = environ
        self._local = {provider.name: provider for provider in local_providers}
        self._made: dict[str, Model] = {}

    def resolve(self, name: str | None = None) -> Model:
        """Return the model ``name``, or the configured one; reads a replay script, so call it in a thread.

        Raises ``UsageError`` with what is near for an unknown name, and with the ways to get a model (code
        ``no-model``) when none is named and none configured.
        """
        wanted = (name or self._settings.model or "").strip()
        if not wanted:
            raise UsageError("no model is configured", mend=offline.WAYS_TEXT, code="no-model")
        if wanted == offline.NAME:
            return self._kept(offline.NAME) or self._keep(offline.NAME, offline.OfflineModel())
        if wanted.startswith(REPLAY):
            path = self._script(wanted)
            key = REPLAY + os.path.realpath(path)
            return self._kept(key) or self._keep(key, ReplayModel.load(wanted, path))
        target = self._target(wanted)
        key = f"{target.endpoint.provider}/{target.model}"
        return self._kept(key) or self._keep(key, _make(target))

    def known(self, name: str) -> bool:
        """Tell whether :meth:`resolve` would find ``name``; a script is not read for it."""
        if name == offline.NAME:
            return True
        try:
            if name.startswith(REPLAY):
                return self._script(name).is_file()
            check_endpoint(self._target(name).endpoint)
        except HarnessError:
            return False
        return True

    def list(self) -> builtins.list[ModelInfo]:
        """Return what can be named: configured models, those of keys in the environment, the script, ``offline``."""
        found: builtins.list[ModelInfo] = []
        for provider in self._settings.providers.values():
            why = self._fault(provider)
            for model, limits in (provider.models or {"*": ModelLimits()}).items():
                found.append(
                    ModelInfo(
                        f"{provider.name}/{model}", provider.name, limits.context, limits.aliases, why is None, why
                    )
                )
        for entry in KEY_PROVIDERS:
            if entry.name not in self._settings.providers:
                there = hosted(entry, self._environ) is not None
                why = None if there else f"{' or '.join(entry.keys)} is not set"
                found.append(ModelInfo(f"{entry.name}/{entry.model}", entry.name, available=there, why=why))
        if (self._settings.model or "").startswith(REPLAY):
            name = str(self._settings.model)
            there = self.known(name)
            found.append(ModelInfo(name, "replay", available=there, why=None if there else "there is no such file"))
        return [*found, ModelInfo(offline.NAME, offline.NAME)]

    async def detect(self) -> builtins.list[Detected]:
        """Look for keys in the environment and for model servers on this machine; takes half a second at most where
        nobody answers."""
        return await detection.detect(self._environ, local_providers=tuple(self._local.values()))

    async def default(self) -> DefaultModel | None:
        """Return the model to use when none is named or configured, ``None`` when nothing was found.

        The first of anthropic, openai, google and the local servers; its list of models is asked for once.
        """
        found = await self.detect()
        if not found:
            return None
        chosen, others = found[0], found[1:]
        name = f"{chosen.provider}/{await self._best(chosen)}"
        because = f"its key is in {chosen.where}" if chosen.kind == "key" else f"its server answers at {chosen.where}"
        also = f"; also there: {', '.join(other.provider for other in others)}" if others else ""
        return DefaultModel(
            self.resolve(name),
            f"using {name}: no model is configured, and {because}{also} (choose with --model or /model)",
        )

    async def close(self) -> None:
        """Close the connections of every model."""
        for model in self._made.values():
            if isinstance(model, OpenAICompatibleModel):
                await model.close()

    # --- parts -------------------------------------------------------------------------------------

    async def _best(self, chosen: Detected) -> str:
        entry = next((entry for entry in KEY_PROVIDERS if entry.name == chosen.provider), None)
        if entry is None:
            return first_chat(chosen.models) or chosen.models[0]
        endpoint = hosted(entry, self._environ)
        models = await detection.listed(endpoint) if endpoint is not None else ()
        return preferred(entry, models) or entry.model

    def _kept(self, key: str) -> Model | None:
        return self._made.get(key)

    def _keep(self, key: str, model: Model) -> Model:
        return self._made.setdefault(key, model)

    def _script(self, name: str) -> Path:
        file = name.removeprefix(REPLAY).strip()
        if not file:
            raise UsageError("a replay model names a script", where=name, mend="write it like replay:script.yaml")
        try:
            return expand(file, self._start)
        except HarnessError as error:
            raise UsageError(error.what, where=name) from error

    def _target(self, name: str) -> _Target:
        provider, slash, model = name.partition("/")
        if slash and model:
            target = self._of_provider(provider, model)
            if target is not None:
                return target
        found = self._by_alias(name)
        if found is not None:
            return found
        raise self._unknown(name, provider if slash else None)

    def _of_provider(self, provider: str, model: str) -> _Target | None:
        settings = self._settings.providers.get(provider)
        if settings is not None:
            if (why := self._fault(settings)) is not None:
                raise UsageError(why, where=settings.source or provider)
            limits = settings.models.get(model)
            for full, candidate in settings.models.items():
                if limits is None and model in candidate.aliases:
                    model, limits = full, candidate
            if limits is None and settings.models:
                return None
            return _Target(configured(settings, self._environ), model, limits or ModelLimits())
        for entry in KEY_PROVIDERS:
            if entry.name == provider:
                endpoint = hosted(entry, self._environ)
                if endpoint is None:
                    raise UsageError(
                        f"there is no key for {provider}",
                        where=f"{provider}/{model}",
                        mend=f"set {' or '.join(entry.keys)}",
                    )
                return _Target(endpoint, model, ModelLimits())
        if provider in self._local:
            return _Target(local(self._local[provider]), model, ModelLimits())
        return None

    def _by_alias(self, name: str) -> _Target | None:
        """Find a configured model by its bare name or alias, when only one is called so."""
        found = [
            (provider, model)
            for provider, settings in self._settings.providers.items()
            for model, limits in settings.models.items()
            if name == model or name in limits.aliases
        ]
        if len(found) > 1:
            names = ", ".join(f"{provider}/{model}" for provider, model in found)
            raise UsageError(f"several models are called so: {names}", where=name, mend="give the provider too")
        return self._of_provider(*found[0]) if found else None

    def _fault(self, provider: ProviderSettings) -> str | None:
        if provider.kind not in PROVIDER_KINDS:
            known = ", ".join(PROVIDER_KINDS)
            return f"provider {provider.name!r} has the unknown kind {provider.kind!r}, known are {known}"
        try:
            check_endpoint(configured(provider, self._environ))
        except UsageError as error:
            return error.what
        return None

    def _unknown(self, name: str, provider: str | None) -> UsageError:
        names = [info.name for info in self.list() if not info.name.endswith("/*")]
        names += [alias for info in self.list() for alias in info.aliases]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        providers = [*self._settings.providers, *(entry.name for entry in KEY_PROVIDERS), *self._local]
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


def _make(target: _Target) -> Model:
    limits = target.limits
    return OpenAICompatibleModel(target.endpoint, target.model, context=limits.context, output_limit=limits.output)
