"""Server-sent events from bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from harness_tui.models.event_stream import TooLongError, data_of


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
    assert await events(b"data: a") == ["a"]
    assert await events(b": nothing") == []


async def test_a_line_or_an_event_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLongError):
        await events(b"data: " + b"x" * 600, b"x" * 600)
    with pytest.raises(TooLongError):
        await events(*[b"data: " + b"x" * 100 + b"\n"] * 20)
