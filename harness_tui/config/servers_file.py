"""``.mcp.json``, the file in which other tools keep MCP servers, read into our own terms.

Other tools write keys that mean nothing here, so an unknown key is a warning; an unknown transport is an error.
"""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.config.document import Document, broken_document
from harness_tui.config.problems import Problem
from harness_tui.config.yaml_source import read_text

_TRANSPORTS: Final = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
_SAME: Final = ("url", "env", "headers", "cwd")
_READ: Final = (*_SAME, "command", "args", "httpUrl", "type", "transport", "disabled")
_FOREIGN: Final = ("alwaysAllow", "autoApprove", "description", "name", "timeout", "trust", "tools", "enabled")


def read_servers_file(path: Path) -> Document:
    """Return the document of a ``.mcp.json``: ``{"mcp": {name: entry}}`` in the form of ``config.yaml``.

    Entries are translated, not checked; ``validation`` does that.
    """
    text = read_text(path)
    if isinstance(text, Document):
        return text
    try:
        data = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        return broken_document(path, "json", f"not valid JSON: {error.msg}", line=error.lineno)
    except RecursionError:
        return broken_document(path, "too-deep", "nested too deeply")
    servers = cast(dict[str, Any], data).get("mcpServers", {}) if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        message, mend = "expected servers under 'mcpServers'", 'write {"mcpServers": {"name": {"command": "..."}}}'
        return broken_document(path, "wrong-type", message, mend)
    return _translate(path, text, cast(dict[str, Any], servers))


def _translate(path: Path, text: str, servers: dict[str, Any]) -> Document:
    lines: dict[tuple[str | int, ...], int] = {(): 1, ("mcp",): _line_of(text, "mcpServers", 0)[0]}
    _, position = _line_of(text, "mcpServers", 0)
    result: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, entry in servers.items():
        line, inside = _line_of(text, name, position)
        lines[("mcp", name)] = line
        if not isinstance(entry, dict):
            result[name] = entry
            continue
        result[name] = _entry(cast(dict[str, Any], entry))
        for key in entry:
            if key not in _READ and key not in _FOREIGN:
                close = difflib.get_close_matches(key, _READ, n=1, cutoff=0.6)
                mend = f"did you mean {close[0]!r}?" if close else None
                where = f"{path}:{_line_of(text, key, inside)[0]}"
                problems.append(
                    Problem(where, "unknown-key", f"unknown key 'mcpServers.{name}.{key}'", mend, "warning")
                )
    return Document(path, {"mcp": result}, lines, tuple(problems))


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {key: entry[key] for key in _SAME if entry.get(key) is not None}
    command, arguments = entry.get("command"), entry.get("args") or []
    if isinstance(command, str) and isinstance(arguments, list):
        result["command"] = [command, *arguments]
    elif command is not None:
        result["command"] = command
    if "httpUrl" in entry and "url" not in entry:
        result["url"] = entry["httpUrl"]
    kind = entry.get("type", entry.get("transport"))
    if kind is not None:
        result["transport"] = _TRANSPORTS.get(str(kind).lower(), kind)
    if isinstance(entry.get("disabled"), bool):
        result["enabled"] = not entry["disabled"]
    return result


def _line_of(text: str, key: str, start: int) -> tuple[int, int]:
    """Return the line of the first ``"key":`` at or after ``start``, and the position after it."""
    match = re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:").search(text, start)
    if match is None:
        match = re.compile(re.escape(json.dumps(key)) + r"\s*:").search(text, start)
    if match is None:
        return 1, start
    return text.count("\n", 0, match.start()) + 1, match.end()
