"""The folders in which commands, skills and agents are looked for: ours, and those of other tools.

One table for the loaders, for trust and for the documentation, so that none of them names a folder that another one
does not know.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final, Literal, TypeAlias

from harness_tui.core.record import record

FolderKind: TypeAlias = Literal["commands", "skills", "agents"]
Tool: TypeAlias = Literal["harness", "claude", "opencode", "agents", "cursor", "gemini", "codex"]
"""Whose folder it is; ``agents`` is ``.agents``, which several tools share."""


@record
class Folder:
    """One folder. ``path`` is relative to a project folder; a person's begins with ``~/``, else it is relative to the
    configuration folder. ``usual`` is the spelling that is meant where this one is read with a hint only.
    """

    kind: FolderKind
    tool: Tool
    path: str
    usual: str | None = None

    @property
    def suffix(self) -> str:
        """How the names of its commands and agents end."""
        return ".toml" if self.tool == "gemini" and self.kind == "commands" else ".md"


_PROJECT: Final[dict[FolderKind, tuple[tuple[Tool, str], ...]]] = {
    "commands": (
        ("codex", ".codex/prompts"),
        ("gemini", ".gemini/commands"),
        ("cursor", ".cursor/commands"),
        ("claude", ".claude/commands"),
        ("opencode", ".opencode/command"),
        ("opencode", ".opencode/commands"),
        ("harness", ".harness/commands"),
    ),
    "skills": (
        ("codex", ".codex/skills"),
        ("gemini", ".gemini/skills"),
        ("cursor", ".cursor/skills"),
        ("claude", ".claude/skills"),
        ("opencode", ".opencode/skill"),
        ("opencode", ".opencode/skills"),
        ("agents", ".agents/skills"),
        ("harness", ".harness/skills"),
    ),
    "agents": (
        ("claude", ".claude/agents"),
        ("opencode", ".opencode/agent"),
        ("opencode", ".opencode/agents"),
        ("harness", ".harness/agents"),
    ),
}
"""In rising order."""

_TOOLS: Final[dict[str, Tool]] = {tool: tool for places in _PROJECT.values() for tool, _ in places}

SERVER_FILES: Final = (
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
)
"""Files of other tools with a project's MCP servers, relative to its root. Of two entries with one name the earlier
file's counts."""

_BOTH_SPELLINGS: Final = ("opencode",)
"""Whose singular is as usual as the plural."""


def project_folders(kind: FolderKind) -> tuple[Folder, ...]:
    """Return the folders of ``kind`` in a project folder, in rising order."""
    return tuple(folder for tool, path in _PROJECT[kind] for folder in _spellings(kind, tool, path))


def user_folders(kind: FolderKind) -> tuple[Folder, ...]:
    """Return the person's own folders of ``kind``, in rising order."""
    return tuple(folder for tool, path in _PROJECT[kind] for folder in _spellings(kind, tool, _of_user(tool, path)))


def tool_of(path: PurePath) -> Tool:
    """Return whose folder a file lies in: the last folder of its path that the table knows decides."""
    for part in reversed(path.parts):
        if part.removeprefix(".") in _TOOLS and (part.startswith(".") or part == "opencode"):
            return _TOOLS[part.removeprefix(".")]
    return "harness"


def _of_user(tool: Tool, path: str) -> str:
    return path.removeprefix(".") if tool in ("harness", "opencode") else f"~/{path}"


def _spellings(kind: FolderKind, tool: Tool, path: str) -> tuple[Folder, ...]:
    usual = Folder(kind, tool, path)
    if tool in _BOTH_SPELLINGS:
        return (usual,)
    return Folder(kind, tool, path.removesuffix("s"), usual=path), usual
