"""Settings of Claude Code: ``settings.json`` of the person and the project, and the servers in ``.claude.json``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from harness_tui.config.document import Document
from harness_tui.config.migration.agent_folders import take_agents
from harness_tui.config.migration.claude_rules import claude_patterns, split_rule
from harness_tui.config.migration.findings import Findings, FoundRule, FoundValue, Level
from harness_tui.config.migration.reading import Scene, leave_others, mapping, open_settings, texts
from harness_tui.config.migration.servers import Draft, take_server
from harness_tui.core.paths import expand
from harness_tui.core.values import Action

_ACTIONS: Final[tuple[Action, ...]] = ("allow", "ask", "deny")
_MODES: Final = {"acceptEdits": "accept-edits", "plan": "plan"}
_LEFT_MODES: Final = {
    "bypassPermissions": "everything would be allowed: what no rule allows is asked",
    "dontAsk": "without a person, --ask refuse does it for each run",
    "auto": "nothing here decides in a person's place",
}
_MODEL: Final = re.compile(r"(claude-[a-z0-9.-]+?)(?:\[1m\])?")
_REASONS: Final = {
    "hooks": "hooks here get no JSON and answer with their exit code: write them under 'hooks'",
    "env": "set the variables in your shell; servers have an 'env' of their own",
    "apiKeyHelper": "give the key with 'harness auth add anthropic'",
    "statusLine": "the status line is fixed",
    "outputStyle": "say it in AGENTS.md, or in an agent",
    "sandbox": "there is no sandbox: commands are asked about",
    "enabledPlugins": "there are no plug-ins",
    "extraKnownMarketplaces": "there are no plug-ins",
    "enableAllProjectMcpServers": "trust covers the servers of a project: harness trust",
    "enabledMcpjsonServers": "trust covers the servers of a project: harness trust",
    "cleanupPeriodDays": "'sessions' limits how much room they take",
}
_KNOWN: Final = ("permissions", "model", "disabledMcpjsonServers", "mcpServers", "includeCoAuthoredBy", "theme")


def read_claude(scene: Scene) -> list[Findings]:
    """Return what the person's, the project's and the person's settings in this project hold."""
    folder = scene.folder("CLAUDE_CONFIG_DIR", ".claude")
    user, project, local = Findings("user"), Findings("project"), Findings("local")
    _settings(folder / "settings.json", user, scene)
    state = folder if folder != scene.home / ".claude" else scene.home
    _state(state / ".claude.json", user, local, scene)
    take_agents(folder / "agents", "claude", user)
    if scene.at_home:
        return [user]
    _settings(scene.root / ".claude/settings.json", project, scene)
    _settings(scene.root / ".claude/settings.local.json", local, scene)
    take_agents(scene.root / ".claude/agents", "claude", project)
    servers = open_settings(scene.root / ".mcp.json", project)
    if servers is not None:
        project.note(f"{servers.path}:1", ".mcp.json", "it is read where it lies, once the folder is trusted")
    return [user, project, local]


def _settings(path: Path, findings: Findings, scene: Scene) -> None:
    document = open_settings(path, findings)
    if document is None:
        return
    _permissions(document, findings, scene)
    _servers(document, ("mcpServers",), findings)
    _model(document, findings)
    for name in texts(mapping(document.values).get("disabledMcpjsonServers")):
        where = document.where(("disabledMcpjsonServers",))
        if (scene.root / ".mcp.json").exists() and findings.level != "user":
            findings.values["mcp", name, "enabled"] = FoundValue(False, where)
        else:
            findings.leave(where, f"disabledMcpjsonServers: {name}", "there is no .mcp.json here")
    leave_others(document, findings, _KNOWN, _REASONS)


def _state(path: Path, user: Findings, local: Findings, scene: Scene) -> None:
    document = open_settings(path, user)
    if document is None:
        return
    _servers(document, ("mcpServers",), user)
    project = str(scene.root)
    if scene.at_home or project not in mapping(document.values.get("projects")):
        return
    _servers(document, ("projects", project, "mcpServers"), local)
    for index, text in enumerate(texts(_at(document, ("projects", project, "allowedTools")))):
        _rule(text, "allow", document.where(("projects", project, "allowedTools", index)), local)


def _at(document: Document, keys: tuple[str, ...]) -> Any:
    values: Any = document.values
    for key in keys:
        values = mapping(values).get(key)
    return values


def _permissions(document: Document, findings: Findings, scene: Scene) -> None:
    given = mapping(document.values.get("permissions"))
    for action in _ACTIONS:
        items = given.get(action)
        if items is not None and not isinstance(items, list):
            findings.leave(document.where(("permissions", action)), f"permissions.{action}", "it is no list")
        for index, text in enumerate(texts(items)):
            _rule(text, action, document.where(("permissions", action, index)), findings)
    mode, where = given.get("defaultMode"), document.where(("permissions", "defaultMode"))
    if mode in _MODES:
        findings.values[("mode",)] = FoundValue(_MODES[str(mode)], where)
    elif mode not in (None, "default"):
        findings.leave(where, f"defaultMode: {mode}", _LEFT_MODES.get(str(mode), "there is no such mode here"))
    for index, text in enumerate(texts(given.get("additionalDirectories"))):
        place = document.where(("permissions", "additionalDirectories", index))
        _further_folder(text, place, findings, scene)
    done = (*_ACTIONS, "defaultMode", "additionalDirectories")
    leave_others(document, findings, done, {}, ("permissions",))


def _further_folder(text: str, where: str, findings: Findings, scene: Scene) -> None:
    was = f"additionalDirectories: {text}"
    path = text.rstrip("/") if text.startswith("~/") else str(expand(text or ".", scene.root)).rstrip("/")
    if findings.level == "user" and not text.startswith(("/", "~/")):
        findings.leave(where, was, "it is relative to each project: give it with its whole path")
    elif path in ("", "~") or any(sign in path for sign in "*?\\") or scene.home.is_relative_to(path):
        findings.leave(where, was, "it is too wide, or no plain path: its files are asked about")
    else:
        findings.rules += [
            FoundRule("external_directory", pattern, "allow", where, was) for pattern in (path, f"{path}/*")
        ]


def _rule(text: str, action: Action, where: str, findings: Findings) -> None:
    tool, inner = split_rule(text)
    was = f"{action} {text}"
    found = claude_patterns(tool, inner, action)
    if found is None:
        findings.leave(where, was, f"there is no tool {tool!r} here")
        return
    if found.why is not None:
        (findings.note if found.patterns else findings.leave)(where, was, found.why)
    pairs = [*((found.permission, pattern) for pattern in found.patterns), *found.also]
    findings.rules += [FoundRule(key, pattern, found.action or action, where, was) for key, pattern in pairs]


def _servers(document: Document, keys: tuple[str, ...], findings: Findings) -> None:
    for name, value in mapping(_at(document, keys)).items():
        entry, kind = mapping(value), str(mapping(value).get("type", ""))
        where = document.where((*keys, name))
        if kind not in ("", "stdio", "http", "sse", "streamable-http"):
            findings.leave(where, f"MCP server {name}", f"there is no transport {kind!r} here")
            continue
        draft = Draft(
            name,
            where,
            command=entry.get("command"),
            arguments=entry.get("args"),
            url=entry.get("url"),
            transport=kind or None,
            env=entry.get("env"),
            headers=entry.get("headers"),
            cwd=entry.get("cwd"),
            enabled=entry.get("disabled") is not True,
        )
        take_server(findings, "claude", draft)
        for key in ("headersHelper", "oauth", "timeout"):
            if entry.get(key) is not None:
                findings.leave(document.where((*keys, name, key)), f"{name}.{key}", "servers have no such setting here")


def _model(document: Document, findings: Findings) -> None:
    model, where = document.values.get("model"), document.where(("model",))
    if not isinstance(model, str) or model in ("", "default"):
        return
    found = _MODEL.fullmatch(model)
    if found:
        findings.values[("model",)] = FoundValue(f"anthropic/{found[1]}", where)
    else:
        findings.leave(where, f"model: {model}", "it names whatever is newest: choose one with /model")


__all__ = ["Level", "read_claude"]
