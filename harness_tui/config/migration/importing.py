"""The import of another tool's settings: read, looked at as a whole, and only then written."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from harness_tui.config.agents import built_in_agents
from harness_tui.config.edit import change_file, file_digest
from harness_tui.config.loader import load
from harness_tui.config.migration.agent_text import agent_text
from harness_tui.config.migration.claude import read_claude
from harness_tui.config.migration.codex import read_codex
from harness_tui.config.migration.findings import Findings, FoundValue, Left, Level, Secret
from harness_tui.config.migration.gemini import read_gemini
from harness_tui.config.migration.levels import (
    Target,
    hold_levels_apart,
    keep_at_home,
    keep_known,
    keep_servers_apart,
    to_one_file,
)
from harness_tui.config.migration.merging import Merge, keep_valid, merge
from harness_tui.config.migration.opencode import read_opencode
from harness_tui.config.migration.reading import Scene
from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.settings import Settings
from harness_tui.config.trust import TrustStore
from harness_tui.config.yaml_source import read_yaml
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import digest, make_private_folder, read_regular, write_atomic

ForeignTool: TypeAlias = Literal["claude", "opencode", "codex", "gemini"]

TOOLS: Final[dict[ForeignTool, Callable[[Scene], list[Findings]]]] = {
    "claude": read_claude,
    "opencode": read_opencode,
    "codex": read_codex,
    "gemini": read_gemini,
}


@dataclass(slots=True)
class AgentFileChange:
    """An agent that becomes a file of ours."""

    path: Path
    text: str
    where: str
    name: str


@dataclass(slots=True)
class FileImport:
    """What becomes of one file of ours. ``diff`` is what changes in it, ``backup`` where its old text is kept,
    ``expected`` names the content that this was found for."""

    path: Path
    level: Level
    merge: Merge
    expected: str = ""
    agents: list[AgentFileChange] = field(default_factory=list[AgentFileChange])
    diff: str = ""
    backup: Path | None = None

    @property
    def changed(self) -> bool:
        """Whether anything is written."""
        return bool(self.merge.changes or self.agents)


@dataclass(slots=True)
class Report:
    """The whole import. ``keys`` are providers' keys in clear text, for a key store; never shown."""

    tool: ForeignTool
    read: list[Path]
    files: list[FileImport]
    left: list[Left]
    notes: list[Left]
    secrets: list[Secret]
    keys: dict[str, str]
    needs_trust: bool = False

    @property
    def changed(self) -> bool:
        """Whether anything is written."""
        return any(file.changed for file in self.files)


def import_settings(
    tool: ForeignTool,
    project: Project,
    places: Places,
    environ: Mapping[str, str],
    *,
    target: Target | None = None,
    store_keys: bool = False,
    write: bool = True,
) -> Report:
    """Import the settings of ``tool``; without ``write`` only say what would be done.

    What is the person's goes into their file, what is the project's into the project's, or all into ``target``.
    With ``store_keys`` keys of providers in clear text are left to the caller, who keeps them.
    Raises ``UsageError`` for a broken file of the tool, ``HarnessError`` for one of ours that cannot be edited;
    nothing is written then. Reads and writes files: call it in a thread.
    """
    home = places.home or Path.home()
    scene = Scene(home, project.root, places.config.parent, environ)
    found = TOOLS[tool](scene)
    hold_levels_apart(found)
    settings = _settings(project, places, environ)
    servers = {keys[1] for findings in found for keys in findings.values if keys[0] == "mcp"}
    keep_servers_apart(found, servers | set(settings.mcp))
    keep_known(found, set(settings.agents), set(settings.providers))
    if target is not None:
        found = to_one_file(found, target)
    keep_at_home(found)
    if store_keys:
        for findings in found:
            _without_keys(findings)
    files = [_file_import(findings, project, places) for findings in found]
    for file in files:  # all of them are looked at before the first is written
        _look(file, places)
    granted = TrustStore(places).status(project).granted
    if write:
        for file in files:
            _write(file, project if granted else None, places)
    return Report(
        tool,
        [path for findings in found for path in findings.read],
        files,
        [left for findings in found for left in findings.left],
        [note for findings in found for note in findings.notes],
        [secret for findings in found for secret in findings.secrets],
        {name: key for findings in found for name, key in findings.keys.items()},
        needs_trust=not granted and any(file.changed and file.level != "user" for file in files),
    )


def _without_keys(findings: Findings) -> None:
    for name in findings.keys:
        found = findings.values["providers", name]
        entry = {key: value for key, value in found.value.items() if key != "api_key"}
        findings.secrets = [item for item in findings.secrets if item.what != f"{name}: its key"]
        if entry:
            findings.values["providers", name] = FoundValue(entry, found.where)
        else:
            del findings.values["providers", name]


def _settings(project: Project, places: Places, environ: Mapping[str, str]) -> Settings:
    """Return what is configured in files: a variable or a flag of this process names nothing that lasts."""
    quiet = {key: value for key, value in environ.items() if key not in ("HARNESS_AGENT", "HARNESS_MODEL")}
    return load(project, places, environ=quiet).settings


def _file_import(findings: Findings, project: Project, places: Places) -> FileImport:
    own = project.root / ".harness"
    path = {
        "user": places.config_file,
        "project": own / "config.yaml",
        "local": own / "config.local.yaml",
    }[findings.level]
    expected = file_digest(path)
    values: Any = read_yaml(path).values if path.exists() else {}
    keep_valid(findings)
    file = FileImport(path, findings.level, merge(values, findings), expected)
    configured: Any = values.get("agents") if isinstance(values, dict) else None
    folder = (places.config if findings.level == "user" else own) / "agents"
    latest = {agent.name: agent for agent in findings.agents}
    for agent in latest.values():
        where, what = f"{agent.path}:1", f"agent {agent.name}"
        if agent.name in built_in_agents() and agent.path.suffix == ".md":
            findings.leave(where, what, "it is the name of an agent of Harness itself")
            continue
        try:
            text = agent_text(agent)
        except ValueError as error:
            findings.leave(where, what, str(error))
            continue
        target = folder / f"{agent.name}.md"
        if isinstance(configured, dict) and agent.name in configured:
            file.merge.conflicts.append(Left(where, what, f"{path} has an agent of this name already: that stays"))
            continue
        old = _old_text(target)
        if old == text:
            file.merge.same += 1
        elif old is not None:
            file.merge.conflicts.append(Left(where, what, f"{target} is there already: that stays"))
        else:
            file.agents.append(AgentFileChange(target, text, where, agent.name))
            file.merge.taken.append(Left(where, what, str(target)))
    return file


def _old_text(path: Path) -> str | None:
    if not path.exists():
        return None
    return read_regular(path, max_bytes=TEMPLATE_BYTES).decode("utf-8", "replace")


def _look(file: FileImport, places: Places) -> None:
    """Fill in what would change. Raises ``HarnessError`` where it cannot."""
    if file.merge.changes:
        result = change_file(file.path, file.merge.changes, places=places, write=False)
        file.diff = _diff(file.path, (result.before or b"").decode("utf-8-sig"), result.after.decode("utf-8-sig"))
        if result.before is not None:
            stamp = time.strftime("%Y%m%d-%H%M%S")
            name = f"{digest(str(file.path).encode())[:8]}-{stamp}-{file.path.name}"
            file.backup = places.state / "backups" / name
    for agent in file.agents:
        file.diff += _diff(agent.path, "", agent.text)


def _diff(path: Path, before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _write(file: FileImport, trusted: Project | None, places: Places) -> None:
    project = trusted if file.level != "user" else None
    if file.merge.changes:
        change_file(
            file.path,
            file.merge.changes,
            places=places,
            project=project,
            expected=file.expected,
            backup=file.backup,
        )
    was_trusted = project is not None and TrustStore(places).status(project).trusted
    for agent in file.agents:
        try:
            if file.level == "user":
                make_private_folder(agent.path.parent)
            else:
                agent.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(agent.path, agent.text.encode())
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            raise HarnessError(message, where=str(agent.path), code="unwritable") from error
        if project is not None and was_trusted:
            TrustStore(places).update(project, agent.path)
