"""An adapter together with what is configured of its model, so that no adapter has to know about either.

What the agent leaves open is filled in before a request; what the answer cost is added after it. The price list is
imported while the provider answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from harness_tui.config.settings import ModelLimits
from harness_tui.core.messages import Message
from harness_tui.core.seams import Finished, Model, ModelEvent, ModelSettings, Usage
from harness_tui.core.values import ToolSpec
from harness_tui.models.prices import Listing, PriceTag, with_cost


class ConfiguredModel:
    """``adapter`` with its ``limits`` and its price; satisfies ``Model``."""

    def __init__(self, adapter: Model, limits: ModelLimits, tag: PriceTag) -> None:
        self.adapter = adapter
        self._limits = limits
        self._tag = tag
        self._listing: Listing | None = None
        self._told = tag.own

    @property
    def name(self) -> str:
        """``provider/model``."""
        return self.adapter.name

    @property
    def context_limit(self) -> int | None:
        """Tokens that fit: configured, told by the server, or listed (known from the first answer on)."""
        listed = self._listing.context if self._listing is not None else None
        return self.adapter.context_limit or self._limits.context or listed

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Stream one answer. Raises ``ModelError``."""
        looking = asyncio.create_task(self._look_up(), name="price list")
        try:
            async with aclosing(self.adapter.stream(messages, tools, self._filled(settings))) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        await asyncio.wait({looking})
                        event = await self._priced(event)
                    yield event
        finally:
            looking.cancel()

    async def close(self) -> None:
        """Close the adapter's connections, or end its process."""
        close = getattr(self.adapter, "close", None)
        if close is not None:
            await close()

    def _filled(self, settings: ModelSettings) -> ModelSettings:
        limits = self._limits
        return replace(
            settings,
            temperature=limits.temperature if settings.temperature is None else settings.temperature,
            reasoning_effort=settings.reasoning_effort or limits.reasoning_effort,
        )

    async def _look_up(self) -> None:
        if self._listing is None:
            self._listing = Listing() if self._tag.free else await asyncio.to_thread(self._tag.look_up)

    async def _priced(self, finished: Finished) -> Finished:
        usage = finished.usage
        if self._tag.free or usage == Usage():
            return finished
        cost = None if usage.cost is not None else await asyncio.to_thread(self._tag.cost, usage)
        usage = with_cost(usage, cost)
        if usage.cost is not None or self._told:
            return replace(finished, usage=usage)
        self._told = True
        note = f"the price of {self.name} is not known, so its cost is not counted; 'price' in config.yaml sets one"
        return replace(finished, notes=(*finished.notes, note))
