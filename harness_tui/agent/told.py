"""What a model is told of tools: the words of an MCP server between marks, cut, with nothing in them that is not seen.

A server may describe its tools in any way, also with orders that concern other tools, or with characters that people do
not see. The schema's structure is handed on as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, cast

from harness_tui.core.limits import TOOL_DESCRIPTION_CHARS
from harness_tui.core.seams import Tool
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.values import ToolSpec

_TAG: Final = "mcp-server"
_WORDS: Final = ("description", "title", "$comment")
_DEPTH: Final = 50
_KEPT: Final = 4_096
_told: dict[tuple[str, str], ToolSpec] = {}


def told_specs(tools: Iterable[Tool]) -> list[ToolSpec]:
    """Return what a model is told of ``tools``."""
    return [as_told(tool.spec) for tool in tools]


def as_told(spec: ToolSpec) -> ToolSpec:
    """Return ``spec`` as a model is told it; those of our own tools stay as they are."""
    if spec.source.kind != "mcp" or spec.fingerprint is None:
        return spec
    known = _told.get((spec.name, spec.fingerprint))
    if known is None:
        words = marked(spec.source.server or "", spec.description)
        known = replace(spec, description=words, parameters=cast(dict[str, Any], _seen(spec.parameters, 0)))
        if len(_told) >= _KEPT:
            _told.clear()
        _told[spec.name, spec.fingerprint] = known
    return known


def definition_text(spec: ToolSpec) -> str | None:
    """Return the definition of a foreign tool for a person to compare, a line for a line; ``None`` for ours."""
    if spec.fingerprint is None:
        return None
    parameters = json.dumps(spec.parameters, ensure_ascii=False, indent=2, sort_keys=True, default=str)
    return f"{spec.description.strip()}\n\nparameters:\n{parameters}\n"


def marked(server: str, text: str) -> str:
    """Return what a server says between marks that it cannot close; nothing where it says nothing."""
    shown = clean_for_display(text, show_invisible=True).strip()
    if not shown:
        return ""
    if len(shown) > TOOL_DESCRIPTION_CHARS:
        note = f"[... cut, {len(shown)} characters in all ...]"
        shown = f"{cut_end(shown, TOOL_DESCRIPTION_CHARS - len(note))}\n{note}"
    tag, number = _TAG, 1
    while f"</{tag}" in shown:
        number += 1
        tag = f"{_TAG}-{number}"
    return f'<{tag} name="{clean_for_display(server, one_line=True)}">\n{shown}\n</{tag}>'


def _seen(value: Any, depth: int, *, names: bool = False) -> Any:
    """Return a schema whose descriptions hold no character that people do not see."""
    if depth > _DEPTH:
        return value
    if isinstance(value, list):
        items = cast(list[Any], value)
        return [_seen(item, depth + 1) for item in items]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, item in cast(dict[str, Any], value).items():
        if not names and key in _WORDS and isinstance(item, str):
            found[key] = cut_end(clean_for_display(item, show_invisible=True), TOOL_DESCRIPTION_CHARS)
        else:
            found[key] = _seen(item, depth + 1, names=not names and key in ("properties", "$defs", "definitions"))
    return found
