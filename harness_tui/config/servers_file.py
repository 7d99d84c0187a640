"""The files in which other tools keep a project's MCP servers, read where they lie.

``.mcp.json`` (Claude Code and others), ``.cursor/mcp.json``, ``.vscode/mcp.json``, ``opencode.json``: every server is
listed with the file and line that it comes from, and waits for the folder's trust like the project's own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.document import Document, KeyPath
from harness_tui.config.fragment import Fragment, Keys
from harness_tui.config.migration.jsonc import read_jsonc
from harness_tui.config.problems import Problem
from harness_tui.config.server_shapes import SECTIONS, ServerTool, server_entry
from harness_tui.core.record import record

_SETTINGS: Final = ("opencode",)
"""Whose file holds much else, so that one without servers is nothing to speak of."""


@record
class ServersFile:
    """``document`` has the servers in the form of ``config.yaml``; ``errors`` says why an entry cannot be used."""

    document: Document
    errors: dict[Keys, str]
    tool: ServerTool

    def with_errors(self, fragment: Fragment) -> Fragment:
        """Return the checked fragment of the document with what was wrong before that."""
        dialect = "harness" if self.tool == "opencode" else "mcp-json"
        return replace(fragment, dialect=dialect, errors={**fragment.errors, **self.errors})


def tool_of_file(path: Path) -> ServerTool:
    """Return whose form a file has, by its name and folder."""
    if path.name.startswith("opencode.json"):
        return "opencode"
    return {".cursor": "cursor", ".vscode": "vscode"}.get(path.parent.name, "claude")  # type: ignore[return-value]


def read_servers_file(path: Path) -> ServersFile:
    """Read one file; entries are translated, not checked (``validation`` does that). Faults are its problems."""
    tool = tool_of_file(path)
    read = read_jsonc(path)
    if read.broken:
        return ServersFile(read, {}, tool)
    found = _section(read, tool)
    if isinstance(found, Problem):
        return ServersFile(Document(path, {}, {(): 1}, (found,), broken=found.level == "error"), {}, tool)
    keys, servers = found
    root = path.parent.parent if path.parent.name in (".cursor", ".vscode", ".opencode") else path.parent
    return _translated(read, keys, servers, tool, root)


def _section(read: Document, tool: ServerTool) -> tuple[KeyPath, dict[str, Any]] | Problem:
    """Return the keys of the section and what it holds, or what is wrong with it."""
    usual = SECTIONS[tool][-1]
    example = f'write {{"{usual[0]}": {{"name": {{"command": "..."}}}}}}'
    if not isinstance(read.values, dict):
        return Problem(read.where(), "wrong-type", "expected an object with the servers", example)
    values = cast(dict[str, Any], read.values)
    for keys in SECTIONS[tool]:
        held: Any = values
        for key in keys:
            held = cast(dict[str, Any], held).get(key) if isinstance(held, dict) else None
        if isinstance(held, dict) and not (len(keys) > 1 and _is_entry(cast(dict[str, Any], held))):
            return keys, cast(dict[str, Any], held)
        if held is not None and len(keys) == 1:
            return Problem(read.where(keys), "wrong-type", f"expected servers by name under {keys[0]!r}", example)
    if tool in _SETTINGS or not values:
        return (), {}
    others = [key for key in values if key.lower().replace("_", "") in ("mcpservers", "servers", "mcp", "mcpserver")]
    bare = [key for key, item in values.items() if isinstance(item, dict) and _is_entry(cast(dict[str, Any], item))]
    wrong = (others or bare or list(values))[0]
    message = f"the servers of this file stand under {usual[0]!r}, and there is no such key"
    mend = f"rename {wrong!r} to {usual[0]!r}" if others else example
    level = "error" if others or bare else "warning"
    return Problem(read.where((wrong,)), "wrong-key", message, mend, level)


def _is_entry(held: dict[str, Any]) -> bool:
    return any(isinstance(held.get(key), str | list) for key in ("command", "url", "httpUrl", "serverUrl"))


def _translated(read: Document, keys: KeyPath, servers: dict[str, Any], tool: ServerTool, root: Path) -> ServersFile:
    lines: dict[KeyPath, int] = {(): 1, ("mcp",): read.line(keys)}
    result: dict[str, Any] = {}
    problems: list[Problem] = []
    errors: dict[Keys, str] = {}
    for name, entry in servers.items():
        lines[("mcp", name)] = read.line((*keys, name))
        if not isinstance(entry, dict):
            result[name] = entry
            continue
        if tool == "opencode" and set(cast(dict[str, Any], entry)) <= {"enabled", "disabled"}:
            continue  # it switches a server of another file of theirs
        found = server_entry(cast(dict[str, Any], entry), tool, root)
        result[name] = found.values
        for ours, theirs in found.keys.items():
            lines[("mcp", name, ours)] = read.line((*keys, name, theirs))
        for slip in found.slips:
            label = ".".join((*map(str, keys), name, slip.key))
            where = read.where((*keys, name, slip.key))
            problems.append(Problem(where, "unknown-key", f"{label}: {slip.message}", slip.mend, slip.level))
            if slip.level == "error":
                mend = f" ({slip.mend})" if slip.mend else ""
                errors.setdefault(("mcp", name), f"{slip.key!r} {slip.message}{mend}")
    return ServersFile(Document(read.path, {"mcp": result}, lines, tuple(problems)), errors, tool)
