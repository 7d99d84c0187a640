"""Tools and resources of MCP servers by hand: looked at in their screens, called, read, mentioned."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core import intents as it
from harness_tui.core.forms import steps_of_schema
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.mentions import mention_of
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, wrap
from harness_tui.tui.screens.offers import ResourcesScreen, ToolsScreen
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.screens.tool_form import ToolForm

if TYPE_CHECKING:
    from harness_tui.core.resources import ReadResource
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.backend_servers import ResourceRow, ServerToolRow

_EMPTY: Final[dict[str, Any]] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}, "any": None}
_VALUES: Final = 50


async def browse_tools(app: HarnessApp, host: Host, server: str | None) -> None:
    """Show the tools of ``server``, or of all; call the one that is wanted, as ``/call`` does."""
    load = partial(host.backend.servers.tools, server)
    wanted = await app.push_screen_wait(ToolsScreen(app.palette, load, server or ""))
    if wanted is None:
        return
    tool: ServerToolRow = wanted.row
    if not tool.enabled:
        name = clean_for_display(tool.tool, one_line=True)
        host.tell("warning", f"{name} is disabled in the configuration", f"look at tools of mcp.{tool.server}")
    elif wanted.what == "insert":
        app.insert_prompt(f"/call {tool.name} {json.dumps(_skeleton(tool.schema), ensure_ascii=False)}")
    else:
        await call_by_form(app, host, tool)


async def call_by_form(app: HarnessApp, host: Host, tool: ServerToolRow) -> None:
    """Let the person fill in what ``tool`` takes, then call it through the same gate as the agent's calls."""
    faults = partial(host.backend.servers.faults, tool.schema)
    form = ToolForm(app.palette, f"{tool.server}: {tool.title or tool.tool}", tool.schema, faults)
    content = await app.push_screen_wait(form)
    if content is not None:
        await host.send(it.CallTool(tool.name, content))


def _skeleton(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that a call needs, to be written over."""
    steps = [step for step in steps_of_schema(schema) if step.required]
    return {
        step.name: step.default
        if step.default is not None
        else step.options[0].value
        if step.options and not step.multiple
        else _EMPTY.get(step.kind.partition(" ")[0], "")
        for step in steps
    }


async def browse_resources(app: HarnessApp, host: Host, server: str | None) -> None:
    """Show the resources of ``server``, or of all; read the one that is wanted, or mention it in the prompt."""
    load = partial(host.backend.servers.resources, server)
    wanted = await app.push_screen_wait(ResourcesScreen(app.palette, load, server or ""))
    if wanted is None:
        return
    item: ResourceRow = wanted.row
    uri = item.uri if item.variables is None else await _address(app, host, item)
    if uri is None:
        return
    if wanted.what == "insert" or item.variables is not None:
        _mention(app, host, f"{item.mention[: -len(item.uri)]}{uri}")
    if wanted.what == "do":
        read = await host.guarded(host.backend.servers.read(item.server, uri))
        if read is not None:
            lines = await asyncio.to_thread(_read_lines, read)
            title = clean_for_display(f"{item.server}:{uri}", one_line=True)
            app.push_screen(Reader(app.palette, title, partial(_drawn, lines)))


def _mention(app: HarnessApp, host: Host, named: str) -> None:
    mention = mention_of(named)
    if mention is None:
        host.tell("warning", f"{clean_for_display(named, one_line=True)} cannot be written in a message")
        return
    before = app.prompt.text
    mention = mention.replace("./", "", 1)  # what a file of such a name would need; the server's is meant
    app.insert_prompt(f"{before}{'' if not before or before[-1].isspace() else ' '}{mention} ")


async def _address(app: HarnessApp, host: Host, item: ResourceRow) -> str | None:
    """Ask for the variables of a template one after the other, each with what its server offers."""
    servers, values = host.backend.servers, dict[str, str]()
    for variable in item.variables or ():
        offered = await servers.values(item.server, item.uri, variable, "", values)
        field: dict[str, Any] = {"type": "string", "title": variable, "description": item.about}
        if offered:
            field["examples"] = list(offered)[:_VALUES]
        schema = {"type": "object", "properties": {variable: field}, "required": [variable]}
        form = ToolForm(app.palette, clean_for_display(item.uri, one_line=True), schema, _anything, send="Go on")
        content = await app.push_screen_wait(form)
        if content is None:
            return None
        values[variable] = str(content.get(variable, ""))
    return await host.guarded(servers.address(item.server, item.uri, values))


async def _anything(content: Mapping[str, Any]) -> str:
    return ""


def _read_lines(read: ReadResource) -> list[tuple[str, str]]:
    """Return what was read as lines with their styles. Slow for much text: call it in a thread."""
    lines: list[tuple[str, str]] = []
    for item in read.attachments:
        lines.append((f"{item.mime} · {item.bytes:,} bytes" + (" · cut" if item.truncated else ""), "muted"))
        if item.kind == "image" or item.mime == "application/pdf":
            size = len(base64.b64decode(item.content or "", validate=False))
            lines.append((f"[{item.mime} of {size:,} bytes, shown to models only]", "muted"))
        else:
            text = clean_for_display(item.content or "", show_invisible=True).rstrip("\n")
            lines += [(cut_end(row, 2_000), "") for row in text.split("\n")]
        lines.append(("", ""))
    return lines + [(note, "warning") for note in read.notes]


def _drawn(lines: Sequence[tuple[str, str]], width: int) -> list[Line]:
    return [line for text, style in lines for line in wrap([(text, style)], width)] or [(("It is empty.", "muted"),)]
