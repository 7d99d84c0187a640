"""Models behind pydantic_ai: Anthropic messages, OpenAI chat and Responses, Google.

The library is imported and its client made in a thread, at the first request. It is asked for one answer at a time,
with its own retries off: repeating is the agent's matter, who knows whether a call has run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from harness_tui.core.messages import Message
from harness_tui.core.seams import ModelError, ModelEvent, ModelSettings
from harness_tui.core.values import ToolSpec
from harness_tui.models import failures
from harness_tui.models.adapt import IMAGES, PDF
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.endpoint_model import EndpointModel
from harness_tui.models.exchange import CURRENT, Exchange
from harness_tui.models.library_answer import LibraryAnswer
from harness_tui.models.library_dialects import DIALECTS
from harness_tui.models.library_messages import Conversation
from harness_tui.models.library_warmup import in_own_thread, warm_up
from harness_tui.models.sound_text import sound, sound_data
from harness_tui.models.tool_schemas import AdaptedTools
from harness_tui.models.wire import watched_client

if TYPE_CHECKING:
    import httpx2


class LibraryModel(EndpointModel):
    """One model at one endpoint, in the dialect of its ``kind``; satisfies ``Model``.

    Usable from one event loop; ``close`` ends its connections. ``output_limit`` is the limit of output tokens that is
    sent, ``silence`` how many seconds may pass between two pieces of an answer, in the place of the endpoint's.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        kind: str | None = None,
        context: int | None = None,
        output_limit: int | None = None,
        silence: float | None = None,
    ) -> None:
        self._dialect = DIALECTS[kind or endpoint.kind]
        super().__init__(
            endpoint, model, self._dialect.table, context=context, output_limit=output_limit, silence=silence
        )
        self._opened: Any = None
        self._transport: tuple[type[BaseException], ...] = ()

    async def close(self) -> None:
        """Close every connection; the next request opens new ones."""
        self._opened = None
        await super().close()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Stream one answer. Raises ``ModelError``. Close the generator to end the request early."""
        model = await self._open()
        adapted, arguments = await asyncio.to_thread(self._request, model, messages, tools, settings)
        exchange = Exchange(self._caller, first=self._endpoint.timeout, silence=self._silence)
        answer = LibraryAnswer(self._caller, adapted, kind=self._dialect.kind)
        CURRENT.set(exchange)
        try:
            async with aclosing(_events(model, arguments, exchange)) as events:
                async for event in events:
                    if isinstance(event, _End):
                        for last in answer.end(event.response, done=exchange.done):
                            yield last
                        break
                    for piece in answer.take(event):
                        yield piece
                    exchange.begun = answer.begun
        except (ModelError, GeneratorExit, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - three libraries raise whatever they like, and none of it passes
            # Without its cause: that one holds the request, headers and key included.
            raise exchange.error(error, self._transport) from None
        finally:
            CURRENT.set(None)
            await exchange.close()

    # --- parts -------------------------------------------------------------------------------------------------------

    async def _open(self) -> Any:
        async with self._opening:
            if self._opened is None:
                try:
                    self._client, self._opened, self._transport = await in_own_thread(self._make)
                except ImportError as error:
                    raise ModelError(
                        "request",
                        f"the library for {self._endpoint.provider} is not installed: {error}",
                        hint="install harness-tui again, with its dependencies",
                    ) from error
                except (ValueError, OSError) as error:
                    # A proxy or a certificate of the environment that cannot be used.
                    raise failures.unreachable(self._caller, error) from error
            return self._opened

    def _make(self) -> tuple[httpx2.AsyncClient, Any, tuple[type[BaseException], ...]]:
        import httpx2

        warm_up(self._dialect)
        key = (self._endpoint.api_key or "").strip()
        client = watched_client(httpx2, self._endpoint, self._dialect.key_headers(self._endpoint, key) if key else {})
        transport = (httpx2.TransportError, httpx2.InvalidURL, httpx2.StreamError)
        return client, self._dialect.open(self._endpoint, self._model, client), transport

    def _request(
        self, model: Any, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> tuple[AdaptedTools, dict[str, Any]]:
        import pydantic_ai.messages as library
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.tools import ToolDefinition

        adapted = self._adapter.use(tools)
        conversation = Conversation(
            cast(ModuleType, library),
            adapted,
            provider=self._endpoint.provider,
            kind=self._dialect.kind,
            system=model.system,
            media=_media(model.profile),
            marks_errors=self._dialect.marks_errors,
        )
        definitions = [
            ToolDefinition(
                name=tool.name,
                description=sound(tool.spec.description),
                parameters_json_schema=sound_data(tool.parameters),
                strict=False,
            )
            for tool in adapted.tools
        ]
        return adapted, {
            "messages": conversation.request(settings.system, messages),
            "model_settings": self._settings(settings, model),
            "model_request_parameters": ModelRequestParameters(
                function_tools=definitions, **self._form(settings, model)
            ),
        }

    def _form(self, settings: ModelSettings, model: Any) -> dict[str, Any]:
        """Return how the form of the answer is told, where the model knows schemas; it is told in words anyway."""
        if settings.output_schema is None or not model.profile.get("supports_json_schema_output", False):
            return {}
        from pydantic_ai.output import OutputObjectDefinition

        schema, strict = sound_data(settings.output_schema), self._dialect.strict_form
        form = OutputObjectDefinition(json_schema=schema, name="answer", strict=strict)
        return {"output_mode": "native", "output_object": form}

    def _settings(self, settings: ModelSettings, model: Any) -> dict[str, Any]:
        limit = settings.max_output_tokens or self._output_limit
        given: dict[str, Any] = {
            "temperature": settings.temperature,
            "max_tokens": limit,
            "extra_body": dict(self._endpoint.extra_body) or None,
        }
        return {name: value for name, value in given.items() if value is not None} | self._dialect.settings(
            settings, model
        )


class _End:
    """The whole answer, as the library puts it together."""

    def __init__(self, response: Any) -> None:
        self.response = response


async def _events(model: Any, arguments: dict[str, Any], exchange: Exchange) -> AsyncGenerator[Any, None]:
    """Yield the library's events as they come, then the whole answer; every wait has its limit."""
    from pydantic_ai.direct import model_request_stream

    manager = model_request_stream(model, instrument=False, **arguments)
    stream = await exchange.timed(manager.__aenter__())
    raised: BaseException | None = None
    try:
        events = aiter(stream)
        while True:
            try:
                event = await exchange.timed(anext(events))
            except StopAsyncIteration:
                break
            yield event
        if exchange.failure is not None:  # a library that takes a broken stream for its end
            raise exchange.failure
        yield _End(stream.get())
    except BaseException as error:
        raised = error
        raise
    finally:
        await manager.__aexit__(type(raised) if raised else None, raised, raised.__traceback__ if raised else None)


def _media(profile: Any) -> frozenset[str]:
    images = IMAGES if profile.get("supports_image_input", True) else frozenset[str]()
    documents = profile.get("supported_document_media_types", frozenset[str]())
    return images | ({PDF} & frozenset(documents) if profile.get("supports_document_input", True) else frozenset[str]())
