"""One JSON-RPC peer over a pair of byte streams.

Written by hand: a library's peer drops a whole notification for one odd value, waits without limit at the end of a
process, and blocks when a server stops reading. Here a write never waits (a server that does not read is given up once
too much is pending), every request of the server is answered from the reader at once, and whoever waits for an answer
is woken when the stream ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.lsp.framing import FrameDecoder, FramingError, frame
from harness_tui.lsp.trace import Trace

READ_BYTES: Final = 65_536
PENDING_BYTES: Final = 32 * MIB
THREAD_BYTES: Final = MIB
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
INPUT_CLOSED: Final = "input-closed"
"""The code of a write that failed first: whoever looks a moment later knows better why."""

OnRequest: TypeAlias = Callable[[str, Any], Any]
OnNotification: TypeAlias = Callable[[str, Any], None]
OnText: TypeAlias = Callable[[str], None]


class RpcError(HarnessError):
    """The other side answered with an error; ``number`` is its code, ``data`` what came with it."""

    def __init__(self, number: int, message: str, data: Any = None) -> None:
        super().__init__(cut_end(clean_for_display(message, one_line=True), 500), code="rpc")
        self.number = number
        self.data = data


class PeerClosedError(HarnessError):
    """The stream ended before an answer came."""


class UnknownMethodError(HarnessError):
    """Raised by ``on_request`` for a method that this side does not serve."""


class Peer:
    """The client's end. Nothing happens before :meth:`start`.

    ``on_request`` returns the result for a server's request or raises :class:`UnknownMethodError`; it, and
    ``on_notification``, run in the reader and must be quick. ``on_end`` is called once with the reason, ``on_fault``
    for each message that could not be understood and was left out. ``explain_end`` may find a better reason for the end
    of the stream than that it ended. Reasons go on after the server's name: "closed its output". ``trace`` keeps what
    passes.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        on_request: OnRequest,
        on_notification: OnNotification,
        on_end: OnText,
        on_fault: OnText,
        explain_end: Callable[[], Awaitable[str]] | None = None,
        trace: Trace | None = None,
    ) -> None:
        self._explain_end = explain_end
        self._trace = trace or Trace()
        self._reader = reader
        self._writer = writer
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_end = on_end
        self._on_fault = on_fault
        self._decoder = FrameDecoder()
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._end_reason: str | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether the stream is over."""
        return self._end_reason is not None

    @property
    def skipped(self) -> str:
        """The first line that was no message, for a person who looks for the fault."""
        return self._decoder.skipped

    def start(self) -> None:
        """Begin to read."""
        self._task = asyncio.get_running_loop().create_task(self._read(), name="lsp reader")

    def end(self, reason: str) -> None:
        """Stop reading and fail everything that waits, with ``reason``. A second call does nothing."""
        if self._end_reason is not None:
            return
        self._end_reason = reason
        for future in self._pending.values():
            if not future.done():
                future.set_exception(PeerClosedError(reason, code="closed"))
        self._pending.clear()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._on_end(reason)

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification. Never waits; raises :class:`PeerClosedError` when the stream is over."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)

    async def request(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Send a request and return its result.

        Raises :class:`RpcError`, :class:`PeerClosedError`, or ``TimeoutError`` after ``timeout`` seconds. A request
        that is given up, by time or by cancellation, is cancelled at the server too.
        """
        self._last_id += 1
        number = self._last_id
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._send(message)
        self._pending[number] = future
        try:
            async with asyncio.timeout(timeout):
                return await future
        except (TimeoutError, asyncio.CancelledError):
            if self._end_reason is None:
                self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            self._pending.pop(number, None)

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._end_reason is not None:
            raise PeerClosedError(self._end_reason, code="closed")
        transport = self._writer.transport
        if transport.is_closing():
            raise PeerClosedError("has its input closed", code=INPUT_CLOSED)
        if transport.get_write_buffer_size() > PENDING_BYTES:
            self.end("does not read its input")
            raise PeerClosedError("does not read its input", code="closed")
        framed = frame(message)
        self._writer.write(framed)
        self._trace.sent(memoryview(framed)[framed.index(b"\r\n\r\n") + 4 :])

    async def _read(self) -> None:
        reason = "closed its output"
        try:
            while data := await self._reader.read(READ_BYTES):
                for body in self._decoder.feed(data):
                    self._trace.received(body)
                    message = await self._decode(body)
                    if message is not None:
                        self._dispatch(message)
                    if self._end_reason is not None:
                        return
            if self._explain_end is not None:
                reason = await self._explain_end()
        except FramingError as error:
            reason = error.what
        except OSError as error:
            reason = f"broke its output: {error.strerror or error}"
        self.end(reason)

    async def _decode(self, body: bytes) -> dict[str, Any] | None:
        try:
            # A publish of megabytes would hold up the screen.
            message = await asyncio.to_thread(_loads, body) if len(body) > THREAD_BYTES else _loads(body)
        except (ValueError, RecursionError) as error:
            self._on_fault(f"left out a message of {len(body)} bytes that is no JSON: {error}")
            return None
        if not isinstance(message, dict):
            self._on_fault("left out a message that is no object")
            return None
        return cast(dict[str, Any], message)

    def _dispatch(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if isinstance(method, str):
            if "id" in message:
                self._answer(message["id"], method, message.get("params"))
            else:
                self._on_notification(method, message.get("params"))
            return
        number = message.get("id")
        if isinstance(number, str) and number.isdecimal():
            number = int(number)
        future = self._pending.get(number) if isinstance(number, int) else None
        if future is None or future.done():
            return  # the answer to a request that was given up
        error: object = message.get("error")
        if error is None:
            future.set_result(message.get("result"))
        else:
            future.set_exception(_rpc_error(error))

    def _answer(self, number: Any, method: str, params: Any) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            reply["result"] = self._on_request(method, params)
        except UnknownMethodError:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"{method} is not supported"}
        except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
            # Parameters of any shape reach the handlers; silence would leave the server waiting.
            reply["error"] = {"code": INVALID_PARAMS, "message": f"{method}: {error}"}
            self._on_fault(f"sent {method} with parameters that do not fit: {error}")
        with contextlib.suppress(PeerClosedError):  # its input is closed while we stop it: nobody waits for this
            self._send(reply)


def _loads(body: bytes) -> Any:
    return json.loads(body.decode("utf-8", "replace"))


def _rpc_error(error: object) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(0, str(error))
    fields = cast(dict[str, Any], error)
    number: object = fields.get("code")
    return RpcError(
        number if isinstance(number, int) else 0, str(fields.get("message") or "no reason given"), fields.get("data")
    )
