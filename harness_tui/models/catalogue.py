"""What models there are, for people: configured ones, those of well-known providers, servers on this machine.

``list`` is quick and asks nobody. ``survey`` also asks the servers of this machine, and hosted providers where that
is wanted. Prices are looked up by ``priced``, whose list takes a while to import.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from harness_tui.config.settings import ModelLimits, ModelPrice, ProviderSettings
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.record import record
from harness_tui.models import detect as detection
from harness_tui.models import local_engine, offline
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.favourites import Favourites
from harness_tui.models.prices import PriceTag
from harness_tui.models.providers import KEY_PROVIDERS, KeyProvider, LocalProvider, is_chat
from harness_tui.models.providers import local as local_endpoint
from harness_tui.models.targets import REPLAY, ROLES, Targets, gguf_fault, key_remedy

_MOST: Final = 200
"""Names taken from one provider's list."""


@record
class ModelInfo:
    """One model that could be named; a name that ends in ``/*`` stands for any of its provider.

    ``context`` and ``output`` in tokens. ``why`` says why it is not ``available``, ``mend`` what to do about it;
    with ``wants_key`` a key of its provider is what it lacks.
    """

    name: str
    provider: str
    context: int | None = None
    aliases: tuple[str, ...] = ()
    available: bool = True
    why: str | None = None
    output: int | None = None
    price: ModelPrice | None = None
    favourite: bool = False
    mend: str | None = None
    wants_key: bool = False
    tag: PriceTag | None = field(default=None, compare=False, repr=False)


class Catalogue:
    """The models of one project, as rows. ``with_key`` fetches a stored key."""

    def __init__(
        self, targets: Targets, favourites: Favourites | None, with_key: Callable[[Endpoint], Endpoint]
    ) -> None:
        self._targets = targets
        self._favourites = favourites
        self._with_key = with_key

    def list(self) -> builtins.list[ModelInfo]:
        """Return what is known without asking anybody: favourites are marked, the order is that of the files."""
        settings = self._targets.settings
        rows = [row for provider in settings.providers.values() for row in self._configured(provider)]
        for key, reason in settings.unusable.items():
            section, _, name = key.partition(".")
            if section == "providers":
                rows.append(
                    ModelInfo(f"{name}/*", name, available=False, why=reason, mend="see 'harness config check'")
                )
        for entry in KEY_PROVIDERS:
            shown = entry.is_first or self._targets.hosted(entry) is not None  # not what everybody lacks
            if shown and entry.name not in settings.providers:
                rows.append(self._hosted(entry, entry.model))
        rows += self._named(rows)
        return self._marked([*rows, ModelInfo(offline.NAME, offline.NAME)])

    async def survey(self, *, ask_hosted: bool = False) -> builtins.list[ModelInfo]:
        """Return :meth:`list` with the servers of this machine, running or not, and with what providers offer.

        Takes three seconds at most. ``ask_hosted`` sends the keys that there are to their providers.
        """
        rows = await asyncio.to_thread(self.list)
        servers = [self._server(provider) for provider in self._targets.local.values()]
        hosted = [self._offered(entry) for entry in KEY_PROVIDERS if ask_hosted] if ask_hosted else []
        own = [self._listed(provider) for provider in self._targets.settings.providers.values() if not provider.models]
        found = [row for group in await asyncio.gather(*servers, *hosted, *own) for row in group]
        names = {row.name for row in found}
        replaced = {row.provider for row in found if row.available}
        kept = [
            row for row in rows if row.name not in names and not (row.name.endswith("/*") and row.provider in replaced)
        ]
        return await asyncio.to_thread(self._marked, [*kept[:-1], *found, *kept[-1:]])

    def priced(self, rows: Iterable[ModelInfo]) -> builtins.list[ModelInfo]:
        """Return ``rows`` with prices and contexts that the price list knows. Call it in a thread."""
        return [self._priced(row) for row in rows]

    # --- rows ----------------------------------------------------------------------------------------

    def _configured(self, provider: ProviderSettings) -> Iterator[ModelInfo]:
        fault = self._targets.fault(provider)
        for model, limits in (provider.models or {"*": ModelLimits()}).items():
            why, mend = fault, f"see {provider.source}" if fault and provider.source else None
            if why is None and provider.kind == "local":
                why, mend = _local_fault(limits)
            yield ModelInfo(
                f"{provider.name}/{model}",
                provider.name,
                limits.context,
                limits.aliases,
                why is None,
                why,
                limits.output,
                limits.price,
                mend=mend,
                tag=PriceTag(provider.kind, provider.base_url or "", model, limits.price),
            )

    def _hosted(self, entry: KeyProvider, model: str) -> ModelInfo:
        tag = PriceTag(entry.kind, entry.base_url, model)
        if self._targets.hosted(entry) is not None:
            return ModelInfo(f"{entry.name}/{model}", entry.name, tag=tag)
        why, mend = self._targets.no_key(entry), key_remedy(entry)
        name = f"{entry.name}/{model}"
        return ModelInfo(name, entry.name, available=False, why=why, mend=mend, wants_key=True, tag=tag)

    def _named(self, rows: Sequence[ModelInfo]) -> Iterator[ModelInfo]:
        """Yield what the configuration names as main or small model and what is no row yet."""
        names = {row.name for row in rows}
        for role in ROLES:
            name = self._targets.role(role)
            if name is None or name in names or name == offline.NAME:
                continue
            if name.startswith(REPLAY):
                why = None if self._targets.file(name, REPLAY).is_file() else "there is no such file"
                row = ModelInfo(name, "replay", available=why is None, why=why)
            else:
                row = self._found(name)
            if row.name not in names:
                names |= {row.name, name}
                yield row

    def _found(self, name: str) -> ModelInfo:
        try:
            target = self._targets.find(name)
        except UsageError as error:
            return ModelInfo(name, name.partition("/")[0], available=False, why=error.what, mend=error.mend)
        endpoint, limits = target.endpoint, target.limits
        why, mend = _local_fault(limits, str(target.path)) if endpoint.kind == "local" else (None, None)
        tag = PriceTag(endpoint.kind, endpoint.base_url, target.model, limits.price)
        return ModelInfo(target.name, endpoint.provider, limits.context, (), why is None, why, mend=mend, tag=tag)

    def _marked(self, rows: Sequence[ModelInfo]) -> builtins.list[ModelInfo]:
        """Return ``rows`` with the names of their roles, favourites marked; a favourite that is no row becomes one."""
        chosen = self._favourites.all() if self._favourites is not None else ()
        roles = {role: self._full(role) for role in ROLES}
        have = {row.name for row in rows}
        more = [self._found(name) for name in chosen if name not in have and not name.startswith(REPLAY)]
        marked: builtins.list[ModelInfo] = []
        for row in [*rows[:-1], *more, *rows[-1:]]:
            own = tuple(role for role, name in roles.items() if name == row.name and role not in row.aliases)
            marked.append(replace(row, aliases=(*row.aliases, *own), favourite=row.name in chosen))
        return marked

    def _full(self, role: str) -> str | None:
        name = self._targets.role(role)
        if name is None or name.startswith(REPLAY) or name == offline.NAME:
            return name
        try:
            return self._targets.find(name).name
        except HarnessError:
            return name

    def _priced(self, row: ModelInfo) -> ModelInfo:
        if row.tag is None or row.name.endswith("/*"):
            return row
        listing = row.tag.look_up()
        return replace(row, context=row.context or listing.context, price=row.price or listing.price)

    # --- who is asked --------------------------------------------------------------------------------

    async def _server(self, provider: LocalProvider) -> builtins.list[ModelInfo]:
        """Ask a server of this machine; one that is configured too is told of there."""
        endpoint = local_endpoint(provider)
        configured = self._targets.settings.providers.values()
        if provider.name in self._targets.settings.providers or any(
            (one.base_url or "").rstrip("/") == endpoint.base_url for one in configured
        ):
            return []
        found = await detection.server(provider)
        if found is None:
            why = f"nobody answers on port {provider.port}"
            mend = f"start {provider.title}"
            return [ModelInfo(f"{provider.name}/*", provider.name, available=False, why=why, mend=mend)]
        if not found.models:
            mend = f"load a model in {provider.title}"
            why = f"the server on port {provider.port} lists no models"
            return [ModelInfo(f"{provider.name}/*", provider.name, available=False, why=why, mend=mend)]
        return self._rows(provider.name, found.models, PriceTag("openai-compatible", endpoint.base_url, ""))

    async def _offered(self, entry: KeyProvider) -> builtins.list[ModelInfo]:
        if entry.name in self._targets.settings.providers or (endpoint := self._targets.hosted(entry)) is None:
            return []
        models = await self._ask(endpoint)
        return self._rows(entry.name, models, PriceTag(entry.kind, endpoint.base_url, ""))

    async def _listed(self, provider: ProviderSettings) -> builtins.list[ModelInfo]:
        if self._targets.fault(provider) is not None:
            return []
        try:
            endpoint = self._targets.find(f"{provider.name}/*").endpoint
        except UsageError:
            return []
        return self._rows(provider.name, await self._ask(endpoint), PriceTag(provider.kind, endpoint.base_url, ""))

    async def _ask(self, endpoint: Endpoint) -> tuple[str, ...]:
        try:
            return await detection.listed(await asyncio.to_thread(self._with_key, endpoint))
        except UsageError:
            return ()

    def _rows(self, provider: str, models: Iterable[str], tag: PriceTag) -> builtins.list[ModelInfo]:
        chat = [model for model in models if is_chat(model)][:_MOST]
        return [ModelInfo(f"{provider}/{model}", provider, tag=replace(tag, model=model)) for model in chat]


def _local_fault(limits: ModelLimits, path: str | None = None) -> tuple[str | None, str | None]:
    from pathlib import Path

    if not local_engine.installed():
        return "the extra 'local' is not installed", local_engine.INSTALL
    why = gguf_fault(Path(path or limits.path or ""))
    return why, "name the file of a model in GGUF format" if why else None


def price_text(price: ModelPrice | None) -> str | None:
    """Return a price in a few characters: ``$3 / $15``, for a million tokens of input and of output."""
    return None if price is None else f"${price.input:g} / ${price.output:g}"
