"""Resources of a real server in messages: attached with where they come from, gated, told where they are not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from harness_tui.core.events import Notice, PermissionRequested, RunFinished
from harness_tui.core.intents import Answer, Submit

SERVERS = Path(__file__).parents[1] / "mcp" / "servers"
NOTE = {"kind": "resource", "mime": "text/plain", "bytes": 5, "uri": "shelf:note://today", "content": "first"}


def configured() -> dict[str, Any]:
    return {"mcp": {"shelf": {"command": [sys.executable, str(SERVERS / "shelf.py")]}}}


def attached(show: Any) -> list[dict[str, Any]]:
    return show.requests()[-1]["messages"][-1]["attachments"]


async def test_a_resource_that_is_mentioned_goes_along_and_names_its_server(stage: Any) -> None:
    show = await stage({"turns": []}, settings=configured())
    (show.project / "a.txt").write_text("a file")
    text = "See @shelf:note://today. And (@shelf:note://today), @a.txt and @shelf:note://pixel"
    assert (await show.say(text)).reason == "completed"
    file, note, pixel = attached(show)
    assert note == NOTE
    assert (file["path"], file["content"]) == ("a.txt", "a file")
    assert (pixel["kind"], pixel["mime"], pixel["uri"]) == ("image", "image/png", "shelf:note://pixel")
    assert show.requests()[-1]["messages"][-1]["text"] == text

    await show.say('Now @shelf:note://nobody and @"shelf:note://ada/on engines" and @other:note://today')
    (made,) = attached(show)
    assert (made["uri"], made["content"]) == ("shelf:note://ada/on engines", "on engines by ada")
    warnings = [notice.text for notice in show.of(Notice) if notice.level == "warning"]
    assert len(warnings) == 2
    assert any(text.startswith("@shelf:note://nobody: not attached, MCP server shelf:") for text in warnings)
    assert "@other:note://today: no such file or folder" in warnings


async def test_a_rule_that_denies_resources_holds_for_what_is_typed(stage: Any) -> None:
    rules = ({"permission": "mcp", "pattern": "shelf_read_resource", "action": "deny"},)
    show = await stage({"turns": []}, settings=configured(), rules=rules)
    assert (await show.say("See @shelf:note://today")).reason == "completed"
    assert attached(show) == []
    text = "@shelf:note://today: not attached, mcp shelf_read_resource: reading it is not allowed"
    assert [notice.text for notice in show.of(Notice) if notice.source == "mention"] == [text]


async def test_a_resource_in_a_command_is_asked_for_and_one_in_its_arguments_is_not(stage: Any) -> None:
    show = await stage({"turns": []}, settings=configured(), policy="person")
    commands = show.project.parent / ".config" / "harness" / "commands"
    commands.mkdir(parents=True)
    (commands / "look.md").write_text("Look at @shelf:note://today and $1")
    await show.live.send(Submit("/look @shelf:note://ada/engines"))
    asked = await show.next(PermissionRequested)
    assert (asked.permission, asked.patterns) == ("mcp", ("shelf_read_resource",))
    assert asked.preview.arguments == {"server": "shelf", "uri": "note://today"}
    await show.send(Answer(asked.request, "allow"))
    assert (await show.next(RunFinished)).reason == "completed"
    assert [item["uri"] for item in attached(show)] == ["shelf:note://today", "shelf:note://ada/engines"]
