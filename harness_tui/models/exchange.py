"""One request to a provider under watch: what came, when, and which of our errors it means.

The libraries of providers raise several hundred kinds of errors and hide what the server said; here it is kept as it
passes, so every adapter fails in the same words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any, Final, TypeVar, cast

from harness_tui.core.limits import MIB
from harness_tui.core.seams import ModelError
from harness_tui.models import failures
from harness_tui.models.event_stream import DONE, NoEventsError, TooLongError
from harness_tui.models.failures import Caller
from harness_tui.models.whole_answer import data_of_answer

T = TypeVar("T")

ANSWER_BYTES: Final = 128 * MIB
"""No answer is larger; a server that never ends is not kept in memory without end."""


class Exchange:
    """What is known of one request. ``first`` seconds may pass between two pieces, ``silence`` without a byte."""

    def __init__(self, caller: Caller, *, first: float, silence: float) -> None:
        self.caller = caller
        self.failure: ModelError | None = None
        self.answered = False
        self.done = False  # the provider said that the answer is whole
        self.begun = False
        self._first = first
        self._silence = silence
        self._size = 0
        self._came = False
        self._piece = self._byte = asyncio.get_running_loop().time()
        self._limit: asyncio.Timeout | None = None
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def on_close(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have ``close`` awaited when the exchange ends."""
        self._closers.append(close)

    async def close(self) -> None:
        """Close the connection of every answer that was not read to its end: libraries leave that to chance."""
        while self._closers:
            await self._closers.pop()()

    # --- time --------------------------------------------------------------------------------------------------------

    async def timed(self, work: Awaitable[T]) -> T:
        """Wait for the next piece. Raises ``ModelError`` when it takes too long."""
        try:
            async with asyncio.timeout_at(self._deadline()) as limit:
                self._limit = limit
                result = await work
        except TimeoutError as error:
            if self._limit is None or not self._limit.expired():
                raise
            raise self._too_slow() from error
        finally:
            self._limit = None
        self._piece = asyncio.get_running_loop().time()
        return result

    def heard(self) -> None:
        """Something came, be it a sign of life: the silence begins anew."""
        self._byte = asyncio.get_running_loop().time()
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(self._deadline())

    def _deadline(self) -> float:
        piece = self._piece + self._first
        return min(piece, self._byte + self._silence) if self.begun else piece

    def _too_slow(self) -> ModelError:
        now = asyncio.get_running_loop().time()
        if self.begun and now - self._byte >= self._silence:
            return failures.silent(self.caller, self._silence)
        return failures.too_slow(self.caller, self._first)

    # --- what comes --------------------------------------------------------------------------------------------------

    async def events(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield a stream of server-sent events as every library reads it; one piece becomes the stream asked for.

        Line ends, comments, missing blanks and missing names of events are put right. Raises ``ModelError`` for what
        is no JSON, for an error in the middle of the stream, and for an answer without end.
        """
        try:
            async with aclosing(data_of_answer(self._watched(chunks))) as pieces:
                async for data in pieces:
                    if data.strip() == DONE:
                        self.done = True
                        yield b"data: [DONE]\n\n"
                        return
                    if data.strip():
                        yield self._event(data)
        except TooLongError as error:
            raise self.failed(failures.no_answer(self.caller, str(error))) from None
        except NoEventsError as error:
            raise self.failed(failures.no_stream(self.caller, str(error))) from None

    async def _watched(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            self.heard()
            self._size += len(chunk)
            if self._size > ANSWER_BYTES:
                raise TooLongError(f"it is longer than {ANSWER_BYTES // MIB} MiB")
            yield chunk

    def _event(self, data: str) -> bytes:
        try:
            event: Any = json.loads(data)
        except (ValueError, RecursionError):
            said = f"an event is no JSON: {self.caller.clean(data[:200])}"
            raise self.failed(failures.no_answer(self.caller, said)) from None
        if not isinstance(event, dict):
            raise self.failed(failures.no_answer(self.caller, "an event is no object"))
        fields = cast(dict[str, Any], event)
        if (error := _error_in(fields)) is not None:
            raise self.failed(failures.from_stream(self.caller, error))
        self.done = self.done or _is_last(fields)
        self._came = True
        kind = fields.get("type")
        name = f"event: {kind}\n" if isinstance(kind, str) and "\n" not in kind else ""
        counted = _with_counts(fields)
        text = data if "\n" not in data and counted is fields else json.dumps(counted)
        return f"{name}data: {text}\n\n".encode("utf-8", "replace")

    # --- errors ------------------------------------------------------------------------------------------------------

    def failed(self, error: ModelError) -> ModelError:
        """Remember ``error`` as what went wrong, whatever a library makes of it, and return it."""
        self.failure = self.failure or error
        return error

    def error(self, raised: BaseException, transport: tuple[type[BaseException], ...]) -> ModelError:
        """Return what an exception of a library means; ``transport`` are those of a broken connection."""
        if self.failure is not None:
            return self.failure
        broken = next((cause for cause in _causes(raised) if isinstance(cause, (*transport, OSError))), None)
        if broken is not None and not self.answered:
            return failures.unreachable(self.caller, broken)
        if broken is not None:
            return failures.cut(self.caller, str(broken))
        said = self.caller.clean(str(raised)) or type(raised).__name__
        if self.answered and not self._came:
            return failures.cut(self.caller, "it ended early")
        if self.answered:
            return failures.no_answer(self.caller, said)
        return ModelError("request", f"{self.caller.provider} cannot be asked this: {said}")


CURRENT: ContextVar[Exchange | None] = ContextVar("harness_exchange", default=None)
"""The exchange that requests of this task belong to."""


def _is_last(event: dict[str, Any]) -> bool:
    """Tell whether an event says that the answer is whole, in any of the protocols."""
    delta: Any = event.get("delta")
    if event.get("type") in ("response.completed", "response.incomplete", "message_stop"):
        return True
    if event.get("type") == "message_delta" and isinstance(delta, dict):
        return bool(cast(dict[str, Any], delta).get("stop_reason"))
    for name, reason in (("choices", "finish_reason"), ("candidates", "finishReason")):
        entries: Any = event.get(name)
        first: Any = cast(list[Any], entries)[0] if isinstance(entries, list) and entries else None
        if isinstance(first, dict) and cast(dict[str, Any], first).get(reason):
            return True
    return False


def _with_counts(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event of Anthropic with the counts of tokens that its library cannot do without."""
    message: Any = event.get("message")
    match event.get("type"):
        case "message_start" if isinstance(message, dict) and not cast(dict[str, Any], message).get("usage"):
            return event | {"message": {**message, "usage": {"input_tokens": 0, "output_tokens": 0}}}
        case "message_delta" if not event.get("usage"):
            return event | {"usage": {"output_tokens": 0}}
        case _:
            return event


def _error_in(event: dict[str, Any]) -> Any:
    """Return the error that an event reports: ``error`` of chat, Anthropic, Google; ``response.failed``, ``error`` of
    Responses."""
    if event.get("error"):
        return event["error"]
    if event.get("type") == "error":
        return {key: value for key, value in event.items() if key != "type"}
    response = event.get("response")
    if event.get("type") == "response.failed" and isinstance(response, dict):
        return cast(dict[str, Any], response).get("error") or {"message": "the response failed"}
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
