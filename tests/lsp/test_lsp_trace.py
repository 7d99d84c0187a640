"""The last messages of a server, for people."""

from __future__ import annotations

import json

import pytest

from harness_tui.core.redaction import MARK, REDACTOR
from harness_tui.lsp.framing import frame
from harness_tui.lsp.trace import MESSAGES, SHOWN_BYTES, Trace


def body(**fields: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def heads(trace: Trace) -> list[str]:
    """Return the lines about messages without their times."""
    return [line[len("--- 12:34:56.789 ") :] for line in trace.text().split("\n") if line.startswith("--- ")]


def test_each_message_has_its_direction_method_id_and_size() -> None:
    trace = Trace()
    asked, answered, told = body(id=1, method="initialize"), body(id=1, result={}), body(method="initialized")
    trace.sent(asked)
    trace.received(answered)
    trace.sent(told)
    assert heads(trace) == [
        f"→ initialize #1 ({len(asked)} bytes)",
        f"← answer #1 ({len(answered)} bytes)",
        f"→ initialized ({len(told)} bytes)",
    ]
    assert asked.decode() in trace.text()


def test_old_messages_go_and_are_counted() -> None:
    trace = Trace()
    for number in range(MESSAGES + 7):
        trace.received(body(id=number, result=None))
    lines = trace.text().split("\n")
    assert lines[0] == "--- 7 older messages are not kept"
    assert "#7 " in lines[1]
    assert len(lines) == 1 + 2 * MESSAGES


def test_a_long_message_is_cut_and_what_is_no_json_is_shown_on_one_line() -> None:
    trace = Trace()
    trace.received(body(method="m", params="x" * 5_000))
    trace.received(b"\xff\x1b[2J\nnot json")
    lines = trace.text().split("\n")
    assert len(lines) == 4
    assert lines[1].endswith("x …")
    assert len(lines[1]) < SHOWN_BYTES
    assert "\x1b" not in lines[3]


@pytest.mark.parametrize("before", range(SHOWN_BYTES - 120, SHOWN_BYTES - 20, 7))
def test_no_part_of_a_secret_is_shown_where_it_is_cut(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "hunter2-hunter3-hunter4-hunter5"
    monkeypatch.setattr(REDACTOR, "_values", set(REDACTOR._values))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(REDACTOR, "_pattern", None)
    REDACTOR.add(secret)
    trace = Trace()
    trace.sent(body(method="m", params={"text": " " * (before - 50), "key": secret, "rest": "y" * 3_000}))
    trace.sent(body(method="m", params={"key": secret}))
    shown = trace.text()
    assert "hunter2" not in shown
    assert MARK in shown


def test_the_header_of_a_message_is_not_part_of_it() -> None:
    trace = Trace()
    framed = frame({"jsonrpc": "2.0", "method": "exit"})
    trace.sent(memoryview(framed)[framed.index(b"\r\n\r\n") + 4 :])
    assert trace.text().split("\n")[1] == '{"jsonrpc":"2.0","method":"exit"}'
