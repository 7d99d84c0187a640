"""Reading what a connected server offers: every page, within limits, bad parts left out with their reason.

Imports the SDK: loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

from mcp import Client, MCPError
from mcp_types import Prompt, Tool

from harness_tui.core.seams import PromptArgument, PromptSpec
from harness_tui.core.text import cut_end
from harness_tui.mcp.listing import Listing, Quarantined, ToolDefinition
from harness_tui.mcp.reading import list_resources, list_templates
from harness_tui.mcp.reasons import METHOD_NOT_FOUND, plain_words
from harness_tui.mcp.repair import MODERN_FROM, Repairs
from harness_tui.mcp.skills import list_skills, serves_skills

MAX_PAGES: Final = 100
MAX_TOOLS: Final = 2_000
MAX_PROMPTS: Final = 500
DESCRIPTION_CHARS: Final = 20_000

_MANY: Final = 50
"""More tools than this are weighed in a thread."""


async def discover(client: Client, repairs: Repairs, server: str) -> Listing:
    """Return everything that ``server`` offers. Raises what the SDK raises when its tools cannot be listed."""
    left_out: dict[str, str] = {}
    tools = await _tools(client, repairs, left_out) if client.server_capabilities.tools is not None else {}
    prompts = await _prompts(client, server, left_out) if client.server_capabilities.prompts is not None else {}
    serves_resources = client.server_capabilities.resources is not None
    resources = await list_resources(client, server, left_out) if serves_resources else ()
    templates = await list_templates(client, server, left_out) if serves_resources else ()
    publishes = serves_skills(client)
    skills = await list_skills(client, server, left_out) if publishes else ()
    protocol = client.protocol_version
    return Listing(
        tools=tuple(sorted(tools.values(), key=lambda tool: tool.name)),
        prompts=tuple(sorted(prompts.values(), key=lambda prompt: prompt.name)),
        quarantined=tuple(Quarantined(name, left_out[name]) for name in sorted(left_out)),
        protocol=protocol,
        era="modern" if protocol >= MODERN_FROM else "legacy",
        instructions=client.instructions,
        resources=resources,
        templates=templates,
        completes=client.server_capabilities.completions is not None,
        skills=skills,
        publishes=publishes,
    )


async def _tools(client: Client, repairs: Repairs, left_out: dict[str, str]) -> dict[str, ToolDefinition]:
    repairs.begin_listing()
    found: dict[str, ToolDefinition] = {}
    twice: dict[str, str] = {}
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        result = await client.list_tools(cursor=cursor)
        for tool in result.tools:
            if tool.name in found:
                twice[tool.name] = "is listed more than once; the first one counts"
            elif _is_for_apps_only(tool):
                left_out[tool.name] = "is meant for app views only"
            else:
                found[tool.name] = _definition(tool, tool.name in repairs.structured)
        cursor = result.next_cursor
        if not cursor:
            break
        if cursor in seen or len(seen) + 1 >= MAX_PAGES or len(found) >= MAX_TOOLS:
            left_out["tools/list"] = "its pages repeat" if cursor in seen else f"stopped after {len(found)} tools"
            break
        seen.add(cursor)
    # On the modern protocol the SDK drops tools with wrong header annotations without a word.
    dropped = {name: "has invalid x-mcp-header annotations" for name in repairs.passed if name not in found}
    left_out |= {name: reason for name, reason in dropped.items() if name not in left_out} | repairs.quarantined | twice
    if len(found) > _MANY:
        return await asyncio.to_thread(lambda: {name: tool.weighed() for name, tool in found.items()})
    return {name: tool.weighed() for name, tool in found.items()}


def _definition(tool: Tool, structured: bool) -> ToolDefinition:
    annotations = tool.annotations
    title = tool.title or (annotations.title if annotations is not None else None)
    return ToolDefinition(
        name=tool.name,
        description=cut_end(tool.description or title or "", DESCRIPTION_CHARS),
        schema=tool.input_schema,
        title=title,
        read_only=bool(annotations is not None and annotations.read_only_hint),
        structured=structured,
    )


def _is_for_apps_only(tool: Tool) -> bool:
    view = (tool.meta or {}).get("ui")
    return isinstance(view, dict) and cast(dict[str, Any], view).get("visibility") == ["app"]


async def _prompts(client: Client, server: str, left_out: dict[str, str]) -> dict[str, PromptSpec]:
    """List prompts. A server whose prompts cannot be read still has its tools."""
    found: dict[str, PromptSpec] = {}
    cursor: str | None = None
    try:
        for _ in range(MAX_PAGES):
            result = await client.list_prompts(cursor=cursor)
            for prompt in result.prompts:
                found.setdefault(prompt.name, _prompt(prompt, server))
            cursor = result.next_cursor
            if not cursor or len(found) >= MAX_PROMPTS:
                break
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND:
            left_out["prompts/list"] = plain_words(error)
    except ValueError as error:
        left_out["prompts/list"] = plain_words(error)
    return found


def _prompt(prompt: Prompt, server: str) -> PromptSpec:
    arguments = tuple(
        PromptArgument(argument.name, cut_end(argument.description or "", DESCRIPTION_CHARS), bool(argument.required))
        for argument in prompt.arguments or []
    )
    description = cut_end(prompt.description or prompt.title or "", DESCRIPTION_CHARS)
    return PromptSpec(server, prompt.name, description, arguments)
