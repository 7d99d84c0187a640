"""Server-sent events from bytes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from harness_tui.models.event_stream import NoEventsError, TooLongError, data_of


async def events(*chunks: bytes, line_bytes: int = 1000) -> list[str]:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [data async for data in data_of(source(), line_bytes=line_bytes)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_every_line_end_is_understood(end: bytes) -> None:
    text = b"event: x\ndata: one\nid: 3\n\n: comment\n\ndata:two\ndata: three\n\n".replace(b"\n", end)
    assert await events(text) == ["one", "two\nthree"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_bytes_that_come_one_by_one_give_the_same(end: bytes) -> None:
    text = "data: Grüße 日本\n\ndata: b\n\n".encode().replace(b"\n", end)
    assert await events(*(text[index : index + 1] for index in range(len(text)))) == ["Grüße 日本", "b"]


async def test_the_last_event_needs_no_empty_line() -> None:
    assert await events(b"data: a\n\ndata: b\n") == ["a", "b"]
    assert await events(b'data: {"a": 1}') == ['{"a": 1}']
    assert await events(b"data: [DONE]") == ["[DONE]"]
    assert await events(b": nothing") == []


async def test_an_event_that_the_end_cuts_in_its_line_is_none() -> None:
    assert await events(b'data: {"a": 1}\n\ndata: {"b"') == ['{"a": 1}']


async def test_a_byte_order_mark_hides_no_event() -> None:
    text = b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n"
    assert await events(text) == ["a", "\ufeffb"]
    assert await events(*(text[index : index + 1] for index in range(len(text)))) == ["a", "\ufeffb"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b'event: error\ndata: {"message": "boom"}\n\n', {"message": "boom"}),
        (b"event: error\ndata: boom\n\n", "boom"),
        (b'error: {"code": 500}\n\n', {"code": 500}),
        (b'event: error\ndata: {"type": "error", "error": {"type": "x"}}\n\n', {"type": "x"}),
    ],
)
async def test_an_error_that_the_name_of_the_event_or_field_tells_is_in_the_data(text: bytes, error: object) -> None:
    first, failed, after = await events(b"data: {}\n\n", text, b"data: {}\n\n")
    assert (first, json.loads(failed)["error"], after) == ("{}", error, "{}")


async def test_what_is_no_stream_of_events_is_told_with_its_beginning() -> None:
    with pytest.raises(NoEventsError, match=r"^hello there$"):
        await events(b"hello ", b"there\nand more")
    with pytest.raises(NoEventsError, match=r"^hello$"):
        await events(b"hello")
    assert await events(b"nonsense\ndata: a\n\n") == ["a"]


async def test_a_line_or_an_event_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLongError):
        await events(b"data: " + b"x" * 600, b"x" * 600)
    with pytest.raises(TooLongError):
        await events(*[b"data: " + b"x" * 100 + b"\n"] * 20)
