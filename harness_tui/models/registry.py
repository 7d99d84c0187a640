"""Models by name: ``provider/model``, ``local:FILE``, ``replay:FILE``, ``offline``, and what is used when nobody named
one. Makes each of them once."""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness_tui.config.places import Places
from harness_tui.config.settings import Settings
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.record import record
from harness_tui.core.seams import AnswerScript, Model, ProcessSpawner
from harness_tui.models import detect as detection
from harness_tui.models import keys, local_engine, offline
from harness_tui.models.adapters import make_adapter
from harness_tui.models.catalogue import Catalogue, ModelInfo
from harness_tui.models.chosen import ChosenModels
from harness_tui.models.configured import ConfiguredModel
from harness_tui.models.detect import Detected
from harness_tui.models.endpoint import Endpoint, check_endpoint
from harness_tui.models.favourites import Favourites
from harness_tui.models.key_store import KeyStore
from harness_tui.models.local_engine import Engines
from harness_tui.models.prices import PriceTag
from harness_tui.models.providers import KEY_PROVIDERS, LOCAL_PROVIDERS, LocalProvider, first_chat, preferred
from harness_tui.models.replay import ReplayModel
from harness_tui.models.targets import REPLAY, ROLES, Target, Targets, gguf_fault


@record
class DefaultModel:
    """The model that is used because nobody named one; ``notice`` tells the person which, and why."""

    model: Model
    notice: str


class ModelRegistry:
    """The models of one project, one instance each. Files in names are relative to ``project_start``.

    Without ``places`` there are no stored keys and no favourites, without ``spawner`` no models of kind ``local``.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        project_start: Path,
        environ: Mapping[str, str],
        local_providers: Sequence[LocalProvider] = LOCAL_PROVIDERS,
        places: Places | None = None,
        spawner: ProcessSpawner | None = None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._places = places
        self._keys = KeyStore(places) if places is not None else None
        self._favourites = Favourites(places) if places is not None else None
        self.targets = Targets(
            settings, start=project_start, environ=environ, keys=self._keys, local_providers=local_providers
        )
        self._engines = Engines(spawner) if spawner is not None else None
        self._made: dict[str, Model] = {}
        self._default: str | None = None
        self.catalogue = Catalogue(self.targets, self._favourites, self._with_key)

    def resolve(self, name: str | None = None) -> Model:
        """Return the model ``name``, or the configured one; reads a script or a stored key, so call it in a thread.

        Raises ``UsageError`` with what is near for an unknown name, and with the ways to get a model (code
        ``no-model``) when none is named and none configured.
        """
        wanted = self._wanted(name)
        if wanted == offline.NAME:
            return self._kept(offline.NAME) or self._keep(offline.NAME, offline.OfflineModel())
        if wanted.startswith(REPLAY):
            path = self.targets.file(wanted, REPLAY)
            key = REPLAY + os.path.realpath(path)
            return self._kept(key) or self._keep(key, ReplayModel.load(wanted, path))
        target = self.targets.find(wanted)
        kept = self._kept(target.name)
        if kept is not None:
            return kept
        if target.endpoint.kind == "local":
            return self._keep(target.name, self._local(target))
        endpoint = self._with_key(target.endpoint)
        return self._keep(target.name, self._remote(replace(target, endpoint=endpoint)))

    def script(self, name: str | None) -> AnswerScript | None:
        """Return the script that ``name`` plays, ``None`` for every other model: no key is fetched for the question."""
        try:
            model = self.resolve(name) if self._wanted(name).startswith(REPLAY) else None
        except UsageError:
            return None
        return model if isinstance(model, AnswerScript) else None

    def fault(self, name: str) -> UsageError | None:
        """Say why :meth:`resolve` would not give ``name``; nothing is read for it but the head of a file."""
        try:
            wanted = self._wanted(name)
            if wanted == offline.NAME:
                return None
            if wanted.startswith(REPLAY):
                path = self.targets.file(wanted, REPLAY)
                return None if path.is_file() else UsageError("there is no such file", where=wanted)
            target = self.targets.find(wanted)
            if target.endpoint.kind == "local":
                _check_local(target)
            else:
                check_endpoint(target.endpoint)
        except UsageError as error:
            return error
        except HarnessError as error:
            return UsageError(error.what, where=error.where, mend=error.mend)
        return None

    def full_name(self, name: str) -> str:
        """Return the name that a role or an alias stands for. Raises ``UsageError``."""
        wanted = self._wanted(name)
        return wanted if wanted == offline.NAME or wanted.startswith(REPLAY) else self.targets.find(wanted).name

    def known(self, name: str) -> bool:
        """Tell whether :meth:`resolve` would find ``name``; a script is not read for it."""
        return self.fault(name) is None

    def list(self) -> builtins.list[ModelInfo]:
        """Return what can be named: configured models, those of well-known providers, the script, ``offline``."""
        return self.catalogue.list()

    async def detect(self) -> builtins.list[Detected]:
        """Look for keys and for model servers on this machine; takes half a second at most where nobody answers."""
        return await detection.detect(
            [entry for entry in KEY_PROVIDERS if entry.name not in self._settings.providers],
            self.targets.hosted,
            local_providers=tuple(self.targets.local.values()),
        )

    async def default(self) -> DefaultModel | None:
        """Return the model to use when none is named or configured, ``None`` when nothing was found.

        The first of anthropic, openai, google, the local servers and other keys; its list of models is asked for once.
        """
        found = await self.detect()
        if not found:
            return None
        chosen, others = found[0], found[1:]
        self._default = name = f"{chosen.provider}/{await self._best(chosen)}"
        because = f"its key is in {chosen.where}" if chosen.kind == "key" else f"its server answers at {chosen.where}"
        also = f"; also there: {', '.join(other.provider for other in others)}" if others else ""
        return DefaultModel(
            await asyncio.to_thread(self.resolve, name),
            f"using {name}: no model is configured, and {because}{also} (choose with --model or /model)",
        )

    def set_favourite(self, name: str, favourite: bool) -> bool:
        """Make ``name`` a favourite, or none; return whether that changed anything. Raises ``HarnessError``."""
        return self._favourites.set(name, favourite) if self._favourites is not None else False

    def keep_key(self, provider: str, key: str) -> str:
        """Keep ``key`` for the address that ``provider`` has now, and say where. Raises ``HarnessError``."""
        if self._keys is None:
            raise HarnessError("keys cannot be kept here", where=provider)
        key = keys.checked_key(key, provider, f"type it, or pipe it in: harness auth add {provider}")
        row = self._keys.add(provider, key, keys.address(provider, self._settings, self._environ))
        return "the keyring" if row.kept == "keyring" else self._keys.path

    def address(self, provider: str) -> str:
        """Return where a key of ``provider`` would be sent, ``""`` for a provider that is not known here."""
        try:
            return keys.address(provider, self._settings, self._environ)
        except UsageError:
            return ""

    @property
    def keys(self) -> KeyStore | None:
        """The stored keys."""
        return self._keys

    async def close(self) -> None:
        """Close the connections of every model, and end the processes of local ones."""
        for model in self._made.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()
        if self._engines is not None:
            await self._engines.close()

    # --- parts -------------------------------------------------------------------------------------

    def _wanted(self, name: str | None) -> str:
        wanted = (name or self._settings.model or "").strip()
        if wanted in ROLES:
            wanted = self.targets.role(wanted) or self._default or ""
        if not wanted:
            raise UsageError("no model is configured", mend=offline.WAYS_TEXT, code="no-model")
        return wanted

    async def _best(self, chosen: Detected) -> str:
        entry = next((entry for entry in KEY_PROVIDERS if entry.name == chosen.provider), None)
        if entry is None:
            return first_chat(chosen.models) or chosen.models[0]
        endpoint = self.targets.hosted(entry)
        if endpoint is None:
            return entry.model
        remembered = ChosenModels(self._places.chosen_models) if self._places is not None else None
        if remembered is not None:
            known = await asyncio.to_thread(remembered.get, entry.name, endpoint.base_url)
            if known is not None:
                return known
        models = await detection.listed(await asyncio.to_thread(self._with_key, endpoint))
        best = preferred(entry, models)
        if best is not None and remembered is not None:
            await asyncio.to_thread(remembered.put, entry.name, endpoint.base_url, best)
        return best or entry.model

    def _with_key(self, endpoint: Endpoint) -> Endpoint:
        """Return ``endpoint`` with its stored key. Raises ``UsageError`` when that is not to be had."""
        if not endpoint.stored or endpoint.api_key is not None or self._keys is None:
            return endpoint
        try:
            return replace(endpoint, api_key=self._keys.key(endpoint.provider))
        except HarnessError as error:
            raise UsageError(error.what, where=error.where, mend=error.mend, code=error.code) from error

    def _kept(self, key: str) -> Model | None:
        return self._made.get(key)

    def _keep(self, key: str, model: Model) -> Model:
        return self._made.setdefault(key, model)

    def _remote(self, target: Target) -> Model:
        endpoint, limits = target.endpoint, target.limits
        adapter = make_adapter(endpoint, target.model, context=limits.context, output_limit=limits.output)
        return ConfiguredModel(adapter, limits, PriceTag(endpoint.kind, endpoint.base_url, target.model, limits.price))

    def _local(self, target: Target) -> Model:
        path, engines = _check_local(target), self._engines
        if engines is None:
            raise UsageError("a local model cannot be started here", where=target.name)
        from harness_tui.models.local_model import LocalModel

        settings = self._settings.providers.get(target.endpoint.provider)
        model = LocalModel(target, path, engines, threads=settings.threads if settings is not None else None)
        return ConfiguredModel(model, target.limits, PriceTag("local", "", target.model, target.limits.price))


def _check_local(target: Target) -> Path:
    if not local_engine.installed():
        raise UsageError(
            "local models need the extra 'local', which is not installed",
            where=target.name,
            mend=local_engine.INSTALL,
            code="missing-extra",
        )
    path = target.path or Path()
    if (fault := gguf_fault(path)) is not None:
        raise UsageError(fault, where=(target.limits.path and target.endpoint.source) or target.name)
    return path
