"""The tools of other agents under our names: what a list of tools in an agent file, or a rule, is about."""

from __future__ import annotations

import re
from typing import Final

CLAUDE: Final[dict[str, tuple[str, ...]]] = {
    "Bash": ("bash", "bash_output", "bash_kill"),
    "BashOutput": ("bash_output",),
    "KillShell": ("bash_kill",),
    "KillBash": ("bash_kill",),
    "TaskOutput": ("bash_output",),
    "TaskStop": ("bash_kill",),
    "Read": ("read",),
    "LS": ("list",),
    "Glob": ("glob", "list"),
    "Grep": ("grep",),
    "Edit": ("edit",),
    "MultiEdit": ("edit",),
    "Write": ("write",),
    "WebFetch": ("webfetch",),
    "Task": ("task",),
    "Agent": ("task",),
    "Skill": ("skill",),
    "TodoWrite": ("todo",),
    "TodoRead": ("todo",),
    "TaskCreate": ("todo",),
    "TaskUpdate": ("todo",),
    "TaskList": ("todo",),
    "TaskGet": ("todo",),
    "AskUserQuestion": ("question",),
    "LSP": ("lsp", "diagnostics"),
}
"""Names of Claude Code. ``Glob`` also lists, since its agents look into folders with it."""

CLAUDE_WITHOUT_EQUAL: Final = frozenset(
    {
        "CronCreate",
        "CronDelete",
        "CronList",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "ListMcpResourcesTool",
        "Monitor",
        "NotebookEdit",
        "NotebookRead",
        "ReadMcpResourceTool",
        "SendMessage",
        "SlashCommand",
        "ToolSearch",
        "WebSearch",
    }
)
"""Tools of Claude Code that there are none for here: to be without them takes nothing away."""

OPENCODE: Final[dict[str, tuple[str, ...]]] = {
    "read": ("read",),
    "write": ("write",),
    "edit": ("edit",),
    "patch": ("edit",),
    "apply_patch": ("edit",),
    "multiedit": ("edit",),
    "list": ("list",),
    "glob": ("glob",),
    "grep": ("grep",),
    "bash": ("bash", "bash_output", "bash_kill"),
    "webfetch": ("webfetch",),
    "todowrite": ("todo",),
    "todoread": ("todo",),
    "task": ("task",),
    "skill": ("skill",),
    "question": ("question",),
    "lsp": ("lsp", "diagnostics"),
}
"""Names of opencode."""

GEMINI: Final[dict[str, tuple[str, ...]]] = {
    "read_file": ("read",),
    "read_many_files": ("read",),
    "list_directory": ("list",),
    "glob": ("glob",),
    "search_file_content": ("grep",),
    "grep_search": ("grep",),
    "write_file": ("write",),
    "replace": ("edit",),
    "run_shell_command": ("bash", "bash_output", "bash_kill"),
    "web_fetch": ("webfetch",),
    "write_todos": ("todo",),
    "ask_user": ("question",),
    "activate_skill": ("skill",),
}
"""Names of Gemini CLI."""

GEMINI_CLASSES: Final = {
    "ReadFileTool": "read_file",
    "ReadManyFilesTool": "read_many_files",
    "LSTool": "list_directory",
    "GlobTool": "glob",
    "GrepTool": "search_file_content",
    "RipGrepTool": "search_file_content",
    "WriteFileTool": "write_file",
    "EditTool": "replace",
    "ShellTool": "run_shell_command",
    "WebFetchTool": "web_fetch",
    "WebSearchTool": "google_web_search",
    "MemoryTool": "save_memory",
}
"""The other names that Gemini CLI takes for its tools."""

HOSTED: Final = ("anthropic", "openai", "google", "openrouter", "groq", "mistral", "deepseek", "xai")
"""Model providers that are known by their name alone, here as in other tools."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARS: Final = 64


def mcp_pattern(name: str) -> str | None:
    """Return the pattern of our tool names for ``mcp__server``, ``mcp__server__tool``; ``None`` for another name."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if not server:
        return None
    pattern = f"{safe_tool(server)}_{safe_tool(tool) or '*'}"
    return pattern if len(pattern) <= _NAME_CHARS else None


def safe_tool(name: str) -> str:
    """Return ``name`` as tool names hold it; ``*`` stays."""
    return _UNSAFE.sub(lambda match: "*" if match.group() == "*" else "_", name)


def entry_name(name: str) -> str:
    """Return ``name`` as a server, provider or agent can be called here: letters, digits, ``_ . -``, at most 64."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:_NAME_CHARS]
