"""Lines out of bytes: any chunking gives the same lines, and too long ones leave their ends behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness_tui.mcp.framing import LineAssembler, Oversized


def test_lines_are_joined_over_chunks() -> None:
    lines = LineAssembler(100)
    assert lines.feed(b"one\ntw") == [b"one"]
    assert lines.feed(b"o\n\nthree") == [b"two", b""]
    assert lines.finish() == [b"three"]
    assert lines.finish() == []


@given(st.binary(max_size=200).map(lambda data: data.replace(b"z", b"\n")), st.integers(1, 20))
def test_the_size_of_chunks_does_not_matter(data: bytes, size: int) -> None:
    lines = LineAssembler(1_000)
    found = [line for start in range(0, len(data), size) for line in lines.feed(data[start : start + size])]
    assert b"\n".join([*found, *lines.finish(), *([b""] if data.endswith(b"\n") else [])]) == data  # type: ignore[list-item]


def test_a_line_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    lines = LineAssembler(10)
    assert lines.feed(b"0123456789\n") == [b"0123456789"]
    (line,) = lines.feed(b"0123456789a\n")
    assert line == Oversized(11, b"0123456789a", b"0123456789a")


def test_the_line_after_an_oversized_one_is_whole() -> None:
    lines = LineAssembler(10)
    first, second = lines.feed(b"x" * 50 + b"\nfine\n")
    assert isinstance(first, Oversized)
    assert second == b"fine"


def test_an_oversized_line_keeps_its_two_ends() -> None:
    lines = LineAssembler(10_000)
    for _ in range(100):
        assert lines.feed(b"m" * 1_000) == []
    (line,) = lines.feed(b"tail\n")
    assert isinstance(line, Oversized)
    assert line.size == 100_004
    assert line.head == b"m" * 4_096
    assert line.tail == b"m" * 4_092 + b"tail"


def ends(head: bytes, tail: bytes) -> Oversized:
    return Oversized(20_000_000, head, tail)


def test_the_request_id_is_read_at_the_front() -> None:
    assert ends(b'{"jsonrpc":"2.0","id":7,"result":{"id": 3', b'"}]}}').request_id == 7
    assert ends(b'{"id": "a-1", "result":', b"}}").request_id == "a-1"


def test_the_request_id_is_read_at_the_end() -> None:
    assert ends(b'{"result":{"content":[', b'"}]},"jsonrpc":"2.0","id":12}').request_id == 12
    assert ends(b'{"result":{"content":[', b'"}]},"id":13,"jsonrpc":"2.0"}\r').request_id == 13


def test_an_id_inside_the_result_is_not_taken_for_the_request_id() -> None:
    assert ends(b'{"result":{"id":1,', b'{"id":5}}}').request_id is None


def test_a_notification_is_not_an_answer() -> None:
    assert not ends(b'{"jsonrpc":"2.0","method":"notifications/message",', b"}}").is_answer
    assert ends(b'{"jsonrpc":"2.0","id":1,"result":', b"}}").is_answer
