"""Our adapters, each beside the protocol that it speaks; one answer that has everything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fakes.chat_server import FakeReply, FakeRequest, Handler
from fakes.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Answer

from harness_tui.core.messages import Message, UserMessage
from harness_tui.core.seams import Model, ModelEvent, ModelSettings
from harness_tui.core.values import ToolSpec
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.library_model import LibraryModel
from harness_tui.models.openai_compatible import OpenAICompatibleModel

KEY = "tok-0123456789abcdef"
SETTINGS = ModelSettings(system="be brief", agent="build")
READ = ToolSpec("read", "reads a file", {"type": "object", "properties": {"path": {"type": "string"}}})
GREP = ToolSpec("grep", "looks for text", {"type": "object", "properties": {"pattern": {"type": "string"}}})
WHOLE = Answer(
    reasoning=("Let me ", "see."),
    text=("I will ", "look, Grüße."),
    calls=(("call_a", "read", ('{"pa', 'th": "', 'ä.py"}')), ("call_b", "grep", ('{"pattern"', ': "x y"}'))),
)
ADAPTERS = {
    "compatible": CHAT,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "google": GOOGLE,
}


def model_at(
    adapter: str,
    url: str,
    *,
    provider: str = "mine",
    timeout: float = 20.0,
    name: str = "m",
    extra_body: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    dialect = ADAPTERS[adapter]
    address = url.removesuffix("/v1") + dialect.base
    endpoint = Endpoint(
        provider, address, KEY, "MINE_API_KEY", kind=dialect.kind, timeout=timeout, extra_body=extra_body or {}
    )
    if adapter == "compatible":
        return OpenAICompatibleModel(replace(endpoint, kind="openai-compatible"), name, **options)
    return LibraryModel(endpoint, name, **options)


async def stream(
    model: Model,
    messages: Sequence[Message] = (UserMessage("hi"),),
    tools: Sequence[ToolSpec] = (),
    came: list[ModelEvent] | None = None,
    settings: ModelSettings = SETTINGS,
) -> list[ModelEvent]:
    result: list[ModelEvent] = [] if came is None else came
    async with asyncio.timeout(60), aclosing(model.stream(messages, tools, settings)) as events:
        async for event in events:
            result.append(event)
    return result


def playing(adapter: str, answer: Answer) -> Handler:
    async def handler(reply: FakeReply, _: FakeRequest) -> None:
        await ADAPTERS[adapter].play(reply, answer)

    return handler
