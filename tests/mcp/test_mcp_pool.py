"""The pool with real servers: starts side by side, states with reasons, tools under stable names, a clean end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.mcp_sinks import FakeAudit, FakeSink

from harness_tui.children.registry import ChildRegistry
from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.events import ServerChanged
from harness_tui.mcp.pool import McpPool

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]


async def opened(pool: McpPool, *, eager: bool = False) -> McpPool:
    pool.start(eager=eager)
    assert await pool.wait_started(60)
    return pool


def text(outcome: object) -> str:
    return "\n".join(block["text"] for block in outcome.content)  # type: ignore[attr-defined]


async def test_one_bad_server_costs_the_others_nothing(make_pool: Make, server: Entry, sink: FakeSink) -> None:
    pool = make_pool(
        server("plain"),
        server("exits_at_once"),
        server("never_answers", timeout=McpTimeouts(start=2)),
        McpServerSettings(name="missing", command=("no-such-program-anywhere",)),
    )
    await opened(pool)
    status = {line.name: line for line in pool.status()}
    assert list(status) == ["exits_at_once", "missing", "never_answers", "plain"]
    assert status["exits_at_once"].reason == "exited with code 1 before answering: API_TOKEN is not set"
    assert status["exits_at_once"].stderr_tail == "Traceback: something long\nAPI_TOKEN is not set"
    assert status["never_answers"].reason == "did not answer within 2 s"
    assert "no-such-program-anywhere" in (status["missing"].reason or "")
    assert [status[name].state for name in status] == ["failed", "failed", "failed", "ready"]
    assert status["plain"].protocol == "2026-07-28"
    assert status["plain"].tools == 5
    assert text(await pool.call("plain", "add", {"a": 2, "b": 3})) == "5"
    assert len(sink.notices("error")) == 3


async def test_states_tools_and_prompts_are_told_with_what_is_known(
    make_pool: Make, server: Entry, sink: FakeSink
) -> None:
    pool = await opened(make_pool(server("plain")))
    assert sink.states("plain") == ["starting", "ready"]
    ready = sink.of(ServerChanged)[-1]
    assert ready.kind == "mcp"
    assert ready.detail.tools == 5
    assert ready.detail.protocol == "2026-07-28"
    assert ready.detail.pid is not None
    check_tools(pool)
    await check_prompts(pool)
    await pool.close()
    assert sink.states("plain") == ["starting", "ready", "stopped"]


def check_tools(pool: McpPool) -> None:
    """They carry their source, schema and fingerprint."""
    tools = pool.tools()
    assert [tool.spec.name for tool in tools] == [
        "plain_add",
        "plain_count",
        "plain_environment",
        "plain_fail",
        "plain_picture",
    ]
    add = tools[0].spec
    assert (add.source.kind, add.source.server) == ("mcp", "plain")
    assert add.description == "Add two numbers."
    assert add.parameters["required"] == ["a", "b"]
    assert add.read_only
    assert not tools[3].spec.read_only
    assert add.fingerprint is not None
    assert len(add.fingerprint) == 64


async def check_prompts(pool: McpPool) -> None:
    """They are listed and fetched."""
    (prompt,) = pool.prompts()
    assert (prompt.server, prompt.name, prompt.description) == ("plain", "greet", "Greet somebody.")
    assert [(argument.name, argument.required) for argument in prompt.arguments] == [("who", True)]
    (message,) = await pool.get_prompt("plain", "greet", {"who": "Ada"})
    assert (message.role, message.text) == ("user", "Say hello to Ada.")
    with pytest.raises(ToolError):
        await pool.get_prompt("plain", "nope", {})


async def test_untrusted_disabled_and_faulty_entries_are_listed_and_never_started(
    make_pool: Make, server: Entry, registry: ChildRegistry
) -> None:
    pool = make_pool(
        server("simple", name="a", trusted=False),
        server("simple", name="b", enabled=False),
        server("simple", name="c", error="command must be a list"),
    )
    await opened(pool, eager=True)
    status = {line.name: line for line in pool.status()}
    assert [status[name].state for name in "abc"] == ["disabled", "disabled", "failed"]
    assert "harness trust" in (status["a"].reason or "")
    assert status["b"].reason == "disabled in the configuration"
    assert status["c"].reason == "command must be a list"
    assert registry.list() == []
    with pytest.raises(ToolError, match="harness trust"):
        await pool.call("a", "work", {})
    with pytest.raises(ToolError, match="harness trust"):
        await pool.restart("a")


async def test_a_lazy_server_with_a_manifest_starts_at_its_first_call(
    make_pool: Make, server: Entry, registry: ChildRegistry, sink: FakeSink
) -> None:
    first = await opened(make_pool(server("simple")))
    await first.close()
    sink.events.clear()
    pool = await opened(make_pool(server("simple")))
    (line,) = pool.status()
    assert (line.state, line.tools) == ("idle", 2)
    assert pool.find("simple_work") is not None
    assert registry.list() == []
    assert text(await pool.call("simple", "work", {})) == "worked"
    assert sink.states("simple") == ["idle", "starting", "ready"]
    assert sink.notices("info") == []


async def test_lazy_false_and_eager_start_in_spite_of_a_manifest(make_pool: Make, server: Entry) -> None:
    await (await opened(make_pool(server("simple")))).close()
    pool = await opened(make_pool(server("simple", lazy=False)))
    assert pool.status()[0].state == "ready"
    await pool.close()
    again = await opened(make_pool(server("simple")), eager=True)
    assert again.status()[0].state == "ready"


async def test_loading_alone_starts_nothing(make_pool: Make, server: Entry, registry: ChildRegistry) -> None:
    await (await opened(make_pool(server("simple")))).close()
    pool = make_pool(server("simple"), server("exits_at_once"))
    await pool.load()
    assert [(line.state, line.tools) for line in pool.status()] == [("idle", 0), ("idle", 2)]
    assert registry.list() == []


async def test_a_call_waits_for_the_start_that_is_under_way(make_pool: Make, server: Entry) -> None:
    pool = make_pool(server("slow_start", env={"DELAY": "1"}))
    pool.start()
    assert text(await pool.call("slow_start", "work", {})) == "worked"


async def test_a_tool_that_is_not_known_yet_is_waited_for(make_pool: Make, server: Entry) -> None:
    pool = make_pool(server("slow_start", env={"DELAY": "0.3"}))
    tool = await pool.late_tool("slow_start_work")
    assert tool is not None
    assert (tool.server, tool.definition.name) == ("slow_start", "work")


async def test_a_tool_of_a_server_that_cannot_start_is_answered_with_the_reason(make_pool: Make, server: Entry) -> None:
    pool = make_pool(server("exits_at_once"))
    with pytest.raises(ToolError, match="MCP server exits_at_once: not ready: exited with code"):
        await pool.late_tool("exits_at_once_work")


async def test_a_name_that_no_server_begins_with_starts_nothing(
    make_pool: Make, server: Entry, registry: ChildRegistry
) -> None:
    pool = make_pool(server("plain"))
    assert await pool.late_tool("raed") is None
    assert registry.list() == []


async def test_waiting_for_starts_is_bounded(make_pool: Make, server: Entry) -> None:
    pool = make_pool(server("never_answers", timeout=McpTimeouts(start=20)))
    pool.start()
    assert not await pool.wait_started(0.3)
    assert pool.status()[0].state == "starting"


async def test_at_most_three_servers_start_at_once(make_pool: Make, server: Entry, registry: ChildRegistry) -> None:
    entries = [server("never_answers", name=f"s{number}", timeout=McpTimeouts(start=20)) for number in range(5)]
    pool = make_pool(*entries)
    pool.start()
    async with asyncio.timeout(30):
        while len(registry.list()) < 3:
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    assert len(registry.list()) == 3


async def test_tools_can_be_switched_off_by_pattern(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("simple", tools={"*": False, "w*": True})))
    assert [tool.spec.name for tool in pool.tools()] == ["simple_work"]
    assert pool.status()[0].tools == 1
    with pytest.raises(ToolError, match="disabled in the configuration"):
        await pool.call("simple", "fail", {})


async def test_names_of_built_in_tools_are_reserved(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("simple", tools={"fail": False}), reserved={"simple_work"}))
    (tool,) = pool.tools()
    assert tool.spec.name.startswith("simple_work_")
    assert pool.find(tool.spec.name) is tool
    assert (tool.server, tool.definition.name) == ("simple", "work")


async def test_an_unknown_server_is_named_with_a_suggestion(make_pool: Make, server: Entry) -> None:
    pool = make_pool(server("simple"))
    with pytest.raises(HarnessError, match="did you mean simple"):
        await pool.call("simpel", "work", {})


async def test_an_unknown_tool_names_those_that_exist(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("simple")))
    with pytest.raises(ToolError, match=r"no tool named subtract .*fail, work"):
        await pool.call("simple", "subtract", {})


async def test_the_environment_is_what_the_entry_says(
    make_pool: Make, server: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", "secret")
    monkeypatch.setenv("WANTED", "inherited")
    pool = await opened(make_pool(server("simple", env={"OWN": "set"}, inherit=("WANTED",))))
    values = [
        text(await pool.call("simple", "work", {"variable": name}))
        for name in ("OWN", "WANTED", "SOME_PROVIDER_API_KEY")
    ]
    assert values == ["set", "inherited", "(unset)"]


async def test_the_working_folder_is_that_of_the_entry(make_pool: Make, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    code = "import os, pathlib; pathlib.Path('here').write_text(os.getcwd())"
    entry = McpServerSettings(name="s", command=(sys.executable, "-c", code), cwd="sub")
    await opened(make_pool(entry))
    assert (tmp_path / "sub" / "here").read_text() == str(tmp_path / "sub")


async def test_a_working_folder_that_is_missing_is_the_reason(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("simple", cwd="not-there")))
    (line,) = pool.status()
    assert line.state == "failed"
    assert "not-there" in (line.reason or "")


async def test_starts_and_calls_are_recorded_in_the_audit(make_pool: Make, server: Entry) -> None:
    audit = FakeAudit()
    pool = await opened(make_pool(server("simple"), audit=audit))
    await pool.call("simple", "work", {})
    await pool.call("simple", "fail", {})
    assert [fields["state"] for kind, fields in audit.records if kind == "mcp_server"] == ["starting", "ready"]
    calls = [(fields["tool"], fields["result"]) for kind, fields in audit.records if kind == "mcp_call"]
    assert calls == [("work", "ok"), ("fail", "error")]


async def test_bad_tools_are_left_out_with_a_notice_and_good_ones_work(
    make_pool: Make, server: Entry, sink: FakeSink
) -> None:
    pool = await opened(make_pool(server("bad_tools")))
    assert [tool.definition.name for tool in pool.tools()] == ["good", "no type", "promises"]
    assert pool.tools()[0].spec.description == "Good."
    (line,) = pool.status()
    assert line.state == "ready"
    (notice,) = sink.notices("warning")
    assert "no_schema (its inputSchema must be an object, there is none)" in notice
    assert notice == f"MCP server bad_tools: {line.reason}"
    outcome = await pool.call("bad_tools", "good", {})
    assert [block["text"] for block in outcome.content] == [
        "readable",
        '[content of unknown form: {"type": "hologram", "data": "x"}]',
        '[content of unknown form: {"type": "image", "data": "AAAA"}]',
        "bare",
    ]


async def test_every_page_of_a_listing_is_read(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("pages")))
    assert [tool.definition.name for tool in pool.tools()] == ["tool_0", "tool_1", "tool_2"]


async def test_pages_that_repeat_end_the_listing(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("pages", env={"ENDLESS": "1"})))
    assert [tool.definition.name for tool in pool.tools()] == ["tool_0", "tool_1", "tool_2"]
    assert "its pages repeat" in (pool.status()[0].reason or "")


async def test_a_changed_list_is_taken_up_and_told(make_pool: Make, server: Entry, sink: FakeSink) -> None:
    pool = await opened(make_pool(server("changes")))
    assert [tool.definition.name for tool in pool.tools()] == ["grow"]
    await pool.call("changes", "grow", {})
    async with asyncio.timeout(10):
        while len(pool.tools()) < 2:
            await asyncio.sleep(0.02)
    assert [tool.definition.name for tool in pool.tools()] == ["grow", "grown_1"]
    assert sink.notices("info") == ["the tools of MCP server changes changed: new: grown_1"]


async def test_junk_on_the_wire_is_survived_and_told_once(make_pool: Make, server: Entry, sink: FakeSink) -> None:
    pool = await opened(make_pool(server("banner")))
    assert text(await pool.call("banner", "work", {})) == "worked"
    (notice,) = sink.notices("warning")
    assert "Welcome to the server!" in notice


async def test_a_call_of_a_definition_that_was_not_shown_is_refused(make_pool: Make, server: Entry) -> None:
    pool = await opened(make_pool(server("simple")))
    with pytest.raises(ToolError, match="is not the one that was offered"):
        await pool.call("simple", "work", {}, fingerprint="0" * 64)


async def test_starting_twice_starts_once(make_pool: Make, server: Entry, registry: ChildRegistry) -> None:
    pool = make_pool(server("simple"))
    pool.start()
    pool.start()
    assert await pool.wait_started(60)
    assert len(registry.list()) == 1


async def test_closing_while_servers_start_leaves_nothing(
    make_pool: Make, server: Entry, registry: ChildRegistry
) -> None:
    pool = make_pool(server("simple"), server("never_answers", timeout=McpTimeouts(start=30)))
    pool.start()
    await pool.wait_started(0.5)
    await pool.close()
    assert registry.list() == []
    with pytest.raises(ToolError, match="session is ending"):
        await pool.call("simple", "work", {})


async def test_a_handshake_server_that_exits_at_the_probe_is_started_again_and_remembered(
    make_pool: Make, server: Entry, tmp_path: Path, sink: FakeSink
) -> None:
    log = tmp_path / "log"
    entry = server("exits_on_discover", env={"PEER_LOG": str(log)})
    pool = await opened(make_pool(entry))
    (line,) = pool.status()
    assert (line.state, line.protocol) == ("ready", "2025-11-25")
    assert text(await pool.call("exits_on_discover", "work", {})) == "worked"
    assert sink.notices("error") == []
    await pool.close()
    assert log.read_text().count("server/discover") == 1
    again = await opened(make_pool(replace(entry, lazy=False)))
    assert again.status()[0].state == "ready"
    assert log.read_text().count("server/discover") == 1
