"""The JSON-RPC peer over a socket pair: the other end is the test."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from harness_tui.lsp.framing import FrameDecoder, frame
from harness_tui.lsp.rpc import Peer, PeerClosedError, RpcError, UnknownMethodError


class Ends:
    """A peer, and the other end of its streams."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.notifications: list[tuple[str, Any]] = []
        self.faults: list[str] = []
        self.ended: list[str] = []
        self._decoder, self._bodies = FrameDecoder(), []

    async def connect(self) -> None:
        here, there = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=here)
        self.reader, self.writer = await asyncio.open_connection(sock=there)
        self.peer = Peer(
            reader,
            writer,
            on_request=self.answer,
            on_notification=lambda method, params: self.notifications.append((method, params)),
            on_end=self.ended.append,
            on_fault=self.faults.append,
        )
        self.peer.start()

    def answer(self, method: str, params: Any) -> Any:
        self.requests.append((method, params))
        if method == "known":
            return {"echo": params["value"]}
        raise UnknownMethodError(method)

    def send(self, message: Any) -> None:
        self.writer.write(frame(message))

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(5):
            while not self._bodies:
                self._bodies += self._decoder.feed(await self.reader.read(65_536))
        return json.loads(self._bodies.pop(0))


@pytest.fixture
async def ends() -> AsyncIterator[Ends]:
    made = Ends()
    await made.connect()
    yield made
    made.peer.end("over")
    made.writer.close()


@pytest.mark.parametrize("echo", [int, str])
async def test_an_answer_finds_its_request_also_with_its_id_as_text(ends, echo):
    asking = asyncio.create_task(ends.peer.request("sum", [1, 2]))
    assert await ends.receive() == {"jsonrpc": "2.0", "id": 1, "method": "sum", "params": [1, 2]}
    ends.send({"id": echo(1), "result": 3})
    assert await asking == 3


async def test_answers_may_come_in_any_order_and_with_neither_result_nor_error(ends):
    first, second = (asyncio.create_task(ends.peer.request(name)) for name in ("one", "two"))
    await ends.receive()
    await ends.receive()
    ends.send({"id": 2})
    ends.send({"id": 99, "result": "nobody asked"})
    ends.send({"id": 1, "result": "one"})
    assert (await first, await second) == ("one", None)


async def test_an_error_keeps_code_text_and_data(ends):
    asking = asyncio.create_task(ends.peer.request("x"))
    await ends.receive()
    ends.send({"id": 1, "error": {"code": -32802, "message": "later\x1b[2J", "data": {"retriggerRequest": True}}})
    with pytest.raises(RpcError, match=r"^later$") as caught:
        await asking
    assert (caught.value.number, caught.value.data) == (-32802, {"retriggerRequest": True})


@pytest.mark.parametrize("number", ["abc", 7, None])
async def test_a_request_of_the_server_is_answered_under_its_own_id(ends, number):
    ends.send({"id": number, "method": "known", "params": {"value": 1}})
    assert await ends.receive() == {"jsonrpc": "2.0", "id": number, "result": {"echo": 1}}


async def test_an_unknown_request_is_answered_with_method_not_found(ends):
    ends.send({"id": 1, "method": "mystery"})
    assert (await ends.receive())["error"] == {"code": -32601, "message": "mystery is not supported"}


async def test_parameters_that_do_not_fit_are_answered_and_told(ends):
    ends.send({"id": 1, "method": "known", "params": None})
    assert (await ends.receive())["error"]["code"] == -32602
    assert ends.faults[0].startswith("sent known with parameters that do not fit")


async def test_a_message_that_is_no_json_is_told_and_left_out(ends):
    ends.writer.write(b"Content-Length: 5\r\n\r\n{nope" + b"Content-Length: 2\r\n\r\n[]")
    ends.writer.write(b"Content-Length: 100001\r\n\r\n" + b"[" * 100_001)
    ends.send({"method": "after"})
    async with asyncio.timeout(5):
        while not ends.notifications:
            await asyncio.sleep(0.01)
    assert ends.notifications == [("after", None)]
    assert len(ends.faults) == 3


async def test_a_message_of_megabytes_is_read_whole_and_in_order(ends):
    ends.send({"method": "large", "params": "é" * 1_500_000})
    ends.send({"method": "small"})
    async with asyncio.timeout(10):
        while len(ends.notifications) < 2:
            await asyncio.sleep(0.01)
    assert [method for method, _ in ends.notifications] == ["large", "small"]
    assert len(ends.notifications[0][1]) == 1_500_000


async def test_the_end_of_the_stream_wakes_everyone_and_is_told_once(ends):
    waiting = [asyncio.create_task(ends.peer.request("x")) for _ in range(3)]
    await ends.receive()
    ends.writer.close()
    for task in waiting:
        with pytest.raises(PeerClosedError, match="closed its output"):
            await task
    assert ends.ended == ["closed its output"]
    with pytest.raises(PeerClosedError):
        ends.peer.notify("x")
    with pytest.raises(PeerClosedError):
        await ends.peer.request("x")


async def test_a_request_that_is_given_up_is_cancelled_at_the_server(ends):
    with pytest.raises(TimeoutError):
        await ends.peer.request("slow", timeout=0.05)
    await ends.receive()
    assert await ends.receive() == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}
    ends.send({"id": 1, "result": "too late"})
    asking = asyncio.create_task(ends.peer.request("next"))
    await ends.receive()
    ends.send({"id": 2, "result": "in time"})
    assert await asking == "in time"


async def test_a_server_that_does_not_read_is_given_up_and_never_waited_for(ends):
    text = "x" * 8_000_000
    for _ in range(5):
        ends.peer.notify("large", text)
    with pytest.raises(PeerClosedError, match="does not read its input"):
        ends.peer.notify("large", text)
    assert ends.ended == ["does not read its input"]
