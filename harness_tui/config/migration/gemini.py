"""Settings of Gemini CLI: ``settings.json`` of the person and the project, in its old and its new form; its agents."""

from __future__ import annotations

from typing import Any, Final

from harness_tui.config.document import Document
from harness_tui.config.migration.agent_folders import take_agents
from harness_tui.config.migration.claude_rules import bash_pattern, split_rule
from harness_tui.config.migration.findings import CLOSED, REOPENED, Findings, FoundRule, FoundValue
from harness_tui.config.migration.reading import Scene, leave_others, mapping, open_settings, texts
from harness_tui.config.migration.servers import Draft, as_seconds, take_server
from harness_tui.config.migration.tool_names import GEMINI, GEMINI_CLASSES, entry_name, safe_tool
from harness_tui.core.patterns import escape
from harness_tui.core.values import Action

_OLD: Final = {
    "coreTools": ("tools", "core"),
    "excludeTools": ("tools", "exclude"),
    "allowedTools": ("tools", "allowed"),
    "allowMCPServers": ("mcp", "allowed"),
    "excludeMCPServers": ("mcp", "excluded"),
    "contextFileName": ("context", "fileName"),
    "approvalMode": ("general", "defaultApprovalMode"),
}
"""Keys of the flat form, and where they stand in the nested one."""

_REASONS: Final = {
    "sandbox": "there is no sandbox: commands are asked about",
    "hooks": "hooks here answer with their exit code: write them under 'hooks'",
    "theme": "set 'theme' in config.yaml",
    "ui": "the shell has settings of its own",
    "security": "trust is given here anew: harness trust",
    "privacy": "nothing is sent to anybody but the model",
    "telemetry": "nothing is sent to anybody but the model",
    "autoAccept": "reading asks nothing anyway",
    "extensions": "there are no extensions",
}
_MODES: Final = {"auto_edit": "accept-edits", "plan": "plan"}
_PERMISSIONS: Final = {
    "read": "read",
    "list": "read",
    "glob": "read",
    "grep": "read",
    "write": "edit",
    "edit": "edit",
    "bash": "bash",
    "webfetch": "webfetch",
    "question": "question",
    "skill": "skill",
}
_IN_USE: Final = ("model", "tools", "mcp", "context", "general", "mcpServers", *_OLD)


def read_gemini(scene: Scene) -> list[Findings]:
    """Return what the person's and the project's files hold."""
    user, project = Findings("user"), Findings("project")
    for base, findings in ((scene.home, user), (scene.root, project)):
        if findings is project and scene.at_home:
            continue
        document = open_settings(base / ".gemini/settings.json", findings)
        if document is not None:
            _Settings(document, findings).take()
        take_agents(base / ".gemini/agents", "gemini", findings)
        policies = base / ".gemini/policies"
        for path in sorted(policies.glob("*.toml")) if policies.is_dir() else ():
            findings.leave(f"{path}:1", path.name, "policies are not read: write them under 'permission'")
    return [user] if scene.at_home else [user, project]


class _Settings:
    def __init__(self, document: Document, findings: Findings) -> None:
        self._document = document
        self._findings = findings

    def take(self) -> None:
        """Take everything that can be carried over, and say what cannot."""
        model, where = self._given("model", "name")
        if isinstance(model, str) and model and not model.startswith("auto"):
            self._findings.values[("model",)] = FoundValue(f"google/{model.removeprefix('models/')}", where)
        for name, entry in mapping(self._document.values.get("mcpServers")).items():
            self._server(name, mapping(entry))
        self._switches()
        self._allowed()
        self._core()
        self._excluded()
        self._mode()
        self._context()
        leave_others(self._document, self._findings, _IN_USE, _REASONS)
        for section, known in (
            ("tools", ("core", "exclude", "allowed")),
            ("mcp", ("allowed", "excluded")),
            ("context", ("fileName",)),
            ("general", ("defaultApprovalMode",)),
        ):
            leave_others(self._document, self._findings, known, _REASONS, (section,))
        if isinstance(self._document.values.get("model"), dict):
            leave_others(self._document, self._findings, ("name",), _REASONS, ("model",))

    def _given(self, section: str, key: str) -> tuple[Any, str]:
        """Return a value of the nested form, or of the flat one, and its place."""
        values = self._document.values
        if key in mapping(values.get(section)):
            return mapping(values[section])[key], self._document.where((section, key))
        old = next((name for name, place in _OLD.items() if place == (section, key)), section)
        value = values.get(old)
        return (None if isinstance(value, dict) else value), self._document.where((old,))

    def _add(self, permission: str, pattern: str, action: Action, where: str, was: str) -> None:
        self._findings.rules.append(FoundRule(permission, pattern, action, where, was))

    def _allowed(self) -> None:
        names, where = self._given("tools", "allowed")
        for name in texts(names):
            tool, inner = split_rule(name)
            was = f"allowed {name}"
            ours = _ours(tool)
            permission = _PERMISSIONS.get(ours[0]) if ours else None
            if permission is not None and not self._in_core(permission, inner):
                self._findings.leave(where, was, "it is not among the tools that are there at all")
            elif inner and permission == "bash":
                self._add("bash", _command(inner), "allow", where, was)
            elif not inner and permission in ("edit", "bash", "webfetch"):
                self._add(permission, "*", "allow", where, was)
            elif ours and not inner:
                self._findings.note(where, was, "it needs no permission here")
            else:
                self._findings.leave(where, was, "it is not known what that allows: it is asked")

    def _core_tools(self) -> list[tuple[str, str]] | None:
        """Return permission and command of each built-in tool that is there; ``None`` when all are."""
        names, _ = self._given("tools", "core")
        if not isinstance(names, list):
            return None
        split = [split_rule(name) for name in texts(names)]
        return [
            (_PERMISSIONS[item], inner if item == "bash" else "")
            for tool, inner in split
            for item in _ours(tool)
            if item in _PERMISSIONS
        ]

    def _in_core(self, permission: str, command: str) -> bool:
        core = self._core_tools()
        if core is None:
            return True
        commands = [inner for name, inner in core if name == permission]
        return any(not inner or command == inner or command.startswith(f"{inner} ") for inner in commands)

    def _core(self) -> None:
        """Only these built-in tools: the others are denied, and those that are named ask as they do anyway."""
        core, (_, where) = self._core_tools(), self._given("tools", "core")
        if core is None:
            return
        was = "only the tools in its list"
        for permission in ("read", "edit", "bash", "webfetch"):
            commands = [inner for name, inner in core if name == permission]
            if "" in commands:
                continue
            self._findings.rules.append(FoundRule(permission, "*", "deny", where, was, CLOSED))
            for command in commands:
                self._findings.rules.append(FoundRule("bash", _command(command), "ask", where, was, REOPENED))
        names = {GEMINI_CLASSES.get(name, name) for name in texts(self._given("tools", "core")[0])}
        if names & set(_READING) and not names >= set(_READING):
            self._findings.note(where, was, "reading and searching are one permission here: both stay")

    def _excluded(self) -> None:
        names, where = self._given("tools", "exclude")
        for name in texts(names):
            tool, inner = split_rule(name)
            was, ours = f"excluded {name}", _ours(tool)
            if inner and ours[:1] == ("bash",):
                self._add("bash", _command(inner), "deny", where, was)
            elif ours and _PERMISSIONS.get(ours[0]) == "read" and ours[0] != "read":
                self._add("read", "*", "ask", where, was)
                self._findings.note(where, was, "there is no rule for it alone: reading asks")
            elif ours and ours[0] in _PERMISSIONS:
                self._add(_PERMISSIONS[ours[0]], "*", "deny", where, was)
            elif ours or tool in GEMINI_CLASSES.values() or tool in GEMINI_CLASSES:
                self._findings.leave(where, was, "no rule denies this tool alone; switch it off in an agent")
            else:
                server, parts, rest = tool.partition("__")
                pattern = f"{safe_tool(server)}_{safe_tool(rest)}" if parts else f"*_{safe_tool(tool)}"
                self._add("mcp", pattern, "deny", where, was)

    def _mode(self) -> None:
        mode, where = self._given("general", "defaultApprovalMode")
        if mode in _MODES:
            self._findings.values[("mode",)] = FoundValue(_MODES[str(mode)], where)
        elif mode not in (None, "default"):
            self._findings.leave(where, f"approval mode {mode!r}", "what no rule allows is asked")

    def _context(self) -> None:
        names, where = self._given("context", "fileName")
        files = [names] if isinstance(names, str) else texts(names)
        further = [name for name in files if name not in ("GEMINI.md", "AGENTS.md", "CLAUDE.md")]
        if further and self._findings.level == "project":
            self._findings.values[("instructions",)] = FoundValue(further, where)
        elif further:
            self._findings.leave(
                where, f"context files {', '.join(further)}", "name them in each project's instructions"
            )

    # --- servers -----------------------------------------------------------------------------------

    def _server(self, name: str, entry: dict[str, Any]) -> None:
        where = self._document.where(("mcpServers", name))
        tools: dict[str, bool] = {}
        if isinstance(entry.get("includeTools"), list):
            tools = {"*": False, **{escape(split_rule(item)[0]): True for item in texts(entry["includeTools"])}}
        tools |= {escape(item): False for item in texts(entry.get("excludeTools"))}
        draft = Draft(
            name,
            where,
            command=entry.get("command"),
            arguments=entry.get("args"),
            url=entry.get("httpUrl") or entry.get("url"),
            transport=None if entry.get("httpUrl") else str(entry.get("type", "sse")),
            env=entry.get("env"),
            headers=entry.get("headers"),
            cwd=entry.get("cwd"),
            total=as_seconds(entry.get("timeout")),
            tools=tools,
        )
        take_server(self._findings, "gemini", draft)
        if entry.get("trust") is True and ("mcp", entry_name(name)) in self._findings.values:
            self._add("mcp", f"{safe_tool(entry_name(name))}_*", "allow", where, f"{name}: trust")
        for key in ("oauth", "authProviderType", "targetAudience", "targetServiceAccount"):
            if entry.get(key) is not None:
                self._findings.leave(
                    self._document.where(("mcpServers", name, key)),
                    f"{name}.{key}",
                    "there is no such setting of servers here",
                )

    def _switches(self) -> None:
        allowed, _ = self._given("mcp", "allowed")
        excluded, _ = self._given("mcp", "excluded")
        only = set(map(entry_name, texts(allowed))) if isinstance(allowed, list) else None
        out = set(map(entry_name, texts(excluded)))
        for (section, *rest), found in list(self._findings.values.items()):
            if section == "mcp" and rest and (rest[0] in out or (only is not None and rest[0] not in only)):
                self._findings.values["mcp", rest[0]] = FoundValue({**found.value, "enabled": False}, found.where)


def _ours(tool: str) -> tuple[str, ...]:
    return GEMINI.get(GEMINI_CLASSES.get(tool, tool), ())


_READING: Final = tuple(name for name, tools in GEMINI.items() if _PERMISSIONS.get(tools[0]) == "read")


def _command(inner: str) -> str:
    """Return the pattern for commands that begin with ``inner``."""
    return bash_pattern(f"{escape(inner.rstrip('*: '))}:*") if inner.rstrip("*: ") else "*"
