"""Entries of MCP servers as other tools write them, in our own terms.

Claude Code, Cursor, VS Code and opencode write the same things under different keys. One table knows all of them, so
that a file of theirs and a snippet somebody pastes are understood alike. What means nothing here is a warning; what
looks like a slip of the pen makes the entry unusable, since a server without its ``env`` fails in ways nobody can read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from harness_tui.config.problems import Level
from harness_tui.core.record import record

ServerTool: TypeAlias = Literal["claude", "cursor", "vscode", "opencode"]

SECTIONS: Final[dict[ServerTool, tuple[tuple[str, ...], ...]]] = {
    "claude": (("mcpServers",),),
    "cursor": (("mcpServers",),),
    "vscode": (("servers",),),
    "opencode": (("mcp", "servers"), ("mcp",)),
}
"""Under which keys the servers stand in a file of each; the first that is there counts."""

_TRANSPORTS: Final = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "remote": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
_OURS: Final[dict[str, str]] = {
    "command": "command",
    "url": "url",
    "httpUrl": "url",
    "serverUrl": "url",
    "type": "transport",
    "transport": "transport",
    "env": "env",
    "environment": "env",
    "headers": "headers",
    "cwd": "cwd",
    "disabled": "enabled",
    "enabled": "enabled",
    "oauth": "oauth",
}
"""Keys that are read, and what each is called here."""

_OTHER: Final = (
    "args",
    "alwaysAllow",
    "autoApprove",
    "description",
    "gallery",
    "name",
    "timeout",
    "tools",
    "trust",
    "version",
)
"""Keys of others that change nothing here, or would widen what runs unasked."""

_TELLING: Final = {
    "envFile": "files of variables are not read here: name the variables in 'env'",
    "headersHelper": "no program is asked for headers here: write them as ${NAME}",
    "auth": "write what it says under 'oauth' in a config.yaml of ours",
    "dev": "there is no such mode here",
    "sandbox": "there is no sandbox here",
}
_PLACE: Final = re.compile(r"\$\{(env|input):([^}]+)\}|\$\{(workspaceFolderBasename|workspaceFolder|userHome|/)\}")
_NOT_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
_SLIP: Final = 0.65
_LONGEST_MS: Final = 7 * 86_400_000


@record
class Slip:
    """Something that an entry says and that is not used; at level error the entry cannot be."""

    key: str
    message: str
    mend: str | None
    level: Level = "error"


@record
class ServerEntry:
    """One entry with our keys, unchecked. ``keys`` says which key of theirs each of ours was."""

    values: dict[str, Any]
    slips: tuple[Slip, ...]
    keys: dict[str, str]


def server_entry(entry: dict[str, Any], tool: ServerTool, root: Path) -> ServerEntry:
    """Translate one entry of ``tool``; ``root`` is the folder that its placeholders call the workspace."""
    given = {key: value for key, value in entry.items() if value is not None}
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for key, value in given.items():
        ours = _OURS.get(key)
        if ours is not None and ours not in values:
            values[ours], keys[ours] = value, key
    if "command" in given:
        values["command"] = _command(given["command"], given.get("args"))
    if "transport" in values:
        kind = values["transport"]
        values["transport"] = _TRANSPORTS.get(str(kind).lower(), kind)
    if keys.get("enabled") == "disabled" and isinstance(values["enabled"], bool):
        values["enabled"] = not values["enabled"]
    if "oauth" in values:
        _login(values)
    if tool == "opencode":
        _times(given.get("timeout"), values)
    else:
        values = {key: _filled(value, root) for key, value in values.items()}
    return ServerEntry(values, tuple(_slips(given)), keys)


def _command(command: Any, arguments: Any) -> Any:
    if isinstance(command, str) and isinstance(arguments or [], list):
        return [command, *(arguments or [])]
    if isinstance(command, list) and isinstance(arguments, list):
        return [*cast(list[Any], command), *cast(list[Any], arguments)]
    return command


def _login(values: dict[str, Any]) -> None:
    oauth = values.pop("oauth")
    if not isinstance(oauth, dict):
        return
    names = {"clientId": "client_id", "clientSecret": "client_secret", "scope": "scope"}
    kept = {names[key]: value for key, value in cast(dict[str, Any], oauth).items() if key in names and value}
    if kept:
        values["oauth"] = kept


def _times(timeout: Any, values: dict[str, Any]) -> None:
    """Take over what opencode calls the time-out: milliseconds for the start."""
    found = cast(dict[str, Any], timeout).get("catalog") if isinstance(timeout, dict) else timeout
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 < found <= _LONGEST_MS:
        values["timeout"] = {"start": found / 1000}


def _slips(given: dict[str, Any]) -> list[Slip]:
    slips: list[Slip] = []
    for key in given:
        if key in _OURS or key in _OTHER:
            continue
        if key in _TELLING:
            slips.append(Slip(key, "is not used", _TELLING[key], "warning"))
            continue
        lowered = {name.lower(): name for name in (*_OURS, "args")}
        close = difflib.get_close_matches(key.lower().replace("-", "_"), lowered, n=1, cutoff=_SLIP)
        if close:
            slips.append(Slip(key, "is no key of a server", f"did you mean {lowered[close[0]]!r}?"))
        else:
            slips.append(Slip(key, "is not known here", None, "warning"))
    if "args" in given and "command" not in given:
        slips.append(Slip("args", "has no 'command' to go with", "name the program in 'command'"))
    return slips


def _filled(value: Any, root: Path) -> Any:
    """Return ``value`` with what is known here put in, variables in the one form that is read later."""
    match value:
        case str():
            return _PLACE.sub(lambda match: _place(match, root), value)
        case list():
            return [_filled(item, root) for item in cast(list[Any], value)]
        case dict():
            return {key: _filled(item, root) for key, item in cast(dict[str, Any], value).items()}
        case _:
            return value


def _place(match: re.Match[str], root: Path) -> str:
    kind, name, folder = match.groups()
    if kind == "env":
        return f"${{{name.strip()}}}"
    if kind == "input":  # what another tool asks its person for is a variable of the same name here
        return f"${{{_NOT_NAME.sub('_', name).strip('_').upper()}}}"
    known: dict[str, Callable[[], str]] = {
        "workspaceFolder": lambda: str(root),
        "workspaceFolderBasename": lambda: root.name,
        "userHome": lambda: str(Path.home()),
        "/": lambda: "/",
    }
    return known[folder]()
