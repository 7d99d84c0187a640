"""What somebody pastes to add MCP servers: JSON of any tool, a command line or a URL; and taking servers away.

Everything is understood and checked before the first byte is written. A secret in clear text is never written: its
place takes ``{env:NAME}``, and the person is told which variable to set.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeAlias, cast

from harness_tui.config.edit import Change, SetValue, change_file, remove_value
from harness_tui.config.migration.findings import Findings
from harness_tui.config.migration.jsonc import parse_jsonc
from harness_tui.config.migration.servers import Draft, take_server
from harness_tui.config.migration.tool_names import entry_name
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.server_shapes import SECTIONS, ServerTool, server_entry
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.errors import UsageError
from harness_tui.core.record import record

Level: TypeAlias = Literal["user", "project"]

PASTED: Final = "what was pasted"
_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_RUNNERS: Final = (
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "node",
    "python",
    "python3",
    "uv",
    "run",
    "dlx",
    "pnpm",
    "docker",
    "env",
)
_NOISE: Final = re.compile(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-server|-mcp)$")


@record
class Added:
    """Servers that were written: ``entries`` by name, the ``file`` they are in, and the variables to set.

    ``secrets`` are pairs of a variable and what it is for; ``notes`` say what else should be known.
    """

    file: Path
    entries: dict[str, dict[str, Any]]
    secrets: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def add_servers(
    name: str | None,
    words: Sequence[str],
    *,
    level: Level,
    project: Project,
    places: Places,
    taken: Mapping[str, McpServerSettings],
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    sse: bool = False,
) -> Added:
    """Understand ``words`` (one text of JSON, or a command line, or a URL), check all and write all, or nothing.

    ``taken`` are the servers that are configured. Raises ``UsageError`` for what is not understood or a name that is
    taken, ``HarnessError`` for a file that cannot be edited. Reads and writes files: call it in a thread.
    """
    drafts, tool, notes = _drafts(name, words, project.root, sse=sse)
    for draft in drafts:
        draft.env = {**(draft.env or {}), **(env or {})} or None
        draft.headers = {**(draft.headers or {}), **(headers or {})} or None
    findings = Findings(level)
    for draft in drafts:
        take_server(findings, tool, draft)
    if findings.left:
        first = findings.left[0]
        raise UsageError(f"{first.what}: {first.why}", where=PASTED, code="server")
    entries = {keys[1]: cast(dict[str, Any], found.value) for keys, found in findings.values.items()}
    for new in entries:
        if new in taken:
            where = taken[new].source or "your configuration"
            mend = f"`harness mcp remove {new}` takes that one away, or choose another name"
            raise UsageError(f"there is a server {new!r} already", where=where, mend=mend, code="name-taken")
    path = config_file(level, project, places)
    changes: list[Change] = [SetValue(("mcp", new), entry) for new, entry in entries.items()]
    change_file(path, changes, places=places, project=project)
    secrets = tuple((secret.variable, secret.what) for secret in findings.secrets)
    return Added(path, entries, secrets, (*notes, *(note.why for note in findings.notes)))


def remove_server(
    name: str,
    *,
    level: Level | None,
    project: Project,
    places: Places,
    known: Mapping[str, McpServerSettings],
) -> Path:
    """Take a server out of the file that it stands in, and return that. Raises ``UsageError`` where none has it."""
    from harness_tui.config.yaml_source import read_yaml

    levels: tuple[Level, ...] = ("user", "project")
    holding: list[Level] = []
    for one in levels:
        path = config_file(one, project, places)
        servers = read_yaml(path).values.get("mcp") if path.exists() else None
        if isinstance(servers, dict) and name in servers:
            holding.append(one)
    if level is not None and level in holding:
        holding = [level]
    elif level is not None:
        holding = []
    if len(holding) > 1:
        raise UsageError(
            f"the server {name!r} stands in your own file and in the project's",
            mend=f"say which: `harness mcp remove {name} --user` or `--project`",
            code="two-places",
        )
    if holding:
        path = config_file(holding[0], project, places)
        remove_value(path, ("mcp", name), places=places, project=project)
        return path
    if name in known:
        where = known[name].source
        raise UsageError(
            f"the server {name!r} stands in a file that is not edited here", where=where, mend="take it away there"
        )
    near = difflib.get_close_matches(name, known, n=1)
    mend = f"did you mean {near[0]!r}?" if near else f"servers: {', '.join(sorted(known)) or 'none'}"
    raise UsageError(f"there is no MCP server {name!r}", mend=mend, code="unknown-server")


def config_file(level: Level, project: Project, places: Places) -> Path:
    """Return the file that servers are written to."""
    return places.config_file if level == "user" else project.root / ".harness" / "config.yaml"


# --- what was pasted ---------------------------------------------------------------------------------


def _drafts(
    name: str | None, words: Sequence[str], root: Path, *, sse: bool
) -> tuple[list[Draft], Literal["claude", "opencode"], list[str]]:
    """Return the servers that ``words`` describe, whose placeholders they use, and what is to be told."""
    words = [word for word in words if word.strip()]
    if not words:
        mend = "give a command line, a URL or JSON: `harness mcp add NAME -- PROGRAM ARGUMENTS`"
        raise UsageError("there is nothing to add", mend=mend)
    if len(words) == 1 and words[0].lstrip().startswith(("{", '"')):
        return _from_json(name, words[0].strip(), root)
    if name in _RUNNERS:
        mend = f"harness mcp add NAME -- {shlex.join([name, *words])}"
        raise UsageError(f"{name!r} is a program, and the name comes before it", mend=mend)
    if words[0].startswith("-"):
        mend = "options go before the name, and `--` before the command line"
        raise UsageError(f"{words[0]} is no program", mend=mend)
    if _URL.match(words[0]):
        return [_from_url(name, words, sse=sse)], "opencode", []
    return [_from_command(name, words)], "opencode", []


def _from_url(name: str | None, words: Sequence[str], *, sse: bool) -> Draft:
    if len(words) > 1:
        raise UsageError(f"a URL stands alone, and {words[1]!r} follows it", mend="options go before the name")
    if name is None:
        raise UsageError("the server has no name", mend=f"harness mcp add NAME {words[0]}")
    return Draft(name, PASTED, url=words[0], transport="sse" if sse else None)


def _from_command(name: str | None, words: Sequence[str]) -> Draft:
    if len(words) == 1 and any(sign in words[0] for sign in " \t\n"):
        try:
            words = shlex.split(words[0].replace("\\\n", " "))
        except ValueError as error:
            raise UsageError(f"the command line cannot be read: {error}", mend="close its quotes") from error
    env: dict[str, str] = {}
    rest = list(words)
    while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
        env[match[1]] = match[2]
        del rest[0]
    if not rest:
        raise UsageError("the command line names no program", mend="write the program behind the variables")
    for word in rest:
        if word in ("|", "||", "&&", ";", ">", "<", "&"):
            mend = "write a script for it, and name that"
            raise UsageError(f"no shell reads the command line, so {word!r} would be an argument", mend=mend)
    return Draft(name or suggested_name(rest), PASTED, command=rest, env=env or None)


def suggested_name(command: Sequence[str]) -> str:
    """Return a name for the server of a command line: that of its package or program, without what all have."""
    for word in command:
        plain = PurePosixPath(re.sub(r"(?<=.)@[\w.^~-]+$", "", word)).name
        plain = re.sub(r"\.(?:py|js|mjs|ts|sh)$", "", plain)
        if word.startswith("-") or plain in _RUNNERS or not plain:
            continue
        return entry_name(_NOISE.sub("", _NOISE.sub("", plain))) or plain
    return "server"


def _from_json(name: str | None, text: str, root: Path) -> tuple[list[Draft], Literal["claude", "opencode"], list[str]]:
    if text.startswith('"'):  # a part of a file: "name": {...}
        text = "{" + text.rstrip().rstrip(",") + "}"
    document = parse_jsonc(text, Path(PASTED))
    if document.broken:
        problem = document.problems[-1]
        raise UsageError(problem.message, where=problem.where, mend="paste the whole of it, from { to }", code="json")
    if not isinstance(document.values, dict):
        raise UsageError("the JSON is no object", where=PASTED)
    entries, tool = _entries(name, cast(dict[str, Any], document.values))
    drafts: list[Draft] = []
    notes: list[str] = []
    for one, entry in entries.items():
        found = server_entry(entry, tool, root)
        for slip in found.slips:
            if slip.level == "error":
                raise UsageError(
                    f"{one}: {slip.key!r} {slip.message}", where=PASTED, mend=slip.mend, code="unknown-key"
                )
            notes.append(f"{one}: {slip.key!r} {slip.message}" + (f": {slip.mend}" if slip.mend else ""))
        drafts.append(_draft(one, found.values))
    if not drafts:
        raise UsageError("there is no server in it", where=PASTED)
    return drafts, "opencode" if tool == "opencode" else "claude", notes


def _entries(name: str | None, values: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], ServerTool]:
    """Return the entries in pasted JSON by name, and whose shape they have."""
    tools: tuple[ServerTool, ...] = ("claude", "vscode", "opencode")
    for tool in tools:
        for keys in SECTIONS[tool]:
            held: Any = values
            for key in keys:
                held = cast(dict[str, Any], held).get(key) if isinstance(held, dict) else None
            if isinstance(held, dict) and not _is_entry(cast(dict[str, Any], held)):
                return _named(name, cast(dict[str, Any], held)), tool
    if _is_entry(values):
        found = name or (values["name"] if isinstance(values.get("name"), str) else None)
        if not found:
            raise UsageError(
                "the entry has no name", where=PASTED, mend="write it before: harness mcp add NAME '{...}'"
            )
        return {found: values}, _tool_of(values)
    entries = _named(name, values)
    first = next(iter(entries.values()), {})
    return entries, _tool_of(first)


def _named(name: str | None, held: dict[str, Any]) -> dict[str, dict[str, Any]]:
    for key, entry in held.items():
        if not isinstance(entry, dict):
            mend = 'write {"mcpServers": {"name": {"command": "..."}}}, or the entry alone'
            raise UsageError(f"{key!r} is no server", where=PASTED, mend=mend)
    entries = cast(dict[str, dict[str, Any]], held)
    if name is None:
        return entries
    if len(entries) != 1:
        mend = "leave the name out to add all of them"
        raise UsageError(f"one name for {len(entries)} servers ({', '.join(entries)})", where=PASTED, mend=mend)
    return {name: next(iter(entries.values()))}


def _is_entry(values: dict[str, Any]) -> bool:
    return any(isinstance(values.get(key), str | list) for key in ("command", "url", "httpUrl", "serverUrl"))


def _tool_of(entry: dict[str, Any]) -> ServerTool:
    opencode = isinstance(entry.get("command"), list) or entry.get("type") in ("local", "remote")
    return "opencode" if opencode or "{env:" in json.dumps(entry) else "claude"


def _draft(name: str, values: dict[str, Any]) -> Draft:
    transport = values.get("transport")
    if transport not in (None, "stdio", "http", "sse"):
        raise UsageError(
            f"{name}: there is no transport {transport!r}",
            where=PASTED,
            mend="known are stdio, http, sse",
            code="transport",
        )
    command, url = values.get("command"), values.get("url")
    if command and url:
        raise UsageError(f"{name}: both a command and a URL", where=PASTED, mend="keep one of them")
    return Draft(
        name,
        PASTED,
        command=command,
        url=url,
        transport=transport,
        env=values.get("env"),
        headers=values.get("headers"),
        cwd=values.get("cwd"),
        enabled=values.get("enabled", True) is not False,
        start=cast(dict[str, Any], values.get("timeout", {})).get("start"),
        oauth=values.get("oauth", {}),
    )
