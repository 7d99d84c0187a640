"""The permission rules that every installation starts with, in one table that tests and help can read.

They are the layer ``bundled``: user, project, agent and mode rules come after them.
"""

from __future__ import annotations

from typing import Final

from harness_tui.core.values import Action, Rule

SECRET_FILES: Final = (".env", ".env.*", "*.pem", "*.key", "id_*", "*credentials*")
"""Names of files that are not read without asking; a pattern without ``/`` also matches the last component alone."""

_DEFAULTS: Final[tuple[tuple[str, Action], ...]] = (
    ("edit", "ask"),
    ("bash", "ask"),
    ("webfetch", "ask"),
    ("skill", "allow"),
    ("task", "allow"),
    ("question", "allow"),
    ("mcp", "ask"),
    ("sampling", "ask"),
    ("external_directory", "ask"),
    ("doom_loop", "ask"),
)

BUNDLED_RULES: Final[tuple[Rule, ...]] = (
    Rule("read", "*", "allow", "bundled"),
    *(Rule("read", pattern, "ask", "bundled") for pattern in SECRET_FILES),
    *(Rule(permission, "*", action, "bundled") for permission, action in _DEFAULTS),
)
"""The whole list, in order: the last matching rule of a layer is the layer's result."""

PERMISSIONS: Final[tuple[str, ...]] = ("read", *(permission for permission, _ in _DEFAULTS))
"""Every permission key that ``*`` stands for."""

NAMED_ALONE: Final[tuple[str, ...]] = ("remote_skill", "skill_code")
"""Keys that a rule may name, and ``*`` does not mean: loading a skill of an MCP server, and running code on its word.

No rule decides them, so they ask. What denies ``skill`` or ``bash`` denies them too: they never stand alone.
"""
