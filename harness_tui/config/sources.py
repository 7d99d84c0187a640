"""Which files are read for a project: configuration by layer, and everything that trust covers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

from harness_tui.config.folders import SERVER_FILES, Folder, Tool, project_folders, user_folders
from harness_tui.config.places import Places
from harness_tui.config.project import Project, folders_of
from harness_tui.core.record import record

Layer: TypeAlias = Literal["user", "servers", "project", "local", "file"]
Kind: TypeAlias = Literal["config", "servers", "agent", "claude-agent", "opencode-agent", "command", "skill", "toml"]

FOREIGN_AGENTS: Final = ("claude-agent", "opencode-agent")
"""Kinds of agent files of other tools, which come before all files of ours."""

PROJECT_LAYERS: Final = ("servers", "project", "local")
_AGENT_FOLDERS: Final = ("agents", "agent")
AGENT_FILES: Final = 200
"""How many agent files of one folder of another tool are read."""
MAX_COVERED: Final = 5_000
_MAX_DEPTH: Final = 6
_SKIPPED: Final = ("node_modules", ".git")


@record
class SourceFile:
    """One file and how it is read; it need not exist. A folder may hold thousands, so the path is plain text."""

    file: str
    kind: Kind
    layer: Layer

    @property
    def path(self) -> Path:
        """The file; absolute, links as they were followed."""
        return Path(self.file)

    @property
    def of_project(self) -> bool:
        """Whether it belongs to the project, and so needs trust."""
        return self.layer in PROJECT_LAYERS


def config_files(project: Project, places: Places, extra: Path | None = None) -> list[SourceFile]:
    """Return the configuration files in rising precedence; agent files come before the ``config.yaml`` beside them."""
    own = project.root / ".harness"
    files = [
        *_foreign_agents(project, places),
        *_agent_files(places.config, "user"),
        SourceFile(str(places.config_file), "config", "user"),
        *(SourceFile(str(project.root / name), "servers", "servers") for name in SERVER_FILES),
        *_agent_files(own, "project"),
        SourceFile(str(own / "config.yaml"), "config", "project"),
        SourceFile(str(own / "config.local.yaml"), "config", "local"),
    ]
    return [*files, SourceFile(str(extra), "config", "file")] if extra else files


def covered_files(project: Project, home: Path | None = None) -> Iterator[SourceFile]:
    """Return the command and skill files of the project that need trust, from the root down to the start folder.

    In the home folder other tools' folders are the person's own and need none.
    """
    home = (home or Path.home()).resolve()
    folders = folders_of(project)
    kinds: tuple[tuple[tuple[Folder, ...], Kind], ...] = (
        (project_folders("commands"), "command"),
        (project_folders("skills"), "skill"),
    )
    for folder in folders:
        for known, kind in kinds:
            for place in known:
                if folder == home and place.tool != "harness":
                    continue
                for path in _walk(str(folder / place.path), kind == "skill"):
                    yield SourceFile(path, "toml" if path.endswith(".toml") else kind, "project")


def _foreign_agents(project: Project, places: Places) -> Iterator[SourceFile]:
    """Yield the agent files of other tools in rising order: the person's, then the project's down to the start."""
    home = None if places.home is None else places.home.resolve()
    for folder in user_folders("agents"):
        if folder.tool == "harness" or home is None:
            continue
        base = home / folder.path[2:] if folder.path.startswith("~/") else places.config.parent / folder.path
        yield from _agents_below(base, folder.tool, "user")
    for above in folders_of(project):
        for folder in project_folders("agents"):
            if folder.tool != "harness" and above != home:
                yield from _agents_below(above / folder.path, folder.tool, "project")


def _agents_below(folder: Path, tool: Tool, layer: Layer) -> Iterator[SourceFile]:
    kind: Kind = "claude-agent" if tool == "claude" else "opencode-agent"
    for count, path in enumerate(_walk(str(folder), False)):
        name = os.path.basename(path)  # noqa: PTH119 (plain text)
        if count >= AGENT_FILES:
            return
        if path.endswith(".md") and name[0] not in "._" and name.lower() != "readme.md":
            yield SourceFile(path, kind, layer)


def _agent_files(folder: Path, layer: Layer) -> Iterator[SourceFile]:
    for name in _AGENT_FOLDERS:
        try:
            entries = sorted(path.name for path in (folder / name).iterdir())
        except OSError:  # no such folder, or one that may not be read: no agents in it
            continue
        for entry in entries:
            if entry.endswith(".md") and entry[0] not in "._" and entry != "README.md":
                yield SourceFile(str(folder / name / entry), "agent", layer)


def _walk(root: str, skills: bool) -> Iterator[str]:
    """Walk one root in the order in which commands and skills are found: all that is its own, then links, each folder
    once. What is used goes by the same path as what was trusted."""
    seen: set[tuple[int, int]] = set()
    links = [(root, 0)]
    while links:
        yield from _walk_own(*links.pop(0), skills, seen, links)


def _walk_own(
    folder: str, depth: int, skills: bool, seen: set[tuple[int, int]], links: list[tuple[str, int]]
) -> Iterator[str]:
    """Walk a folder without the links to folders in it, which are added to ``links``."""
    if depth > _MAX_DEPTH:
        return
    try:
        status = os.stat(folder)  # noqa: PTH116 (plain text: there may be thousands)
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:  # missing or unreadable: nothing of it can be loaded either
        return
    seen.add(identity)
    for entry in entries:
        try:
            is_folder = entry.is_dir()
        except OSError:
            continue
        if is_folder and entry.name in _SKIPPED:
            continue
        if is_folder and entry.is_symlink():
            links.append((entry.path, depth + 1))
        elif is_folder:
            yield from _walk_own(entry.path, depth + 1, skills, seen, links)
        elif entry.name.lower() == "skill.md" if skills else entry.name.lower().endswith((".md", ".toml")):
            yield entry.path
