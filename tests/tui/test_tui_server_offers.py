"""Tools and resources of servers on the screen: looked at, called through a form, read, mentioned."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.fake_backend import FakeBackend, FakeOffer
from fakes.fake_servers import FakeResource, FakeServers, FakeTool
from fakes.tui_screen import screen_text, until

from harness_tui.core.event_parts import ServerDetail
from harness_tui.core.events import QuestionAsked, ServerChanged
from harness_tui.core.forms import FormError, read_answer, steps_of, steps_of_schema
from harness_tui.core.intents import CallTool
from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.panels.offers import resource_rows, tool_details, tool_rows
from harness_tui.tui.prompt.editor import MessageEditor

SCHEMA = {
    "type": "object",
    "required": ["title", "kind"],
    "properties": {
        "title": {"type": "string", "description": "What it is about", "minLength": 3},
        "kind": {"$ref": "#/$defs/Kind"},
        "count": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": 2},
        "labels": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "where": {"type": "object", "properties": {"x": {"type": "number"}}},
        "draft": {"type": "boolean", "default": False},
        "free": {"type": ["string", "integer"]},
    },
    "$defs": {"Kind": {"enum": ["bug", "idea"]}},
}
TOOLS = (
    FakeTool("hub", "create", "Opens an issue.", SCHEMA, 350),
    FakeTool("hub", "drop", "Drops\u202e everything.", {"type": "object"}, 50, enabled=False),
    FakeTool("time", "now", "Tells the time.", {"type": "object", "properties": {}}, 40, read_only=True),
)
RESOURCES = (
    FakeResource("hub", "note://today", "today", "What is to be done.", size=12),
    FakeResource("hub", "note://{author}", "by author", variables=("author",)),
)


def lines(rows: Any) -> list[str]:
    return [plain(line).rstrip() for row in rows for line in row.lines]


def test_tools_are_listed_with_what_they_take_and_what_is_kept_back() -> None:
    shown = lines(tool_rows(TOOLS, "", 60))
    assert shown == [
        "hub" + "1 of 2 tools, ~350 tokens".rjust(56),
        "● create  Opens an issue." + "~350".rjust(34),
        "○ drop  Drops<U+202E> everything." + "disabled".rjust(26),
        "time" + "1 tools, ~40 tokens".rjust(55),
        "● now  Tells the time." + "~40".rjust(37),
    ]
    assert lines(tool_rows(TOOLS, "TIME", 60))[1].startswith("● now")


def test_a_tool_is_shown_in_full_with_its_arguments_and_schema() -> None:
    shown = lines(tool_details(TOOLS[0], 70))
    assert shown[0] == "hub_create · ~350 tokens a request"
    assert shown[2] == "Opens an issue."
    assert "  title string, required  What it is about" in shown
    assert '  "type": "object",' in shown
    assert "disabled: tools of mcp.hub in the configuration say so" in lines(tool_details(TOOLS[1], 70))[0]


@pytest.mark.parametrize("width", [10, 40, 120])
def test_no_row_of_a_hostile_server_is_wider_than_its_place(width: int) -> None:
    evil = FakeTool("e\x1b[2Jvil" * 9, "日本" * 40, "x\ny" * 99, {"properties": {"日本" * 60: {"type": "a" * 200}}})
    item = FakeResource("e\x1b[2J", "x://" + "日本" * 80, "n" * 90, "about\n" * 40, "m" * 50, 10**12)
    for row in [*tool_rows([evil], "", width), *tool_details(evil, width), *resource_rows([item], "", width)]:
        for line in row.lines:
            assert line_cells(line) <= width
            assert "\x1b" not in plain(line)


def test_a_schema_becomes_steps_of_its_kinds() -> None:
    steps = {step.name: step for step in steps_of_schema(SCHEMA)}
    assert [(step.kind, step.free, step.required) for step in steps.values()] == [
        ("string", True, True),
        ("string", False, True),
        ("integer", True, False),
        ("array", False, False),
        ("array of integer", True, False),
        ("object", True, False),
        ("boolean", False, False),
        ("any", True, False),
    ]
    assert [option.value for option in steps["kind"].options] == ["bug", "idea"]
    assert steps["count"].default == 2
    assert steps["where"].text == "where (JSON: an object with x)"
    assert [option.description for option in steps["draft"].options] == ["", "the default"]
    assert read_answer(steps["numbers"], "1, 2") == [1, 2]
    assert read_answer(steps["numbers"], "[3]") == [3]
    assert read_answer(steps["where"], '{"x": 1.5}') == {"x": 1.5}
    assert [read_answer(steps["free"], text) for text in ("7", "seven", '["x"]')] == [7, "seven", ["x"]]
    for name, text in (("numbers", "a"), ("where", "[1]"), ("where", "{"), ("count", "two")):
        with pytest.raises(FormError):
            read_answer(steps[name], text)
    with pytest.raises(FormError):
        read_answer(steps_of_schema({"properties": {"n": {"type": "number"}}})[0], "NaN")
    (number,) = steps_of_schema({"properties": {"n": {"type": "number"}}})
    assert [repr(read_answer(number, text)) for text in ("4", "-4", "4.5")] == ["4", "-4", "4.5"]
    loop = {"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "http://x/y"}, "c": 5}}
    assert [step.name for step in steps_of(QuestionAsked("r", "s", "t", schema=loop))] == ["a", "b"]


async def opened(app: Any, pilot: Any, text: str, until_shown: str) -> None:
    app.prompt.set_text(text)
    await pilot.press("enter")
    await until(lambda: until_shown in screen_text(app))


async def test_a_tool_is_found_read_filled_in_checked_and_called(open_app: Any) -> None:
    backend = FakeBackend()
    backend.servers = FakeServers(TOOLS)
    async with open_app(backend) as (app, pilot, backend):
        await opened(app, pilot, "/mcp tools", "~350 tokens")
        await pilot.press(*"opens", "enter")
        await until(lambda: "What it is about" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "(1 of 8)" in screen_text(app))
        await write_at(app, pilot, "(1 of 8)", "ab")  # two letters are too few for the server
        await press_at(app, pilot, "(2 of 8)", "2")
        await press_at(app, pilot, "(3 of 8)", "enter")  # the default
        await press_at(app, pilot, "(4 of 8)", "2", "3")  # one label, and done
        await write_at(app, pilot, "(5 of 8)", "4, 5")
        await press_at(app, pilot, "(6 of 8)", "enter")  # nothing
        await press_at(app, pilot, "(7 of 8)", "3")  # left out
        await press_at(app, pilot, "(8 of 8)", "enter")
        await press_at(app, pilot, "Send these answers?", "1")
        await until(lambda: "'ab' is too short" in screen_text(app))
        assert [intent for intent in backend.session.sent if isinstance(intent, CallTool)] == []
        await write_at(app, pilot, "(1 of 8)", "abc")
        await press_at(app, pilot, "(2 of 8)", "2")
        for place in (3, 4, 5, 6, 7, 8):
            await press_at(
                app, pilot, f"({place} of 8)", *(("2", "3") if place == 4 else ("3",) if place == 7 else ("enter",))
            )
        await press_at(app, pilot, "Send these answers?", "1")
        await until(lambda: any(isinstance(intent, CallTool) for intent in backend.session.sent))
        (call,) = [intent for intent in backend.session.sent if isinstance(intent, CallTool)]
        assert call == CallTool(
            "hub_create",
            {"title": "abc", "kind": "idea", "count": 2, "labels": ["b"], "numbers": [4, 5], "draft": False},
        )


async def write_at(app: Any, pilot: Any, shown: str, text: str) -> None:
    await until(lambda: shown in screen_text(app))
    app.screen.query_one(MessageEditor).set_text(text)
    await pilot.press("enter")


async def press_at(app: Any, pilot: Any, shown: str, *keys: str) -> None:
    await until(lambda: shown in screen_text(app))
    await pilot.pause()
    await pilot.press(*keys)


async def test_a_call_and_a_mention_go_into_the_prompt_with_one_key(open_app: Any) -> None:
    backend = FakeBackend()
    backend.servers = FakeServers(TOOLS, RESOURCES)
    async with open_app(backend) as (app, pilot, backend):
        await opened(app, pilot, "/mcp tools hub", "create")
        await pilot.press("tab")
        await until(lambda: app.prompt.text == '/call hub_create {"title": "", "kind": "bug"}')
        await opened(app, pilot, "/mcp resources", "note://today")
        app.prompt.set_text("look at")
        await pilot.press("tab")
        await until(lambda: app.prompt.text == "look at @hub:note://today ")


async def test_a_resource_is_read_and_one_of_a_template_is_addressed_first(open_app: Any) -> None:
    backend = FakeBackend()
    backend.servers = servers = FakeServers(TOOLS, RESOURCES)
    servers.offered["author"] = ["ada", "alan"]
    async with open_app(backend) as (app, pilot, backend):
        await opened(app, pilot, "/mcp resources", "note://today")
        await pilot.press("enter")
        await until(lambda: "text of note://today" in screen_text(app))
        await pilot.press("escape")
        await opened(app, pilot, "/mcp resources", "note://today")
        await pilot.press("down", "enter")
        await until(lambda: "alan" in screen_text(app))
        await pilot.press("2")
        await until(lambda: "text of note://alan" in screen_text(app))
        assert servers.asked == ["read hub:note://today", "values author {}", "read hub:note://alan"]
        await pilot.press("escape")
        await until(lambda: app.prompt.text == "@hub:note://alan ")


async def test_the_panel_leads_to_the_tools_of_a_server(open_app: Any) -> None:
    backend = FakeBackend()
    backend.servers = FakeServers(TOOLS, RESOURCES)
    async with open_app(backend) as (app, pilot, backend):
        detail = ServerDetail(tools=2, tokens=350)
        backend.session.publish(ServerChanged("mcp", "hub", "ready", detail))
        await pilot.press("f2")
        app.show_panel("servers")
        await until(lambda: "~350 tokens" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: "MCP tools · hub" in screen_text(app))
        assert "now" not in screen_text(app).split("MCP tools")[1].split("Tells")[0]
        await pilot.press("escape")
        await until(lambda: "MCP tools" not in screen_text(app))
        await pilot.press("a")
        await until(lambda: "MCP resources · hub" in screen_text(app))


async def test_the_arguments_of_a_servers_prompt_are_completed_when_somebody_pauses(open_app: Any) -> None:
    backend = FakeBackend()
    offer = FakeOffer("mcp:hub:review", "Reviews", "<author> [title]", "hub", "prompt")
    backend.library.extra_offers, servers = (offer,), backend.servers
    servers.offered["mcp:hub:review"] = ["ada", "alan", "note-of-ada"]
    async with open_app(backend) as (app, pilot, backend):
        app.prompt.set_text("/mcp:hub:r")
        await until(lambda: "mcp · hub" in screen_text(app))
        app.prompt.set_text("/mcp:hub:review a")
        await until(lambda: "alan" in screen_text(app))
        await pilot.press("tab")
        await until(lambda: app.prompt.text == "/mcp:hub:review ada ")
        await until(lambda: "note-of-ada" in screen_text(app))
        app.prompt.set_text("/mcp:hub:review ada n")
        app.prompt.set_text("/mcp:hub:review ada no")
        await until(lambda: servers.asked[-1] == "prompt mcp:hub:review ada no")
        assert "prompt mcp:hub:review ada n" not in servers.asked  # there was no pause
        await until(lambda: "note-of-ada" in screen_text(app))
        await pilot.press("down", "enter")
        await until(lambda: app.prompt.text == "/mcp:hub:review ada note-of-ada")
        assert [intent for intent in backend.session.sent if not isinstance(intent, CallTool)] == []
