"""What passes over one connection: which request an answer belongs to, and what came that was no message.

Both transports send every message through here, so that repair, counting and the limits are the same for both. Imports
the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic_core import from_json

from harness_tui.core.limits import MCP_MESSAGE_BYTES, MIB
from harness_tui.mcp.framing import Line, Oversized
from harness_tui.mcp.reasons import TOO_LARGE, one_line
from harness_tui.mcp.repair import Repairs

_KEPT_REQUESTS: Final = 10_000


class Exchange:
    """The bookkeeping of one connection.

    ``junk`` counts lines that were no message, ``first_junk`` is the first of them, ``oversized`` counts long ones.
    """

    # Large lines are parsed in a thread, so nothing here calls anybody: remarks wait until they are taken.

    def __init__(self, repairs: Repairs) -> None:
        self.repairs = repairs
        self.junk = 0
        self.first_junk = ""
        self.oversized = 0
        self._remarks: list[str] = []
        self._methods: dict[int | str, str] = {}

    def remark(self, text: str) -> None:
        """Keep something that a person should know of this server."""
        self._remarks.append(text)

    def take_remarks(self) -> list[str]:
        """Return the remarks that nobody has taken yet."""
        taken, self._remarks = self._remarks, []
        return taken

    def sent(self, message: JSONRPCMessage) -> None:
        """Note a message on its way out."""
        match message:
            case JSONRPCRequest():
                if len(self._methods) >= _KEPT_REQUESTS:
                    self._methods.pop(next(iter(self._methods)))
                self._methods[message.id] = message.method
            case JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": int() | str() as cancelled}
            ):
                self._methods.pop(cancelled, None)
            case _:
                pass

    def received(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Note a message that came in, its result mended."""
        match message:
            case JSONRPCResponse():
                method = self._methods.pop(message.id, None)
                if method is not None:
                    self.repairs.mend(method, message.result)
            case JSONRPCError():
                if message.id is not None:
                    self._methods.pop(message.id, None)
            case _:
                pass
        return message

    def messages(self, line: Line) -> Iterator[JSONRPCMessage]:
        """Return the messages of one line: none for junk, an error in place of an answer that is too long."""
        if isinstance(line, Oversized):
            yield from self._refused(line)
            return
        text = line.strip(b"\r\n \t\xef\xbb\xbf\x00")
        if not text:
            return
        found = list(parsed(text))
        if not found:
            self.junk += 1
            if self.junk == 1:
                shown = self.first_junk = one_line(text[:400].decode("utf-8", "replace"))
                self.remark(f"it writes lines to its output that are no messages; they are passed over: {shown}")
        for message in found:
            yield self.received(message)

    def _refused(self, line: Oversized) -> Iterator[JSONRPCMessage]:
        self.oversized += 1
        answered = line.request_id
        if answered is None and line.is_answer and len(self._methods) == 1:
            answered = next(iter(self._methods))
        limit = MCP_MESSAGE_BYTES // MIB
        if answered is None or not line.is_answer:
            self.remark(f"a message of {line.size / MIB:.1f} MiB was dropped, the limit is {limit} MiB")
            return
        text = f"the answer of {line.size / MIB:.1f} MiB is over the limit of {limit} MiB for one message"
        yield self.received(JSONRPCError(jsonrpc="2.0", id=answered, error=ErrorData(code=TOO_LARGE, message=text)))


def parsed(text: bytes) -> Iterator[JSONRPCMessage]:
    """Return the messages in ``text``: one, several of a batch, or none when it is something else.

    Bytes that are not UTF-8, lone surrogates and a banner glued to the front cost nothing but themselves.
    """
    try:
        # In two steps: in one, the adapter would read a large message once for each kind of message.
        yield jsonrpc_message_adapter.validate_python(from_json(text), by_name=False)
        return
    except ValueError:
        pass  # looked at again below, with more patience
    begin = text.find(b'{"jsonrpc"')
    if begin < 0 and not text.startswith((b"[", b"{")):
        return
    shown = (text if text.startswith((b"[", b"{")) else text[begin:]).decode("utf-8", "replace")
    try:
        data = json.loads(shown)
    except (ValueError, RecursionError):
        if begin > 0 and text.startswith((b"[", b"{")):
            yield from parsed(text[begin:])
        return
    for item in cast(list[Any], data) if isinstance(data, list) else [data]:
        try:
            yield jsonrpc_message_adapter.validate_python(without_surrogates(item), by_name=False)
        except (ValueError, RecursionError):
            continue


def without_surrogates(value: Any) -> Any:
    """Return JSON data with lone surrogates, which UTF-8 has no room for, replaced by ``?``."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case dict():
            entries = cast(dict[str, Any], value)
            return {without_surrogates(key): without_surrogates(item) for key, item in entries.items()}
        case list():
            return [without_surrogates(item) for item in cast(list[Any], value)]
        case _:
            return value
