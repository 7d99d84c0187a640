"""Content-Length framing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.lsp.framing import JUNK_BYTES, FrameDecoder, FramingError, frame


def test_the_length_counts_bytes_and_not_characters():
    assert frame({"a": "é"}) == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xa9"}'


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 2\r\n\r\n{}",
        b"content-length:2\r\n\r\n{}",
        b"CONTENT-LENGTH : 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}",
        b"Content-Type: x\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 2\n\n{}",
        b"Starting up\nContent-Length: 2\r\n\r\n{}",
        b"no line end hereContent-Length: 2\r\n\r\n{}",
        b"\r\n\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_headers_of_any_shape_are_understood(data):
    assert FrameDecoder().feed(data) == [b"{}"]


def test_what_was_skipped_is_kept_for_a_person():
    decoder = FrameDecoder()
    decoder.feed(b"\x1b[31mwarming\x1b[0m up\nsecond\n")
    assert decoder.skipped == "warming up"


@given(st.lists(st.text(max_size=40), max_size=6), st.data())
def test_any_cutting_of_the_stream_gives_the_same_messages(texts, data):
    stream = b"".join(frame({"text": text}) for text in texts)
    decoder, bodies = FrameDecoder(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        bodies += decoder.feed(stream[:size])
        stream = stream[size:]
    assert [json.loads(body)["text"] for body in bodies] == texts


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Content-Length: 0\r\n\r\n", "sent Content-Length 0"),
        (b"Content-Length: -1\r\n\r\n", "sent Content-Length -1"),
        (b"Content-Length: 67108865\r\n\r\n", "sent Content-Length 67108865"),
        (b"Content-Length: ten\r\n\r\n", "sent Content-Length ten"),
        (b"Content-Length:\r\n\r\n", "sent Content-Length (empty)"),
        (b"Content-Type: x\r\n\r\n{}", "without Content-Length"),
        (b"word\n" * (JUNK_BYTES // 5 + 1), "writes something else than messages to its output: word"),
        (b"x" * (JUNK_BYTES + 1), "writes something else than messages"),
    ],
)
def test_a_stream_that_cannot_be_followed_fails_with_a_clear_text(data, text):
    with pytest.raises(FramingError, match=text.replace("(", r"\(").replace(")", r"\)")):
        FrameDecoder().feed(data)


def test_junk_is_counted_between_messages_only():
    decoder = FrameDecoder()
    for _ in range(4):
        assert decoder.feed(b"x" * 4_000 + b"\nContent-Length: 2\r\n\r\n{}") == [b"{}"]
