"""The permission settings of opencode as rules of ours: the same engine, other names of keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias, cast

from harness_tui.config.document import KeyPath
from harness_tui.config.migration.findings import FoundRule, Left
from harness_tui.config.migration.tool_names import safe_tool
from harness_tui.core.record import record
from harness_tui.core.values import Action

WhereOf: TypeAlias = Callable[[KeyPath], str]

_KEYS: Final = {
    "read": "read",
    "edit": "edit",
    "write": "edit",
    "patch": "edit",
    "bash": "bash",
    "shell": "bash",
    "task": "task",
    "subagent": "task",
    "skill": "skill",
    "webfetch": "webfetch",
    "external_directory": "external_directory",
    "doom_loop": "doom_loop",
    "question": "question",
}
"""What there is a key for here. The second spelling of two is that of its later version."""

_READERS: Final = ("list", "glob", "grep", "lsp")
_NOTHING: Final = ("todowrite", "todoread", "websearch", "codesearch", "plan_enter", "plan_exit")
_ACTIONS: Final = ("allow", "ask", "deny")


@record
class OpencodeRules:
    """Rules in their order, what was left out, and what makes the whole unusable."""

    rules: tuple[FoundRule, ...] = ()
    left: tuple[Left, ...] = ()
    fault: str | None = None


def opencode_rules(value: Any, where_of: WhereOf) -> OpencodeRules:
    """Return the rules of a ``permission`` value: an action, a mapping of keys, or a list of rules.

    ``where_of`` returns ``file:line`` of a path of keys inside it.
    """
    reader = _Reader(where_of)
    match value:
        case str():
            reader.key("*", value, ())
        case dict():
            for key, item in cast(dict[str, Any], value).items():
                reader.key(key, item, (key,))
        case list():
            for index, item in enumerate(cast(list[Any], value)):
                reader.item(item, (index,))
        case _:
            reader.fault = "expected an action, a mapping or a list"
    return OpencodeRules(tuple(reader.finished()), tuple(reader.left), reader.fault)


class _Reader:
    def __init__(self, where_of: WhereOf) -> None:
        self._where = where_of
        self.rules: list[FoundRule] = []
        self.left: list[Left] = []
        self.fault: str | None = None
        self._searches: list[FoundRule] = []

    def key(self, key: str, value: Any, place: KeyPath) -> None:
        if not isinstance(value, dict):
            self._rule(key, "*", value, place)
            return
        for pattern, action in cast(dict[str, Any], value).items():
            self._rule(key, pattern, action, (*place, pattern))

    def item(self, item: Any, place: KeyPath) -> None:
        rule = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        key, pattern = rule.get("action"), rule.get("resource", "*")
        if not isinstance(key, str) or not isinstance(pattern, str):
            self.fault = "expected rules with action, resource and effect"
            return
        self._rule(key, pattern, rule.get("effect"), place)

    def _rule(self, key: str, pattern: str, action: Any, place: KeyPath) -> None:
        if action not in _ACTIONS:
            self.fault = f"{key}: expected allow, ask or deny, got {action!r}"
            return
        was, where = f"{key} {pattern}: {action}", self._where(place)
        if key in _NOTHING:
            self.left.append(Left(where, was, f"there is no tool {key!r} here"))
            return
        if key in _READERS:
            self._search(key, was, where, action)
            return
        for permission, text in self._targets(key, pattern, action):
            self.rules.append(FoundRule(permission, _pattern(text), action, where, was))
        if not self._targets(key, pattern, action):
            self.left.append(Left(where, was, "the arguments of MCP tools have no rules here"))

    def _targets(self, key: str, pattern: str, action: Action) -> list[tuple[str, str]]:
        """Return permission and pattern of each rule that a key stands for: keys are patterns, too."""
        if key in _KEYS:
            return [(_KEYS[key], pattern)]
        if "*" not in key and "?" not in key:
            return [("mcp", safe_tool(key))] if pattern == "*" else []
        known = dict.fromkeys(_KEYS[name] for name in _KEYS if fnmatchcase(name, key))
        found = [(permission, pattern) for permission in known]
        if pattern == "*":
            found.append(("mcp", key))
        if key == pattern == "*" and action != "allow":
            found.append(("sampling", "*"))
        return found

    def _search(self, key: str, was: str, where: str, action: Action) -> None:
        """``list``, ``glob``, ``grep`` are decided as reading: what holds one of them back makes reading ask."""
        if action == "allow":
            self.left.append(Left(where, was, f"{key} is decided as reading of its path: it needs no rule"))
            return
        self._searches.append(FoundRule("read", "*", "ask", where, was))
        self.left.append(Left(where, was, f"there is no rule for {key} alone: reading asks"))

    def finished(self) -> Iterator[FoundRule]:
        """Yield the rules; where a search is held back no rule may allow to read, and those that deny still do."""
        yield from self._searches[:1]
        for rule in self.rules:
            held = self._searches and rule.permission == "read" and rule.action == "allow"
            yield replace(rule, action="ask") if held else rule


def _pattern(text: str) -> str:
    text = re.sub(r"(\\+)(?=[*?])", lambda match: match[1] * 2, text)
    if text == "$HOME" or text.startswith("$HOME/"):
        return "~" + text.removeprefix("$HOME")
    return text
