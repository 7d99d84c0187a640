"""Lines to messages: junk is counted, odd bytes are survived, an answer that is too long fails its request only."""

from __future__ import annotations

from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from mcp_types.methods import validate_server_result

from harness_tui.mcp.exchange import Exchange, parsed
from harness_tui.mcp.framing import Oversized
from harness_tui.mcp.repair import Repairs


def exchange(*pending: int) -> Exchange:
    made = Exchange(Repairs(validate_server_result))
    for number in pending:
        made.sent(JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call"))
    return made


def response(text: bytes) -> dict[str, object]:
    (message,) = parsed(text)
    assert isinstance(message, JSONRPCResponse)
    return message.result


def test_a_message_is_parsed() -> None:
    assert response(b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}') == {"a": 1}


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert response(b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}') == {"a": "�"}


def test_a_lone_surrogate_is_replaced() -> None:
    assert response(b'{"jsonrpc":"2.0","id":1,"result":{"a":"x\\ud800y"}}') == {"a": "x?y"}


def test_a_banner_glued_to_the_front_costs_only_itself() -> None:
    assert response(b'Loading...{"jsonrpc":"2.0","id":1,"result":{"a":1}}') == {"a": 1}
    assert response(b'[info] up {"jsonrpc":"2.0","id":1,"result":{"a":1}}') == {"a": 1}


def test_a_batch_is_several_messages() -> None:
    batch = b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}, 7]'
    assert [message.id for message in parsed(batch) if isinstance(message, JSONRPCResponse)] == [1, 2]


def test_deep_nesting_is_junk_and_no_crash() -> None:
    assert list(parsed(b"[" * 200_000)) == []


def test_junk_is_counted_and_told_once() -> None:
    made = exchange()
    assert list(made.messages(b"Welcome!")) == []
    assert list(made.messages(b"\x1b[31mmore\x1b[0m")) == []
    assert made.junk == 2
    (remark,) = made.take_remarks()
    assert remark.endswith("passed over: Welcome!")
    assert made.take_remarks() == []


def test_empty_lines_and_byte_order_marks_are_not_junk() -> None:
    made = exchange()
    assert list(made.messages(b"\r")) == []
    assert len(list(made.messages(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}\r'))) == 1
    assert made.junk == 0


def test_an_answer_that_is_too_long_fails_its_request() -> None:
    (error,) = exchange(4, 5).messages(Oversized(20 * 1024 * 1024, b'{"jsonrpc":"2.0","id":5,"result":', b"}}"))
    assert isinstance(error, JSONRPCError)
    assert error.id == 5
    assert error.error.message == "the answer of 20.0 MiB is over the limit of 16 MiB for one message"


def test_an_answer_that_is_too_long_and_nameless_fails_the_only_request() -> None:
    (error,) = exchange(4).messages(Oversized(20_000_000, b'{"result":{"a":', b'"},"x":1}'))
    assert isinstance(error, JSONRPCError)
    assert error.id == 4


def test_a_notification_that_is_too_long_fails_nothing_and_is_told() -> None:
    made = exchange(4)
    assert list(made.messages(Oversized(20_000_000, b'{"jsonrpc":"2.0","method":"x"', b"}"))) == []
    assert made.take_remarks() == ["a message of 19.1 MiB was dropped, the limit is 16 MiB"]
