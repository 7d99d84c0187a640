"""What an answer costs, and that an adapter is given what is configured."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import pytest

from harness_tui.config.settings import ModelLimits, ModelPrice
from harness_tui.core.messages import Message
from harness_tui.core.seams import Finished, ModelEvent, ModelSettings, TextChunk, Usage
from harness_tui.core.values import ToolSpec
from harness_tui.models.configured import ConfiguredModel
from harness_tui.models.prices import PriceTag

SONNET = PriceTag("anthropic", "https://api.anthropic.com/v1/", "claude-sonnet-4-5")
LAB = PriceTag("openai-compatible", "https://lab.test/v1", "qwen")


class FakeAdapter:
    """Answers one word with ``usage``, and keeps the settings that it was given."""

    name = "lab/qwen"
    context_limit = None

    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.asked: list[ModelSettings] = []
        self.closed = False

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        self.asked.append(settings)
        yield TextChunk("yes")
        yield Finished(self.usage)

    async def close(self) -> None:
        self.closed = True


async def finished(model: ConfiguredModel, **settings: object) -> Finished:
    wanted = ModelSettings("", "build", **settings)  # pyright: ignore[reportArgumentType]
    *_, last = [event async for event in model.stream((), (), wanted)]
    assert isinstance(last, Finished)
    return last


@pytest.mark.parametrize(
    ("tag", "usage", "cost"),
    [
        # 500 fresh tokens at $3, 500 cached at $0.30, 100 answered at $15, each per million.
        (SONNET, Usage(input=1000, output=100, cache_read=500), 0.00315),
        # 1000 tokens written to the cache at $3.75.
        (SONNET, Usage(input=1000, cache_write=1000), 0.00375),
        (PriceTag("google", "", "models/gemini-2.5-flash"), Usage(input=1_000_000, output=0), 0.3),
        # Behind a gateway, or an address that the list knows.
        (PriceTag("openai", "https://gateway.test/v1", "gpt-5"), Usage(input=1_000_000), 1.25),
        (PriceTag("openai-responses", "https://gateway.test/v1", "gpt-5"), Usage(input=1_000_000), 1.25),
        (PriceTag("openai-compatible", "https://api.openai.com/v1", "gpt-5"), Usage(output=1_000_000), 10.0),
        # Configured prices count cached tokens as input where nothing else is said.
        (PriceTag("local", "", "x", ModelPrice(2, 8)), Usage(input=1000, output=1000, cache_read=400), 0.01),
        (PriceTag("openai", "", "gpt-5", ModelPrice(1, 1, 0.5, 3)), Usage(1_000_000, 0, 0, 400_000, 100_000), 1.0),
        (LAB, Usage(input=1000), None),
        (PriceTag("openai", "", "no-such-model-at-all"), Usage(input=1000), None),
        (PriceTag("openai-compatible", "http://127.0.0.1:8080/v1", "gpt-5"), Usage(input=1000), None),
        # More cached tokens than there were: nobody can say what that cost.
        (SONNET, Usage(input=10, output=10, cache_read=500), None),
    ],
)
def test_a_request_costs_what_the_prices_say(tag: PriceTag, usage: Usage, cost: float | None) -> None:
    assert tag.cost(usage) == (None if cost is None else pytest.approx(cost))


def test_the_list_knows_contexts_and_a_configured_price_beats_it() -> None:
    found = SONNET.look_up()
    assert found.context == 200_000
    assert found.price == ModelPrice(3, 15, 0.3, 3.75)
    own = PriceTag("anthropic", "", "claude-sonnet-4-5", ModelPrice(1, 2))
    assert own.look_up().price == ModelPrice(1, 2)
    assert LAB.look_up().price is None


async def test_usage_carries_the_cost_and_the_context_is_known_from_the_first_answer_on() -> None:
    model = ConfiguredModel(FakeAdapter(Usage(input=100_000)), ModelLimits(), SONNET)
    assert model.context_limit is None
    assert (await finished(model)).usage.cost == pytest.approx(0.3)
    assert model.context_limit == 200_000
    assert ConfiguredModel(FakeAdapter(Usage()), ModelLimits(context=5), SONNET).context_limit == 5


async def test_a_price_that_nobody_knows_is_told_once() -> None:
    model = ConfiguredModel(FakeAdapter(Usage(input=10)), ModelLimits(), LAB)
    first, second = await finished(model), await finished(model)
    assert first.usage.cost is None
    assert first.notes == (
        "the price of lab/qwen is not known, so its cost is not counted; 'price' in config.yaml sets one",
    )
    assert second.notes == ()


async def test_nothing_is_said_of_a_model_on_this_machine_or_of_an_answer_without_counts() -> None:
    own = PriceTag("openai-compatible", "http://localhost:8080/v1", "qwen")
    assert (await finished(ConfiguredModel(FakeAdapter(Usage(input=10)), ModelLimits(), own))).notes == ()
    assert (await finished(ConfiguredModel(FakeAdapter(Usage()), ModelLimits(), LAB))).notes == ()


async def test_a_cost_that_the_provider_told_stays() -> None:
    model = ConfiguredModel(FakeAdapter(Usage(input=1_000_000, cost=0.5)), ModelLimits(), SONNET)
    assert (await finished(model)).usage.cost == 0.5


async def test_what_the_agent_leaves_open_comes_from_the_model_and_the_agent_beats_it() -> None:
    adapter = FakeAdapter(Usage())
    model = ConfiguredModel(adapter, ModelLimits(temperature=0.7, reasoning_effort="high"), LAB)
    await finished(model)
    await finished(model, temperature=0.0, reasoning_effort="low")
    assert [(one.temperature, one.reasoning_effort) for one in adapter.asked] == [(0.7, "high"), (0.0, "low")]


async def test_closing_closes_the_adapter() -> None:
    adapter = FakeAdapter(Usage())
    await ConfiguredModel(adapter, ModelLimits(), LAB).close()
    assert adapter.closed
