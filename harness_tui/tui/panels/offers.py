"""The rows of what MCP servers offer: their tools with what they take, one tool in full, their resources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from harness_tui.core.text import clean_for_display
from harness_tui.tui.lines import Line, ListRow, two_ends, wrap

if TYPE_CHECKING:
    from harness_tui.tui.backend_servers import ResourceRow, ServerToolRow


def _shown(text: str) -> str:
    return clean_for_display(text, one_line=True, show_invisible=True)


def tool_rows(tools: Sequence[ServerToolRow], wanted: str, width: int) -> list[ListRow]:
    """Return the tools by server, each with what it costs; their keys are their places in ``tools``."""
    rows: list[ListRow] = []
    server = None
    for place, tool in enumerate(tools):
        if wanted and wanted.casefold() not in f"{tool.server} {tool.tool} {tool.description}".casefold():
            continue
        if tool.server != server:
            server = tool.server
            mine = [one for one in tools if one.server == server]
            on = [one for one in mine if one.enabled]
            said = f"{len(on)} of {len(mine)} tools" if len(on) != len(mine) else f"{len(mine)} tools"
            right = f"{said}, ~{sum(one.tokens for one in on):,} tokens "
            head = two_ends(((_shown(server), "heading"),), ((right, "muted"),), width)
            rows.append(ListRow((head,)))
        rows.append(ListRow((_tool_line(tool, width),), place))
    return rows


def _tool_line(tool: ServerToolRow, width: int) -> Line:
    sign = ("● ", "ok") if tool.enabled else ("○ ", "muted")
    cost = f" ~{tool.tokens:,} " if tool.enabled else " disabled "
    left = (sign, (_shown(tool.tool), "bold" if tool.enabled else "muted"), (f"  {_shown(tool.description)}", "muted"))
    return two_ends(left, ((cost, "muted"),), width)


def tool_details(tool: ServerToolRow, width: int) -> list[ListRow]:
    """Return one tool in full: what it says, what it takes, its schema."""
    lines: list[Line] = []
    facts = ["reads only, it says" if tool.read_only else "", f"~{tool.tokens:,} tokens a request"]
    if not tool.enabled:
        facts = [f"disabled: tools of mcp.{_shown(tool.server)} in the configuration say so"]
    named = f"{_shown(tool.name)} · " if tool.name else ""
    lines += wrap([(named + " · ".join(fact for fact in facts if fact), "muted")], width)
    lines.append(())
    text = clean_for_display(tool.description, show_invisible=True).strip() or "It says nothing about itself."
    for row in text.split("\n"):
        lines += wrap([(row, "")], width)
    lines += [(), (("Arguments", "heading"),), *_argument_lines(tool.schema, width)]
    lines += [(), (("Schema", "heading"),)]
    schema = json.dumps(tool.schema, ensure_ascii=False, indent=2, default=str)
    for row in clean_for_display(schema, show_invisible=True).split("\n"):
        lines += wrap([(row, "muted")], width)
    return [ListRow((line,)) for line in lines]


def _argument_lines(schema: Mapping[str, Any], width: int) -> list[Line]:
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or not fields:
        return [(("  none", "muted"),)]
    required = schema.get("required")
    needed = cast(list[Any], required) if isinstance(required, list) else []
    lines: list[Line] = []
    for name, field in cast(Mapping[str, Any], fields).items():
        about: Mapping[str, Any] = cast(Mapping[str, Any], field) if isinstance(field, Mapping) else {}
        kind = about.get("type")
        words = [_shown(str(kind)) if isinstance(kind, str) else "", "required" if name in needed else ""]
        said = ", ".join(word for word in words if word)
        spans = [(_shown(name), "bold"), (f" {said}" if said else "", "muted")]
        if description := _shown(str(about.get("description") or "")):
            spans.append((f"  {description}", ""))
        lines += wrap(spans, width, first=(("  ", ""),), rest=(("    ", ""),))
    return lines


def resource_rows(resources: Sequence[ResourceRow], wanted: str, width: int) -> list[ListRow]:
    """Return resources and templates by server; their keys are their places in ``resources``."""
    rows: list[ListRow] = []
    server = None
    for place, item in sorted(enumerate(resources), key=lambda pair: pair[1].server):
        if wanted and wanted.casefold() not in f"{item.server} {item.uri} {item.name} {item.about}".casefold():
            continue
        if item.server != server:
            server = item.server
            rows.append(ListRow((((_shown(server), "heading"),),)))
        sign = ("… ", "accent") if item.variables is not None else ("● ", "ok")
        about = " · ".join(word for word in (_shown(item.name), _shown(item.about)) if word)
        size = f"{item.size:,} bytes " if item.size is not None else ""
        right = f" {_shown(item.mime)} {size}".rstrip() + " "
        left = (sign, (_shown(item.uri), "bold"), (f"  {about}", "muted"))
        rows.append(ListRow((two_ends(left, ((right, "muted"),), width),), place))
    return rows
