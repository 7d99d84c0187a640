"""The validated content of one file, as the cache keeps it: JSON data and nothing that would need pydantic."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias, cast

from harness_tui.config.problems import Level, Problem
from harness_tui.core.record import record

Dialect: TypeAlias = Literal["harness", "mcp-json", "plain"]
"""How placeholders are written in a file; ``plain`` text (flags, environment) has none."""
Keys: TypeAlias = tuple[str, ...]


@record
class RuleEntry:
    """One permission rule of a file."""

    permission: str
    pattern: str
    action: Literal["allow", "ask", "deny"]
    line: int


@record
class Fragment:
    """What one file says, entries that are wrong taken out and explained.

    ``values`` holds the sections; ``rules`` the permission list apart. ``lines`` has the line of each key. ``errors``
    says of an entry such as ``("mcp", "time")`` why it cannot be used. With ``broken`` only
    ``rules`` that restrict count.
    """

    path: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    rules: tuple[RuleEntry, ...] = ()
    lines: dict[Keys, int] = field(default_factory=dict[Keys, int])
    problems: tuple[Problem, ...] = ()
    errors: dict[Keys, str] = field(default_factory=dict[Keys, str])
    broken: bool = False
    dialect: Dialect = "harness"

    def where(self, keys: Keys = ()) -> str:
        """Return ``file:line`` of ``keys`` or of the nearest key above it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return f"{self.path}:{self.lines.get(keys, 1)}"

    def to_json(self) -> dict[str, Any]:
        """Return this fragment as JSON data."""
        return {
            "path": self.path,
            "values": self.values,
            "rules": [[rule.permission, rule.pattern, rule.action, rule.line] for rule in self.rules],
            "lines": [[list(keys), line] for keys, line in self.lines.items()],
            "problems": [problem.to_json() for problem in self.problems],
            "errors": [[list(keys), reason] for keys, reason in self.errors.items()],
            "broken": self.broken,
            "dialect": self.dialect,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Fragment:
        """Build a fragment from :meth:`to_json`. Raises ``KeyError``, ``TypeError`` or ``ValueError`` when damaged."""
        return cls(
            path=str(data["path"]),
            values=dict(data["values"]),
            rules=tuple(
                RuleEntry(str(key), str(pattern), action, int(line)) for key, pattern, action, line in data["rules"]
            ),
            lines={_keys(keys): int(line) for keys, line in data["lines"]},
            problems=tuple(_problem(item) for item in data["problems"]),
            errors={_keys(keys): str(reason) for keys, reason in data["errors"]},
            broken=bool(data["broken"]),
            dialect=cast(Dialect, data["dialect"]),
        )


def _keys(data: list[Any]) -> Keys:
    return tuple(str(key) for key in data)


def _problem(data: dict[str, Any]) -> Problem:
    return Problem(data["where"], data["code"], data["message"], data["mend"], cast(Level, data["level"]))
