"""Folders of agent files of other tools, for an import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from harness_tui.config.migration.agent_files import Maker, read_agent_file
from harness_tui.config.migration.findings import Findings

_FILES: Final = 200
_DEPTH: Final = 5


def take_agents(folder: Path, maker: Maker, findings: Findings) -> None:
    """Put the agents of ``folder`` and the folders below it among ``findings``."""
    for path in _files(folder):
        agent = read_agent_file(path, maker, keep_allows=True)
        if agent is None or agent.disabled:
            continue
        findings.read.append(path)
        what = f"agent {agent.name}"
        if agent.error is not None:
            findings.leave(f"{path}:1", what, agent.error)
            continue
        for problem in agent.problems:
            findings.leave(problem.where, what, problem.message)
        findings.agents.append(agent)


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for base, folders, names in os.walk(folder):
        depth = len(Path(base).relative_to(folder).parts)
        folders[:] = [] if depth == _DEPTH else sorted(name for name in folders if not name.startswith((".", "_")))
        found += [
            Path(base, name)
            for name in sorted(names)
            if name.endswith(".md") and name[0] not in "._" and name.lower() != "readme.md"
        ]
        if len(found) >= _FILES:
            break
    return found[:_FILES]
