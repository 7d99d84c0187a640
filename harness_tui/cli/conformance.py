"""``harness mcp conformance URL``: drives a server as the official conformance suite wants a client to be driven.

Everything that the suite looks at is the product: the configuration is a file that a person could have written, and
the workspace, its supervisor, transport, network policy and login are those of ``harness run``. Only the person is
played: forms are answered with their defaults, a login page is followed as a browser would follow it.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.cli.common import print_line, warn
from harness_tui.cli.conformance_login import login_keys
from harness_tui.cli.conformance_skills import load_skills
from harness_tui.core.calls import Check, GateCall, QuestionReply, QuestionRequest
from harness_tui.core.errors import HarnessError
from harness_tui.mcp.people import asked_by
from harness_tui.mcp.tool import McpTool
from harness_tui.workspace.workspace import OpenOptions, Workspace

_NAME: Final = "suite"
_SCENARIO: Final = "MCP_CONFORMANCE_SCENARIO"
_NO_LOAD: Final = "no-prefetch"
_CONTEXT: Final = "MCP_CONFORMANCE_CONTEXT"
_HOPS: Final = 5
_PAUSE_S: Final = 1.5


async def conform(url: str, environ: Mapping[str, str]) -> int:
    """Connect to ``url``, list its tools and call them; return the exit code."""
    context = cast(dict[str, Any], json.loads(environ.get(_CONTEXT) or "{}"))
    with tempfile.TemporaryDirectory(prefix="harness-conformance-") as folder:
        home = Path(folder)
        project = home / "project"
        project.mkdir()
        file = home / ".config" / "harness" / "config.yaml"
        file.parent.mkdir(parents=True)
        login = await login_keys(url, context, environ.get(_SCENARIO, ""))
        file.write_text(json.dumps(configuration_of(url, login)), encoding="utf-8")  # JSON is YAML
        own = {name: value for name, value in environ.items() if not name.startswith("XDG_")} | {"HOME": str(home)}
        options = OpenOptions(policy="person", start_servers=False, environ=own)
        workspace = await Workspace.open(project, options)
        try:
            with asked_by(_person):
                code = await _drive(workspace, context)
                if not environ.get(_SCENARIO, "").endswith(_NO_LOAD):
                    await load_skills(workspace)
                return code
        finally:
            await workspace.close()


def configuration_of(url: str, login: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration: keys that a person can set, nothing else."""
    return {
        # What the server sends is taken as it comes: a message that was mended would prove nothing of either side.
        "mcp": {_NAME: {"url": url, "oauth": login, "repair": False}},
        "permission": [
            {"permission": "mcp", "pattern": f"{_NAME}_*", "action": "allow"},
            {"permission": "remote_skill", "pattern": "*", "action": "allow"},
        ],
        "egress": {"allow": ["127.0.0.1", "localhost", "::1"]},
    }


async def _drive(workspace: Workspace, context: dict[str, Any]) -> int:
    status = await workspace.mcp.restart(_NAME)
    if status.state != "ready":
        warn(status.reason or "it is not ready")
        return 1
    offered = {tool.definition.name: tool for tool in workspace.mcp.server_tools(_NAME)}
    tools = {name: tool.definition for name, tool in offered.items()}
    print_line(f"{status.protocol}: {', '.join(tools) or 'no tool'}")
    calls = context.get("toolCalls")
    wanted = (
        [(call["name"], call.get("arguments") or {}) for call in calls]
        if isinstance(calls, list)
        else [(name, stub_of(tool.schema)) for name, tool in tools.items()]
    )
    kept = tools.get("json_schema_2020_12_tool")
    for name, arguments in wanted:
        if name == "json_schema_echo" and kept is not None:
            arguments = {"schema": kept.schema}
        if not _allowed(workspace, offered.get(name)):
            print_line(f"{name}: not allowed")
            continue
        try:
            outcome = await workspace.mcp.call(_NAME, name, arguments)
            print_line(f"{name}: {'error' if outcome.is_error else 'ok'}")
        except HarnessError as error:
            print_line(f"{name}: {error}")
    await asyncio.sleep(_PAUSE_S)  # a stream that the server ends is taken up again
    return 0


def _allowed(workspace: Workspace, tool: McpTool | None) -> bool:
    """Ask the gate, as for any other call; nobody is there to be asked in turn."""
    if tool is None:
        return True  # the server offers none of this name: what it answers is what is looked at
    check = Check("mcp", tool.spec.name)
    call = GateCall("c1", tool.spec.name, (check,), session="", agent="build", mode="ask", origin="call")
    return workspace.gate.decide(call).action == "allow"


def stub_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the least arguments that fit an object ``schema``: its required ones."""
    fields = schema.get("properties")
    properties = cast(dict[str, Any], fields) if isinstance(fields, dict) else {}
    required = schema.get("required")
    names = cast(list[str], required) if isinstance(required, list) else []
    return {name: _value_of(properties.get(name)) for name in names}


def _value_of(field: object) -> Any:
    shape = cast(dict[str, Any], field) if isinstance(field, dict) else {}
    if "default" in shape:
        return shape["default"]
    if isinstance(shape.get("enum"), list) and shape["enum"]:
        return shape["enum"][0]
    match shape.get("type"):
        case "integer" | "number":
            return shape.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return []
        case "object":
            return stub_of(shape)
        case "null":
            return None
        case _:
            return "test"


async def _person(request: QuestionRequest) -> QuestionReply:
    if request.url is not None:
        await _follow(request.url)
        return QuestionReply("accept")
    if request.sampling is not None:
        return QuestionReply("accept", {"text": "test", "model": "test", "stop": "stop"})
    schema = request.schema or {}
    fields = cast(dict[str, Any], schema.get("properties") or {})
    return QuestionReply("accept", {name: _value_of(field) for name, field in fields.items()})


async def _follow(url: str) -> None:
    """Follow a login page to where it leads, as a browser does."""
    import httpx2

    async with httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=20) as browser:
        for _ in range(_HOPS):
            with suppress(httpx2.HTTPError):
                answer = await browser.get(url)
                target = answer.headers.get("location")
                if target is None:
                    return
                url = str(httpx2.URL(url).join(target))


def run(url: str) -> int:
    """Run against ``url`` with the variables of the suite."""
    return asyncio.run(conform(url, dict(os.environ)))
