"""Which tools an agent of another tool has, and what it may do, as ``tools`` and ``permission`` of one of ours."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, cast

from harness_tui.config.migration.claude_rules import claude_patterns, split_rule
from harness_tui.config.migration.opencode_rules import opencode_rules
from harness_tui.config.migration.tool_names import (
    CLAUDE,
    CLAUDE_WITHOUT_EQUAL,
    GEMINI,
    GEMINI_CLASSES,
    OPENCODE,
    mcp_pattern,
    safe_tool,
)

_OUTSIDE: Final = re.compile(r"[,\s]+(?![^()]*\))")
_GEMINI_WITHOUT_EQUAL: Final = (
    "google_web_search",
    "save_memory",
    "codebase_investigator",
    "cli_help",
    "exit_plan_mode",
)


class AgentTools:
    """Collects ``switches`` (tool or pattern to true or false), ``rules`` and ``notes`` (``file:line`` and text)."""

    def __init__(self, maker: Literal["claude", "opencode", "gemini"], *, keep_allows: bool) -> None:
        self._maker = maker
        self._keep_allows = keep_allows
        self.switches: dict[str, bool] = {}
        self.rules: list[dict[str, Any]] = []
        self.notes: list[tuple[str, str]] = []

    def take(self, key: str, value: Any, where: str) -> str | None:
        """Take the value of ``tools``, ``disallowedTools`` or ``permission``; return what is wrong with it."""
        if key in ("permission", "permissions"):
            return self._permission(value, where) if self._maker == "opencode" else None
        if isinstance(value, dict):
            return self._switches(cast(dict[str, Any], value), where)
        names = _names(value)
        if names is None:
            return "expected a list of tools"
        if key == "tools":
            return self._only(names, where)
        self._without(names, where)
        return None

    # --- lists -------------------------------------------------------------------------------------

    def _only(self, names: list[str], where: str) -> None:
        if "*" in names:
            return
        self.switches["*"] = False
        for name in names:
            tool, inner = split_rule(name)
            known = self._known(tool)
            if not known:
                self._unknown(tool, where)
            for item in known:
                self.switches[item] = True
            if inner and known:
                self._narrow(tool, inner, where)

    def _without(self, names: list[str], where: str) -> None:
        for name in names:
            tool, inner = split_rule(name)
            known = self._known(tool)
            if not known:
                self._unknown(tool, where)
            elif inner:
                found = claude_patterns(tool, inner, "deny")
                self._add([(found.permission, pattern, "deny") for pattern in found.patterns] if found else [], where)
            for item in known if not inner else ():
                self.switches[item] = False

    def _narrow(self, tool: str, inner: str, where: str) -> None:
        """``Bash(git:*)`` in a list of tools: that tool for these uses, which still ask, and for no other."""
        found = claude_patterns(tool, inner, "allow") if self._maker == "claude" else None
        if found is None or not found.patterns:
            for item in self._known(tool):
                self.switches[item] = False
            self.notes.append((where, f"{tool}({inner}) cannot be narrowed like that here: the agent has no {tool}"))
            return
        if not any(rule["permission"] == found.permission for rule in self.rules):
            self._add([(found.permission, "*", "deny")], where)
        self._add([(found.permission, pattern, "ask") for pattern in found.patterns], where)

    def _known(self, tool: str) -> tuple[str, ...]:
        pattern = mcp_pattern(tool)
        if pattern is not None:
            return (pattern,)
        if self._maker == "gemini":
            name = GEMINI_CLASSES.get(tool, tool)
            server, parts, rest = name.partition("__")
            return (f"{safe_tool(server)}_{safe_tool(rest)}",) if parts and rest else GEMINI.get(name, ())
        return CLAUDE.get(tool, ()) if self._maker == "claude" else OPENCODE.get(tool, ())

    def _unknown(self, tool: str, where: str) -> None:
        if tool not in CLAUDE_WITHOUT_EQUAL and tool not in _GEMINI_WITHOUT_EQUAL:
            self.notes.append((where, f"there is no tool {tool!r} here"))

    # --- opencode ----------------------------------------------------------------------------------

    def _switches(self, given: dict[str, Any], where: str) -> str | None:
        for name, on in given.items():
            if not isinstance(on, bool):
                return f"expected true or false for {name!r}"
            for item in OPENCODE.get(name, (safe_tool(name),)):
                self.switches[item] = on
            if name == "bash" and on is False:
                self.switches["bash_*"] = False
        return None

    def _permission(self, value: Any, where: str) -> str | None:
        found = opencode_rules(value, lambda _: where)
        if found.fault is not None:
            return found.fault
        self.notes += [(where, item.why) for item in found.left]
        self._add([(rule.permission, rule.pattern, rule.action) for rule in found.rules], where)
        return None

    def _add(self, rules: list[tuple[str, str, str]], where: str) -> None:
        for permission, pattern, action in rules:
            if action == "allow" and not self._keep_allows:
                if not any(rule["permission"] in (permission, "*") for rule in self.rules):
                    continue  # nothing to lift: the person's own rules decide
                action = "ask"
            self.rules.append({"permission": permission, "pattern": pattern, "action": action})


def _names(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return [name for name in _OUTSIDE.split(value.strip()) if name]
    if isinstance(value, list) and all(isinstance(item, str) for item in cast(list[Any], value)):
        return [name.strip() for name in cast(list[str], value) if name.strip()]
    return None
