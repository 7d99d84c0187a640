"""What a model costs and how much it takes in: as configured, else as the price list of ``genai-prices`` says.

The list comes with the package; nothing is fetched. It takes a tenth of a second to import, so everything here that
looks something up belongs into a thread.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from harness_tui.config.settings import ModelPrice
from harness_tui.core.model_port import Usage
from harness_tui.core.record import record
from harness_tui.models.endpoint import is_loopback

LISTED: Final = {
    "anthropic": "anthropic",
    "openai": "openai",
    "openai-responses": "openai",
    "openai-chat": "openai",
    "google": "google",
}
"""Kinds whose prices hold wherever their address is, and whose they are: behind a gateway a model costs the same."""

_MILLION: Final = 1_000_000


@record
class Listing:
    """What is known of a model: ``price`` for a million tokens, the context in tokens."""

    price: ModelPrice | None = None
    context: int | None = None


@record
class PriceTag:
    """Which model it is, for the list. ``kind`` is the provider's kind, ``configured`` beats the list."""

    kind: str
    base_url: str
    model: str
    configured: ModelPrice | None = None

    @property
    def own(self) -> bool:
        """Whether it runs on this machine, so that a price that is not known needs no mention."""
        return self.kind == "local" or is_loopback(self.base_url)

    @property
    def free(self) -> bool:
        """Whether nobody is paid: a model of one's own, without a price in the configuration."""
        return self.own and self.kind not in LISTED and self.configured is None

    def look_up(self) -> Listing:
        """Return what is known. Call it in a thread."""
        found = None if self.free else _find(self)
        price = self.configured or (_price(found) if found is not None else None)
        return Listing(price, found.context_window if found is not None else None)

    def cost(self, usage: Usage) -> float | None:
        """Return what a request cost, in US dollars; ``None`` when the price is not known. Call it in a thread."""
        if self.configured is not None:
            return _counted(self.configured, usage)
        found = None if self.free else _find(self)
        if found is None:
            return None
        import genai_prices

        tokens = genai_prices.Usage(
            input_tokens=usage.input,
            output_tokens=usage.output,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
        )
        try:
            return float(found.get_prices(datetime.now(UTC)).calc_price(tokens)["total_price"])
        except ValueError:  # counts that contradict each other
            return None


def with_cost(usage: Usage, cost: float | None) -> Usage:
    """Return ``usage`` with its cost; one that the adapter gave stays."""
    return usage if usage.cost is not None or cost is None else replace(usage, cost=cost)


def _find(tag: PriceTag) -> Any:
    from genai_prices.data_snapshot import get_snapshot

    if tag.kind in LISTED:
        where = {"provider_id": LISTED[tag.kind], "provider_api_url": None}
    else:
        where = {"provider_id": None, "provider_api_url": tag.base_url}
    try:
        return get_snapshot().find_provider_model(tag.model.removeprefix("models/"), None, **where)[1]
    except LookupError:
        return None


def _price(found: Any) -> ModelPrice | None:
    prices = found.get_prices(datetime.now(UTC))
    rates = [_rate(prices, f"{name}_mtok") for name in ("input", "output", "cache_read", "cache_write")]
    return None if rates[0] is None or rates[1] is None else ModelPrice(rates[0], rates[1], rates[2], rates[3])


def _rate(prices: Any, name: str) -> float | None:
    value = getattr(prices, name, None)
    value = getattr(value, "base", value)  # some cost more above a length: what the first tokens cost
    return None if value is None else float(value)


def _counted(price: ModelPrice, usage: Usage) -> float:
    read, write = min(usage.cache_read, usage.input), min(usage.cache_write, usage.input)
    plain = max(usage.input - read - write, 0)
    total = (
        plain * price.input
        + read * (price.input if price.cache_read is None else price.cache_read)
        + write * (price.input if price.cache_write is None else price.cache_write)
        + usage.output * price.output
    )
    return total / _MILLION
