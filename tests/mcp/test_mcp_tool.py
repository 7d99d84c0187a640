"""An MCP tool behind the common seam: what is decided on, what is run, what a model is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.mcp_sinks import FakeSink

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.events import ToolProgress
from harness_tui.core.seams import Check, Tool, ToolContext, ToolResult
from harness_tui.mcp.listing import CallOutcome
from harness_tui.mcp.pool import McpPool

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]


async def run(pool: McpPool, name: str, arguments: dict[str, object], context: ToolContext) -> ToolResult:
    tool = pool.find(name)
    assert isinstance(tool, Tool)
    return await tool.run(await tool.prepare(arguments, context), context)


@pytest.fixture
async def simple(make_pool: Make, server: Entry) -> McpPool:
    pool = make_pool(server("simple"))
    pool.start()
    assert await pool.wait_started(60)
    return pool


@pytest.fixture
async def plain(make_pool: Make, server: Entry) -> McpPool:
    pool = make_pool(server("plain"))
    pool.start()
    assert await pool.wait_started(60)
    return pool


async def test_a_call_is_shown_with_its_arguments_and_decided_under_its_name(
    simple: McpPool, context: ToolContext
) -> None:
    tool = simple.find("simple_work")
    assert tool is not None
    prepared = await tool.prepare({"word": "\x1b[31mred", "more": [1]}, context)
    assert prepared.title == "simple: work (word=red, more=[1])"
    assert prepared.checks == (Check("mcp", "simple_work"),)
    assert prepared.preview == ArgumentsPreview({"word": "\x1b[31mred", "more": [1]})


async def test_the_result_is_the_text(simple: McpPool, context: ToolContext) -> None:
    result = await run(simple, "simple_work", {"word": "42"}, context)
    assert (result.output, result.is_error, result.full_output) == ("42", False, None)
    assert result.metadata["server"] == "simple"


TEXT = {"type": "text", "text": "blue"}


@pytest.mark.parametrize(
    ("outcome", "threads"),
    [
        (CallOutcome((TEXT,)), 0),
        (CallOutcome((TEXT, TEXT), {"result": "blue", "count": 2}), 0),
        (CallOutcome((), 7), 0),
        (CallOutcome(({"type": "text", "text": "b" * 16_385},)), 1),
        (CallOutcome((TEXT,), {"result": "b" * 16_385}), 1),
        (CallOutcome((TEXT,), {"rows": [1, 2]}), 1),
        (CallOutcome((TEXT,), ["blue"]), 1),
        (CallOutcome((TEXT,) * 33), 1),
        (CallOutcome((TEXT, {"type": "image", "mimeType": "image/png", "data": "AAAA"})), 1),
    ],
)
async def test_only_a_little_text_is_drawn_without_a_thread(
    simple: McpPool, context: ToolContext, monkeypatch: pytest.MonkeyPatch, outcome: CallOutcome, threads: int
) -> None:
    taken: list[object] = []
    to_thread = asyncio.to_thread

    async def call(*_: object, **__: object) -> CallOutcome:
        return outcome

    async def count(work: Callable[..., object], *arguments: object) -> object:
        taken.append(work)
        return await to_thread(work, *arguments)

    monkeypatch.setattr(simple, "call", call)
    monkeypatch.setattr(asyncio, "to_thread", count)
    await run(simple, "simple_work", {"word": "42"}, context)
    assert len(taken) == threads


async def test_an_error_of_the_tool_is_an_error_that_the_model_reads(simple: McpPool, context: ToolContext) -> None:
    result = await run(simple, "simple_fail", {}, context)
    assert result.is_error
    assert result.output == "the disk is full"


async def test_wrong_arguments_are_the_servers_to_refuse(plain: McpPool, context: ToolContext) -> None:
    result = await run(plain, "plain_add", {"a": "many"}, context)
    assert result.is_error
    assert "b" in result.output


async def test_progress_becomes_events_of_the_call(plain: McpPool, context: ToolContext, sink: FakeSink) -> None:
    await run(plain, "plain_count", {"to": 3}, context)
    events = sink.of(ToolProgress)
    assert events[0] == ToolProgress("c1", 1.0, 3.0, "step 1")
    assert events[-1] == ToolProgress("c1", 3.0, 3.0, "step 3")


async def test_a_picture_is_a_file_a_note_and_an_attachment(plain: McpPool, context: ToolContext) -> None:
    result = await run(plain, "plain_picture", {}, context)
    (file,) = (context.session_dir / "images").iterdir()
    assert result.output == f"one pixel\n[image: image/png, {file.stat().st_size} bytes, saved as {file}]"
    assert [attachment.mime for attachment in result.attachments] == ["image/png"]


async def test_a_long_result_is_cut_and_kept_whole(make_pool: Make, server: Entry, context: ToolContext) -> None:
    pool = make_pool(server("big_result"))
    pool.start()
    assert await pool.wait_started(60)
    result = await run(pool, "big_result_big", {"megabytes": 10}, context)
    assert len(result.output) < 60_000
    assert result.full_bytes == 10_000_000
    assert result.full_output is not None
    assert Path(result.full_output).stat().st_size == 10_000_000
    assert result.full_output in result.output


async def test_promised_structure_that_is_missing_is_noted_and_the_text_kept(
    make_pool: Make, server: Entry, context: ToolContext
) -> None:
    pool = make_pool(server("bad_tools"))
    pool.start()
    assert await pool.wait_started(60)
    result = await run(pool, "bad_tools_promises", {}, context)
    assert result.output == "no structure"
    assert result.metadata["note"] == "the tool declares structured output and returned none"


async def test_a_server_that_cannot_be_had_is_the_reason_of_the_error(
    make_pool: Make, server: Entry, context: ToolContext
) -> None:
    good = make_pool(server("simple"))
    good.start()
    assert await good.wait_started(60)
    tool = good.find("simple_work")
    assert tool is not None
    prepared = await tool.prepare({}, context)
    await good.close()
    with pytest.raises(ToolError, match="MCP server simple: the session is ending"):
        await tool.run(prepared, context)
