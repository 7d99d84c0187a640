"""MCP servers of other tools as entries of ``mcp``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, cast

from harness_tui.config.migration.findings import Findings, FoundValue
from harness_tui.config.migration.secret_values import Dialect, Values, command_fault
from harness_tui.config.migration.tool_names import entry_name

_LONGEST_S: Final = 7 * 86_400
_NAMES: Final = {
    "env": re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
    "headers": re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"),
}


@dataclass(slots=True)
class Draft:
    """What another tool says of one server, unchecked. ``start`` and ``total`` are seconds."""

    name: str
    where: str
    command: Any = None
    arguments: Any = None
    url: Any = None
    transport: str | None = None
    env: Any = None
    headers: Any = None
    cwd: Any = None
    enabled: bool = True
    start: Any = None
    total: Any = None
    tools: dict[str, bool] = field(default_factory=dict[str, bool])
    inherit: tuple[str, ...] = ()
    oauth: dict[str, Any] = field(default_factory=dict[str, Any])


def take_server(findings: Findings, dialect: Dialect, draft: Draft) -> None:
    """Put one server among ``findings``, or the reason why it cannot be."""
    what = f"MCP server {draft.name}"
    name = entry_name(draft.name)
    fault, entry, secrets = None, {}, len(findings.secrets)
    if not name:
        fault = "its name holds no letter or digit"
    else:
        try:
            entry = _entry(draft, Values(findings, dialect, name))
        except ValueError as error:
            fault = str(error)
    if fault is not None:
        del findings.secrets[secrets:]
        findings.leave(draft.where, what, fault)
        return
    if entry.get("transport") == "sse":
        findings.note(draft.where, what, "it speaks the older SSE transport: use a newer address if it has one")
    if name != draft.name:
        findings.note(draft.where, what, f"it is called {name} here")
    findings.values["mcp", name] = FoundValue(entry, draft.where)


def _entry(draft: Draft, values: Values) -> dict[str, Any]:
    """Return the entry. Raises ``ValueError`` with what is wrong."""
    entry: dict[str, Any] = {}
    command = _command(draft)
    if command:
        fault = command_fault(command, values.placeholders)
        if fault is not None:
            raise ValueError(fault)
        entry["command"] = command
    elif isinstance(draft.url, str) and draft.url.strip():
        url = values.address(draft.url.strip(), draft.where)
        if url is None or not url.startswith(("http://", "https://", "{env:")):
            raise ValueError("its address holds a password or is none that can be used here")
        entry["url"] = url
        if draft.transport == "sse":
            entry["transport"] = "sse"
    else:
        raise ValueError("it has neither a command nor an address")
    for key, given in (("env", draft.env), ("headers", draft.headers)):
        found = _texts(key, given, values, draft.where)
        if found:
            entry[key] = found
    times = {"start": draft.start, "total": draft.total}
    further: dict[str, Any] = {
        "inherit": list(draft.inherit),
        "cwd": draft.cwd if isinstance(draft.cwd, str) else "",
        "timeout": {key: value for key, value in times.items() if _is_time(value)},
        "tools": draft.tools,
        "oauth": draft.oauth,
    }
    entry |= {key: value for key, value in further.items() if value}
    return entry if draft.enabled else entry | {"enabled": False}


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _LONGEST_S


def _command(draft: Draft) -> list[str]:
    parts = cast(list[Any], draft.command) if isinstance(draft.command, list) else [draft.command]
    if draft.command in (None, "", []):
        return []
    rest = cast(list[Any], draft.arguments) if isinstance(draft.arguments, list) else []
    if draft.arguments is not None and not isinstance(draft.arguments, list):
        raise ValueError("its arguments are no list")
    command = [*parts, *rest]
    if not all(isinstance(part, str) for part in command):
        raise ValueError("its command line holds something that is no text")
    return command


def _texts(key: str, given: Any, values: Values, where: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ValueError(f"its {key} is no mapping")
    found: dict[str, str] = {}
    for name, text in cast(dict[str, Any], given).items():
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise ValueError(f"{key}.{name} is no text")
        if not _NAMES[key].fullmatch(name) or "\n" in str(text) or "\x00" in str(text):
            raise ValueError(f"{key}.{name} cannot be given to a server")
        value = values.variable(name, str(text), where, name if key == "env" else None)
        if value is None:
            raise ValueError(f"{key}.{name} holds a placeholder that would mean something else here")
        found[name] = value
    return found


def as_seconds(milliseconds: Any) -> float | None:
    """Return seconds for a number of milliseconds, ``None`` for anything else."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not 0 < milliseconds < 1e12:
        return None
    seconds = milliseconds / 1000
    return int(seconds) if seconds == int(seconds) else seconds
