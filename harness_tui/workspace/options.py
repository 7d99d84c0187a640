"""How a workspace is opened, and the names and times that hold for each of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from harness_tui.agent.answer_form import AnswerForm
from harness_tui.agent.parts import AskPolicy
from harness_tui.config.loader import Flags
from harness_tui.config.settings import McpServerSettings
from harness_tui.core.record import record

_FILE_TOOLS: Final = ("read", "write", "edit", "list", "glob", "grep", "diagnostics", "lsp", "rename", "quick_fix")
_OTHER_TOOLS: Final = (
    "bash",
    "bash_output",
    "bash_kill",
    "webfetch",
    "todo",
    "question",
    "task",
    "skill",
    "tool_search",
)
RESERVED_TOOLS: Final = frozenset({*_FILE_TOOLS, *_OTHER_TOOLS})
"""Names of built-in tools, those of later versions as well: a server's tool keeps its name when they come."""

SERVER_WAIT_S: Final = {True: 10.0, False: 3.0}
"""How long the first request waits for servers that are starting: headless, else."""


@record
class OpenOptions:
    """How to open a workspace.

    ``headless`` waits longer for servers and for a cold language server. ``policy`` is who is asked.
    ``mcp`` are servers beside the configured ones.
    ``start_servers`` starts MCP servers that have no cached manifest; without it nothing starts by itself.
    """

    flags: Flags = field(default_factory=Flags)
    policy: AskPolicy = "refuse"
    headless: bool = True
    start_servers: bool = True
    step_limit: int | None = None
    single_run: bool = False
    answer_form: AnswerForm | None = None
    mcp: Mapping[str, McpServerSettings] = field(default_factory=dict[str, McpServerSettings])
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
