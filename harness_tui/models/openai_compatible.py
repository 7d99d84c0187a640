"""Models behind the chat completions protocol: ollama, llama.cpp, vLLM, LM Studio, OpenAI and many more.

httpx2 and server-sent events, nothing else; the library is imported and the client made in a thread, at the first
request. Cancelling the stream closes its connection, so the server stops too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from harness_tui.core.messages import Message
from harness_tui.core.seams import CallChunk, ModelError, ModelEvent, ModelSettings
from harness_tui.core.values import ToolSpec
from harness_tui.models import failures
from harness_tui.models.chat_answer import ChatAnswer
from harness_tui.models.chat_calls import AnswerError
from harness_tui.models.chat_request import ChatRequests
from harness_tui.models.endpoint import Endpoint
from harness_tui.models.endpoint_model import EndpointModel
from harness_tui.models.event_stream import DONE, NoEventsError, TooLongError
from harness_tui.models.whole_answer import data_of_answer
from harness_tui.models.wire import AGENT, ERROR_BYTES, new_client

if TYPE_CHECKING:
    import httpx2


class OpenAICompatibleModel(EndpointModel):
    """One model at one endpoint; satisfies ``Model``. Usable from one event loop; ``close`` ends its connections.

    ``output_limit`` is the limit of output tokens that is sent, ``silence`` how many seconds may pass between two
    pieces of an answer, in the place of the endpoint's.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        context: int | None = None,
        output_limit: int | None = None,
        silence: float | None = None,
    ) -> None:
        super().__init__(endpoint, model, "openai", context=context, output_limit=output_limit, silence=silence)
        self._requests = ChatRequests(endpoint, model, output_limit)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Stream one answer. Raises ``ModelError``. Close the generator to end the request early."""
        httpx2 = await asyncio.to_thread(_library)
        adapted = await asyncio.to_thread(self._adapter.use, tools)
        response = await self._send(httpx2, partial(self._requests.body, messages, adapted, settings))
        answer = ChatAnswer(self._endpoint.provider)
        try:
            async with aclosing(data_of_answer(self._bytes(response, answer))) as pieces:
                async for data in pieces:
                    if data.strip() == DONE:
                        answer.finish = answer.finish or ("stop" if answer.came else None)
                        break
                    for event in answer.take(self._chunk(data)):
                        yield event
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise failures.cut(self._caller, str(error)) from error
        except (TooLongError, AnswerError) as error:
            raise failures.no_answer(self._caller, str(error)) from error
        except NoEventsError as error:
            raise failures.no_stream(self._caller, str(error)) from error
        finally:
            await response.aclose()
        self._check_end(answer)
        for event in answer.end():
            yield CallChunk(adapted.incoming(event.call)) if isinstance(event, CallChunk) else event

    def _check_end(self, answer: ChatAnswer) -> None:
        """Raise ``ModelError`` for an answer that did not end well."""
        match answer.finish:
            case None:
                raise failures.cut(self._caller, "it ended early")
            case "content_filter":
                raise failures.content_filter(self._caller)
            case "error" if answer.error:
                raise failures.from_stream(self._caller, answer.error)
            case "error":
                raise ModelError("server", f"{self._endpoint.provider} ended the answer with an error")
            case "insufficient_system_resource":  # DeepSeek, when it has no room in the middle of an answer
                raise failures.from_stream(self._caller, {"message": "it has no room", "code": answer.finish})
            case _:
                pass

    async def _send(self, httpx2: ModuleType, body: Callable[[], str]) -> httpx2.Response:
        """Return the answer as soon as its head is there. Raises ``ModelError`` for anything but success."""
        client = await self._open(httpx2)
        while True:
            content = await asyncio.to_thread(body)
            response = await self._head(httpx2, client, self._request(client, content))
            if response.is_success and "text/html" not in response.headers.get("content-type", ""):
                return response
            try:
                error = await self._refused(response)
            except (httpx2.HTTPError, httpx2.StreamError) as broken:
                raise failures.cut(self._caller, str(broken)) from broken
            finally:
                await response.aclose()
            if not self._requests.goes_on_after(error, content):
                raise error

    def _request(self, client: httpx2.AsyncClient, content: str) -> httpx2.Request:
        headers = {"content-type": "application/json", "accept": "text/event-stream", "user-agent": AGENT}
        if self._endpoint.api_key:
            headers["authorization"] = f"Bearer {self._endpoint.api_key.strip()}"
        headers |= {name.lower(): value for name, value in self._endpoint.headers.items()}
        return client.build_request("POST", self._endpoint.url("chat/completions"), content=content, headers=headers)

    async def _head(self, httpx2: ModuleType, client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                return await client.send(request, stream=True)
        except TimeoutError as error:
            raise failures.too_slow(self._caller, self._endpoint.timeout) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise failures.unreachable(self._caller, error) from error

    async def _refused(self, response: httpx2.Response) -> ModelError:
        """Read the beginning of an error's body, and say what it means."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._silence):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > ERROR_BYTES:
                        break
        except TimeoutError:
            body += b" ..."  # the status alone says enough
        text = bytes(body[:ERROR_BYTES]).decode("utf-8", "replace")
        if response.is_success:
            return failures.web_page(self._caller)
        return failures.from_status(self._caller, response.status_code, response.headers, text)

    async def _bytes(self, response: httpx2.Response, answer: ChatAnswer) -> AsyncGenerator[bytes, None]:
        chunks = response.aiter_bytes()
        while True:
            try:
                async with asyncio.timeout(self._silence if answer.begun else self._endpoint.timeout):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                if answer.begun:
                    raise failures.silent(self._caller, self._silence) from error
                raise failures.too_slow(self._caller, self._endpoint.timeout) from error
            yield chunk

    def _chunk(self, data: str) -> dict[str, Any]:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise AnswerError(f"an event is no JSON: {self._caller.clean(data[:200])}") from error
        if not isinstance(chunk, dict):
            raise AnswerError("an event is no object")
        fields = cast(dict[str, Any], chunk)
        if fields.get("error"):
            raise failures.from_stream(self._caller, fields["error"])
        return fields

    async def _open(self, httpx2: ModuleType) -> httpx2.AsyncClient:
        async with self._opening:
            if self._client is None:
                try:
                    self._client = await asyncio.to_thread(new_client, httpx2, self._endpoint)
                except (ImportError, ValueError, OSError) as error:
                    # A proxy or a certificate of the environment that cannot be used.
                    raise failures.unreachable(self._caller, error) from error
            return self._client


def _library() -> ModuleType:
    import httpx2

    return httpx2
