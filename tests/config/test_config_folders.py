"""One table of folders: what the documentation names is what is read."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from harness_tui.config.folders import FolderKind, project_folders, tool_of, user_folders

KINDS: tuple[FolderKind, ...] = ("commands", "skills", "agents")
NAMES = {"Harness": "harness", "several": "agents", "Claude Code": "claude", "Gemini CLI": "gemini"}
ROW = re.compile(r"\| (commands|skills|agents) \| `([^`]+)` \| `([^`]+)` \| ([^|]+) \|")


def test_the_documentation_names_every_folder_in_its_order() -> None:
    text = (Path(__file__).parents[2] / "docs/moving-in.md").read_text()
    documented = [(kind, here, own, NAMES.get(tool, tool.lower())) for kind, here, own, tool in ROW.findall(text)]
    usual = [
        (kind, here.path, own.path if own.path.startswith("~/") else f"~/.config/{own.path}", here.tool)
        for kind in KINDS
        for here, own in zip(project_folders(kind), user_folders(kind), strict=True)
        if here.usual is None
    ]
    assert documented == usual
    assert len(usual) == 19


def test_a_singular_spelling_stands_right_below_the_usual_one() -> None:
    for kind in KINDS:
        folders = project_folders(kind)
        for below, folder in pairwise(folders):
            if below.usual is not None:
                assert (below.usual, f"{below.path}s") == (folder.path, folder.path)


def test_the_tool_of_a_path_is_told_by_its_nearest_folder() -> None:
    assert tool_of(Path("/h/.claude/skills/a/SKILL.md")) == "claude"
    assert tool_of(Path("/h/.claude/x/.opencode/skills/a/SKILL.md")) == "opencode"
    assert tool_of(Path("/h/.config/opencode/skills/a/SKILL.md")) == "opencode"
    assert tool_of(Path("/h/.config/harness/skills/a/SKILL.md")) == "harness"
