"""A model of a GGUF file on this machine, without a server of anybody: satisfies ``Model``.

The file is loaded by a child process that speaks the chat completions protocol on loopback, so the adapter of that
protocol does the talking. Closing the stream ends the answer there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

from harness_tui.config.settings import ModelLimits
from harness_tui.core.messages import Message
from harness_tui.core.record import record
from harness_tui.core.seams import Finished, ModelError, ModelEvent, ModelSettings
from harness_tui.core.values import ToolSpec
from harness_tui.models.local_engine import Engine, Engines, Served
from harness_tui.models.openai_compatible import OpenAICompatibleModel
from harness_tui.models.targets import Target, gguf_fault

_PROBE: Final = "harness_probe_tool"
_PROBE_S: Final = 10.0


class LocalModel:
    """One GGUF file."""

    def __init__(self, target: Target, path: Path, engines: Engines, *, threads: int | None = None) -> None:
        self._name = target.name
        self._path = path
        self._endpoint = target.endpoint
        self._limits: ModelLimits = target.limits
        self._engine: Engine = engines.engine(target.name, path, context=target.limits.context, threads=threads)
        self._talking: tuple[Served, OpenAICompatibleModel, bool] | None = None
        self._told = False

    @property
    def name(self) -> str:
        """``provider/model``, or ``local:FILE``."""
        return self._name

    @property
    def context_limit(self) -> int | None:
        """Tokens that fit."""
        return self._engine.context

    @property
    def pid(self) -> int | None:
        """The process that holds the model, while there is one."""
        return self._engine.pid

    async def close(self) -> None:
        """End the process; the next request starts one again."""
        talking, self._talking = self._talking, None
        if talking is not None:
            await talking[1].close()
        await self._engine.stop()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Stream one answer; the file is loaded first where it is not. Raises ``ModelError``."""
        if (fault := await asyncio.to_thread(gguf_fault, self._path)) is not None:
            raise ModelError("request", fault, hint="name the file of a model in GGUF format")
        async with self._engine.use() as served:
            adapter, has_tools = await self._adapter(served)
            try:
                async with aclosing(adapter.stream(messages, tools if has_tools else (), settings)) as events:
                    async for event in events:
                        if isinstance(event, Finished) and tools and not has_tools:
                            event = self._without_tools(event)
                        yield event
            except ModelError as error:
                raise await self._explained(error) from error

    def _without_tools(self, finished: Finished) -> Finished:
        if self._told:
            return finished
        self._told = True
        note = f"the chat template of {self._name} knows no tools: it answers in text and calls none"
        return replace(finished, notes=(*finished.notes, note))

    async def _explained(self, error: ModelError) -> ModelError:
        if error.kind not in ("connection", "cut", "server"):
            return error
        ended = await self._engine.ended()
        if ended is None:
            return error
        hint = "there may be too little memory: take a smaller model, or a smaller 'context'"
        return ModelError("server", f"{self._name} broke off: {ended}", hint=hint)

    async def _adapter(self, served: Served) -> tuple[OpenAICompatibleModel, bool]:
        """Return the adapter for the running process, and whether the model's template knows tools."""
        if self._talking is not None and self._talking[0] is served:
            return self._talking[1:]
        if self._talking is not None:
            await self._talking[1].close()
        endpoint = replace(self._endpoint, base_url=f"{served.address}/v1", api_key=served.key)
        limits = self._limits
        adapter = OpenAICompatibleModel(
            endpoint, self._path.name, context=self._engine.context, output_limit=limits.output
        )
        about = await look_at(served)
        self._engine.context = about.context or self._engine.context
        self._talking = (served, adapter, about.tools)
        return self._talking[1:]


@record
class About:
    """What a loaded model says of itself: tokens that fit, and whether its template knows tools."""

    context: int | None
    tools: bool


async def look_at(served: Served) -> About:
    """Ask for the size, and for the prompt that a tool would be told in: a template that leaves its name out knows
    none."""
    function = {"name": _PROBE, "description": "-", "parameters": {"type": "object", "properties": {}}}
    body = {"messages": [{"role": "user", "content": "-"}], "tools": [{"type": "function", "function": function}]}
    httpx2 = await asyncio.to_thread(_library)
    headers = {"authorization": f"Bearer {served.key}"}
    try:
        async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=_PROBE_S) as client:
            prompt = await client.post(f"{served.address}/apply-template", json=body, headers=headers)
            props = await client.get(f"{served.address}/props", headers=headers)
            context = props.json()["default_generation_settings"]["n_ctx"] if props.is_success else None
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return About(None, False)
    tools = prompt.is_success and _PROBE in prompt.text
    return About(context if isinstance(context, int) and context > 0 else None, tools)


def _library() -> ModuleType:
    import httpx2

    return httpx2
