"""Maps ``allowed-tools`` of a command or skill to allow rules of one run.

The list is closed: what is not named here grants nothing, and says so. A wildcard inside a name grants nothing either,
since it would widen what its author's tool took literally.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.values import Rule

_CALL: Final = late_pattern(r"([A-Za-z_]+)\((.*)\)", re.DOTALL)
_BASH: Final = late_pattern(r"([^*?]*[^*?\s:])(?::\*| \*)")
_HOST: Final = late_pattern(r"domain:([A-Za-z0-9.-]+)")
_MCP: Final = late_pattern(r"mcp__([A-Za-z0-9_-]+?)__([A-Za-z0-9_-]+)")
_WHOLE: Final = {
    "Bash": "bash",
    "Read": "read",
    "Glob": "read",
    "Grep": "read",
    "Edit": "edit",
    "Write": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Task": "task",
    "Agent": "task",
}


def grant(name: str) -> tuple[str, str] | None:
    """Return the permission and pattern that one entry of ``allowed-tools`` grants, ``None`` when it grants nothing."""
    if name in _WHOLE:
        return _WHOLE[name], "*"
    if mcp := _MCP.fullmatch(name):
        return "mcp", f"{mcp[1]}_{mcp[2]}"
    call = _CALL.fullmatch(name)
    if call is None:
        return None
    tool, inner = call[1], call[2].strip()
    if tool == "Bash" and (bash := _BASH.fullmatch(inner)):
        return "bash", f"{bash[1].strip()} *"
    if tool == "WebFetch" and (host := _HOST.fullmatch(inner)):
        return "webfetch", f"https://{host[1]}/*"
    if tool == "Skill" and inner and not set(inner) & set("*?"):
        return "skill", inner
    return None


def granted(names: Sequence[str], source: str) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the rules of ``names``, and the names that grant nothing. ``source`` is ``file:line``."""
    rules: list[Rule] = []
    useless: list[str] = []
    for name in names:
        found = grant(name)
        if found is None:
            useless.append(name)
        else:
            rules.append(Rule(*found, "allow", source))
    return tuple(rules), tuple(useless)
