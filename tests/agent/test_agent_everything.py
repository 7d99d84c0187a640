"""Every tool of the reference server of other people, called by hand through a session: forms, sampling, progress,
images, resources. ``make test-servers`` installs it.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest
from servers.installed import environment

from harness_tui.core.events import QuestionAsked, RunFinished, ToolFinished, ToolProgress
from harness_tui.core.intents import CallTool


@pytest.mark.real
async def test_every_tool_of_the_reference_server_is_reached_by_hand(stage: Any) -> None:
    environ = environment("mcp")
    program = shutil.which("mcp-server-everything", path=environ["PATH"])
    assert program is not None
    entry = {"command": [program], "env": {"PATH": environ["PATH"], "HOME": os.environ["HOME"]}, "lazy": False}
    answers = [
        {"kind": "form", "match": "*", "action": "accept", "content": {"name": "Ada"}},
        {"kind": "sampling", "match": "ev", "action": "decline"},
        {"kind": "auth", "match": "ev", "action": "decline"},
    ]
    show = await stage({"turns": [{"text": "ok"}], "answers": answers}, settings={"mcp": {"ev": entry}}, policy="allow")
    await show.say("begin")  # the script's answers are there from now on
    assert await show.workspace.mcp.wait_started(60)
    names = {tool.definition.name for tool in show.workspace.mcp.tools()}

    async def call(tool: str, **arguments: Any) -> ToolFinished:
        names.discard(tool)
        await show.send(CallTool(f"ev_{tool}", arguments))
        await show.next(RunFinished)
        return show.of(ToolFinished)[-1]

    assert (await call("echo", message="blue")).output == "Echo: blue"
    assert "7" in (await call("get-sum", a=3, b=4)).output
    assert (await call("get-structured-content", location="Chicago")).metadata["structured"]["temperature"] == 36
    picture = await call("get-tiny-image")
    assert [item.mime for item in picture.attachments] == ["image/png"]
    assert "demo://resource" in (await call("get-resource-reference", resourceType="Text", resourceId=1)).output
    assert (await call("get-resource-links", count=2)).output.count("[resource link: demo://") == 2
    assert "project" in (await call("get-roots-list")).output
    assert not (await call("trigger-long-running-operation", duration=1, steps=2)).is_error
    assert [event.progress for event in show.of(ToolProgress)][-1] == 2
    filled = await call("trigger-elicitation-request")
    assert "Ada" in filled.output
    assert len(show.of(QuestionAsked)) >= 1
    sampled = await call("trigger-sampling-request", prompt="hi", maxTokens=10)
    assert sampled.is_error
    assert "decline" in (await call("trigger-url-elicitation", url="https://example.test/x")).output.lower()
    rest = {
        "get-annotated-message": {"messageType": "success", "includeImage": False},
        "get-env": {},
        "toggle-simulated-logging": {},
        "toggle-subscriber-updates": {},
        "simulate-research-query": {"topic": "rain", "ambiguous": False},
        "gzip-file-as-resource": {"name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource"},
    }
    for tool, arguments in rest.items():
        if tool in names:
            assert (await call(tool, **arguments)).output
    assert names == set()
    read = await show.workspace.mcp.resources.read_resource("ev", "demo://resource/dynamic/text/7")
    assert "7" in (read.attachments[0].content or "")
